"""Folders that a run names by its time, a random number, or by which folders are there: every rank would name another one."""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.anchors import started
from distml.rewrites.horovod.aspects.destinations import logged, opened, recorded
from distml.rewrites.horovod.aspects.drawing import is_of_process
from distml.rewrites.horovod.flows.pytorch.spelling import Spelling
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.rewrites.horovod.plan import Note, Plan
from distml.training.callsites import argument, called
from distml.training.syntax import method_name, nodes_in, place_of, receiver_of

_MADE = frozenset({"os.makedirs", "os.mkdir", "pathlib.Path().mkdir", "torch.load"})
"""What all ranks do with a path."""
_TEXTS = frozenset("strftime isoformat replace date time timestamp strip".split())
_LISTS = frozenset({"os.listdir", "glob.glob"})
"""What finds other files when another rank has made its folder."""
_THERE = re.compile(r"os\.path\.(exists|lexists|isdir|isfile)|pathlib\.\w*Path\(\)\.(exists|is_dir|is_file)")
_NOTE = Note(
    "named by rank 0 for all ranks",
    "each rank would name a folder by a time of its own, or by the folders that others have made meanwhile",
    "folder-race",
)


class Folders:
    """Asks for one name on all ranks."""

    def __init__(self, study: Study, plan: Plan, spelling: Spelling) -> None:
        self.study, self.plan, self.spelling, self.program = study, plan, spelling, study.program

    def agree(self) -> None:
        """What is the time of each process in a path that all ranks use becomes that of rank 0."""
        named: dict[ast.Call, None] = {}
        for call in self.program.calls:
            names = self.program.names(call.func)
            if names & _MADE and self._may_change(call):
                path = receiver_of(call) if method_name(call) == "mkdir" else None
                path = path if "pathlib.Path().mkdir" in names else argument(call, 0, "name", "path", "f")
                sources = self.program.sources(path) if path is not None else ()
                made = "torch.load" not in names
                own = [each for each in sources if isinstance(each, ast.Call) and self._differs(each, made)]
                named |= dict.fromkeys(map(self._whole, sorted(own, key=place_of)))
        for each in named:
            shared = self._may_change(each) and not self._is_for_one(each)
            if shared and started(self.plan, each) and not self.study.training.holds(each):
                self.plan.patch(each).wrap(each, self.spelling.first(each, "{}"), _NOTE)

        for loop in self.program.nodes(ast.While):
            if any(self.program.matches(each.func, _THERE) for each in nodes_in(loop.test, ast.Call)):
                self._looked_for(loop)

    def _differs(self, call: ast.Call, made: bool = True) -> bool:
        """Whether each rank finds another value; what is in a folder, where another is to be `made` there."""
        return is_of_process(call, self.program) or (made and bool(self.program.names(call.func) & _LISTS))

    def _looked_for(self, loop: ast.While) -> None:
        """Agree on what a loop has found that looks for the first name which is free."""
        names = {each.id for each in nodes_in(loop, ast.Name) if isinstance(each.ctx, ast.Store)}
        behind = self.plan.may_change(loop) and loop not in self.program.idle and started(self.plan, loop)
        if behind and names and not self.study.training.holds(loop) and self.study.before.holds(loop):
            for name in sorted(names):
                self.plan.patch(loop).after(loop, f"{name} = {self.spelling.first(loop, name)}", _NOTE)

    def _may_change(self, call: ast.Call) -> bool:
        return self.plan.may_change(call) and call not in self.program.idle

    def _is_for_one(self, named: ast.Call) -> bool:
        """Whether a time is part of what a call opens that rank 0 alone makes: the others need no name for it."""
        calls = [each for each in self.program.ancestors(named) if isinstance(each, ast.Call)]
        return any(ask(each, self.program) is not None for each in calls for ask in (opened, logged, recorded))

    def _whole(self, call: ast.Call) -> ast.Call:
        """A call with the methods that make a text of what it gives, or the call that it is given to for that."""
        above = self.program.parent(call)
        if isinstance(above, ast.Attribute) and above.attr in _TEXTS:
            outer = self.program.parent(above)
            return self._whole(outer) if isinstance(outer, ast.Call) and outer.func is above else call
        counted = called(above, self.program) == "len"
        return self._whole(above) if isinstance(above, ast.Call) and (counted or self._differs(above)) else call
