"""How ranks give each other numbers and containers beside a graph of TensorFlow 1, which stays as it is."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects import together
from distml.rewrites.horovod.aspects.setup import helper
from distml.rewrites.horovod.aspects.spelling import horovod_of, module_of

_GATHER = '''

def {name}(value):
    """What each rank has. It is gathered in a graph of its own, so that the program's graph stays as it is."""
    with {tf}.Graph().as_default(), {tf}.Session(config={tf}.ConfigProto(device_count={{"GPU": 0}})):
        return {hvd}.allgather_object(value)
'''


class Spelling(together.Spelling):
    """The functions that each file needs, without operations in the program's own graph."""

    def gathering(self, node: ast.AST) -> str:
        """The function that gives a list with what each rank has."""
        tf = module_of(node, self.plan.program)  # type: ignore[arg-type]
        return helper(self.plan, node, "parts_of_ranks", _GATHER, tf=tf, hvd=horovod_of(self.plan, node))
