"""Pictures, sounds and commands that a program writes and runs while it trains, in whatever module they stand: by rank 0.

Scripts leave that to a module of helpers, in which nothing else changes. A command may write files, or read what rank 0
has written. What is written before the training begins is
left alone: that may be data, which all ranks go on to read.
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.anchors import started
from distml.rewrites.horovod.aspects.during import during_training
from distml.rewrites.horovod.aspects.idle import runs
from distml.rewrites.horovod.aspects.outputs import guard, guarded, private
from distml.rewrites.horovod.aspects.purity import reads_only
from distml.rewrites.horovod.notes import WRITTEN
from distml.rewrites.horovod.plan import Plan
from distml.training.syntax import values_given

_WRITES = re.compile(
    r"scipy\.misc\.(imsave|toimage\(\)\.save)|matplotlib\.(pyplot|pylab|image)\.(savefig|imsave)|cv2\.imwrite"
    r"|imageio(\.v2|\.v3)?\.(imwrite|imsave|mimsave|mimwrite)|skimage\.io\.imsave|torchvision\.utils\.save_image"
    r"|keras\.(preprocessing\.image|utils)\.(save_img|array_to_img\(\)\.save)|PIL\.Image\.(open|fromarray|new)\(\)(\.\w+\(\))*\.save"
    r"|matplotlib\.backends\.\w+\.\w+\(\)\.print_\w+|scipy\.io\.wavfile\.write|librosa\.output\.write_wav|soundfile\.write"
    r"|os\.system|subprocess\.(run|call|check_call|Popen)"
)


def by_rank_zero(plan: Plan) -> None:
    """Put such calls under rank 0, where they are made during the training and nothing is done with what they give."""
    program = plan.program
    for call in program.calls:
        if program.matches(call.func, _WRITES) and _moves(call, plan):
            statement = program.statement(call)
            if isinstance(statement, ast.Expr) and statement.value is call:
                guard(plan, statement, "file")
            elif isinstance(statement, ast.Return) and statement.value is call:
                plan.patch(call).wrap(call, f"{{}} if {plan.world(call).first} else None", WRITTEN)


def _moves(call: ast.Call, plan: Plan) -> bool:
    """Whether the other ranks can leave a call out, and nobody has seen to that."""
    program, statement = plan.program, plan.program.statement(call)
    known = plan.may_change(call)
    if not known or not runs(call, program) or guarded(statement, plan) or private(call, program):
        return False
    given = values_given(call)
    pure = all(reads_only(part, program) for part in given)
    return pure and started(plan, call) and during_training(call, plan)
