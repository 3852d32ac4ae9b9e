"""Programs that learn by playing: how many steps they take is up to an environment, and differs between ranks."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.plan import Refuse
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.unit import Unit

_LIBRARIES = frozenset(
    "gym gymnasium pettingzoo dm_control stable_baselines3 vizdoom ale_py retro vrep pybullet_envs gym_unity".split()
)
_PLAYS = re.compile(r"(\w+\.)*_?envs?\.step")


def refuse(node: ast.expr, program: Program) -> None:
    """Raises `Refuse` (HVD214) where the file of a training step plays in an environment."""
    if _plays(program.unit(node)):
        raise Refuse(
            "HVD214",
            node,
            "how many steps are taken is up to an environment: ranks whose episodes end earlier leave the others waiting",
            "let all ranks gather experience first, and take equally many steps on it then",
        )


@remembered
def _plays(unit: Unit) -> bool:
    """Whether a file imports environments, or takes steps in one."""
    for node in ast.walk(unit.tree):
        plays = isinstance(node, ast.Call) and bool(_PLAYS.fullmatch(ast.unparse(node.func)))
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if plays or any(name.partition(".")[0] in _LIBRARIES for name in names):
            return True
    return False
