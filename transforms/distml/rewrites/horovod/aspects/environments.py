"""Programs that learn by playing: how many steps they take is up to an environment, and differs between ranks."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.plan import Refuse
from distml.source.nodes import walk
from distml.training.callers import upwards
from distml.training.callsites import called
from distml.training.program import Program
from distml.training.remembered import remembered
from distml.training.unit import Unit

_LIBRARIES = frozenset(
    "gym gymnasium pettingzoo dm_control stable_baselines3 vizdoom ale_py retro vrep pybullet_envs gym_unity".split()
)
_RESULTS = (4, 5)
"""What a step in an environment gives: observation, reward, whether the episode ended (or was cut off), information."""


def refuse(node: ast.expr, program: Program) -> None:
    """Raises `Refuse` (HVD214) where the file of a training step, or one from which it is called, plays in an environment."""
    if any(_plays(unit, program) for unit in {program.unit(each) for each in upwards([node], program, direct=True)}):
        raise Refuse(
            "HVD214",
            node,
            "an environment decides the number of steps: ranks whose episodes end earlier leave the others waiting",
            "collect experience on all ranks first, then take the same number of steps on each",
        )


@remembered
def _plays(unit: Unit, program: Program) -> bool:
    """Whether a file imports environments, or takes steps in one."""
    for node in walk(unit.tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if _is_step(node, program) or any(name.partition(".")[0] in _LIBRARIES for name in names):
            return True
    return False


def _is_step(node: ast.AST, program: Program) -> bool:
    """Whether a statement takes apart what `step(action)` gives of something: the interface of environments."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or not node.value.args:
        return False
    target = node.targets[0]
    several = isinstance(target, ast.Tuple) and len(target.elts) in _RESULTS
    return several and isinstance(node.value.func, ast.Attribute) and called(node.value, program) == "step"
