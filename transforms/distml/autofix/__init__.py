"""Pull requests with fixes: what can be mended is computed, put on a branch of its own, and explained.

`compute` makes a `proposal` from a commit and needs no token; `publish` brings a branch and its pull request to where
they should be and runs no code of the repository. `branch` and `git` do the work on commits, without a working tree.
"""
