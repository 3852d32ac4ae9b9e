"""The language server: findings and shapes in an editor. Needs pygls, which only `distml server` imports."""
