"""Programs that learn by playing: how many steps they take is up to an environment, and differs between ranks."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.plan import Refuse
from distml.training.program import Program

_LIBRARIES = frozenset(
    "gym gymnasium pettingzoo dm_control stable_baselines3 vizdoom ale_py retro vrep pybullet_envs gym_unity".split()
)
_PLAYS = re.compile(r"(\w+\.)*_?envs?\.step")


def refuse(node: ast.expr, program: Program) -> None:
    """Raises `Refuse` (HVD214) where the file of a training step plays in an environment."""
    for statement in ast.walk(program.unit(node).tree):
        plays = isinstance(statement, ast.Call) and bool(_PLAYS.fullmatch(ast.unparse(statement.func)))
        names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
        if isinstance(statement, ast.ImportFrom) and not statement.level:
            names = [statement.module or ""]
        if plays or any(name.partition(".")[0] in _LIBRARIES for name in names):
            raise Refuse(
                "HVD214",
                node,
                "how many steps are taken is up to an environment: ranks whose episodes end earlier leave the others waiting",
                "let all ranks gather experience first, and take equally many steps on it then",
            )
