"""What ends the program well: `sys.exit()`, `raise SystemExit`, a test that skips itself.

What stands behind an exit that may be taken is not reached for sure: a program that asks for an argument and
leaves without one runs, whatever its other lines do. `Machine.exits` counts such exits since the analysis began; from
the first on nothing is reported. Two exits are none of these. One whose status says that the program failed leaves
no run that ends well without the lines behind it: `sys.exit("usage: ...")` is as good as an exception. And one
under a condition on the data of tensors or on random numbers is passed by other data.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from distml.interp.arguments import Arguments
from distml.interp.calls import unknown_call
from distml.interp.hints import qualified_name
from distml.interp.machine import ProcessEnd
from distml.values import Class, Const, InstanceRecord, Lib, Ref, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from distml.interp.machine import Machine

_WITH_STATUS = ("builtins.exit", "builtins.quit", "sys.exit", "os._exit")
_WELL = "pytest.skip pytest.xfail unittest.TestCase.skipTest os.execv os.execve os.execvp os.execvpe os.execl".split()
_PERHAPS = ("pytest.importorskip",)
_EXCEPTIONS = frozenset(("builtins.SystemExit", "unittest.SkipTest", "unittest.case.SkipTest", "pytest.skip.Exception"))


def _ends_with_status(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    raise vm.raised(ProcessEnd() if _says_well(arguments.values()) else None)


def _says_well(status: list[Value]) -> bool:
    """Whether the status of an exit may be that of success."""
    return not status or not isinstance(status[0], Const) or status[0].value in (None, 0)


def _ends(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    raise vm.raised(ProcessEnd())


def _may_end(vm: Machine, arguments: Arguments, node: ast.AST) -> Value:
    vm.exits += 1
    return unknown_call(vm, arguments, node)


EXITS: dict[str, Callable[[Machine, Arguments, ast.AST], Value]] = {
    **dict.fromkeys(_WITH_STATUS, _ends_with_status),
    **dict.fromkeys(_WELL, _ends),
    **dict.fromkeys(_PERHAPS, _may_end),
}


def ends_well(vm: Machine, node: ast.Raise) -> bool:
    """Whether what is raised ends the program without a traceback and may say that all went well."""
    call = node.exc if isinstance(node.exc, ast.Call) else None
    raised = node.exc if call is None else call.func
    if not isinstance(raised, ast.Name | ast.Attribute):
        return False
    value = vm.language.evaluate(vm, raised)
    record = vm.record(value) if isinstance(value, Ref) else None
    cls = record.cls if isinstance(record, InstanceRecord) else value
    bases = vm.at(cls.address).mro if isinstance(cls, Class) else (cls,)
    names = [base.name for base in bases if isinstance(base, Lib) and base.name in _EXCEPTIONS]
    if not names or "Skip" in names[0] or call is None:
        return bool(names)
    return _says_well([vm.language.evaluate(vm, part) for part in call.args if isinstance(part, ast.Constant)])


def never_returns(vm: Machine, function: ast.AST) -> bool:
    """Whether a function says that it does not come back: `-> NoReturn`. How it leaves is open."""
    annotation = getattr(function, "returns", None)
    if not isinstance(annotation, ast.Name | ast.Attribute):
        return False
    name = qualified_name(vm, ast.unparse(annotation))
    return name.rpartition(".")[0] in ("typing", "typing_extensions") and name.endswith((".NoReturn", ".Never"))
