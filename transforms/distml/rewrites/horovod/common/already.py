"""Programs that are distributed already, or leave training to something that distributes it itself."""

from __future__ import annotations

from distml.rewrites.horovod.options import Options
from distml.rewrites.horovod.plan import Remark
from distml.training.program import Program


def distributed(program: Program, options: Options) -> list[Remark]:
    """Why nothing is to be changed, if so."""
    return []
