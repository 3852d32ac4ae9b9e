"""`distml project`: one program a party, from the choreographies of a file."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from distml.engine.config import ConfigError
from distml.report.printing import complain, hand_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from distml.choreo.bindings import Origin
    from distml.choreo.project import Projection

SUMMARY = "Project the choreographies of a file: write the program of each party."


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml project`."""
    parser.add_argument("file", metavar="FILE", help="a Python file with choreographies")
    parser.add_argument("--role", metavar="ROLE", help="project this role alone")
    parser.add_argument("-o", "--output", metavar="DIR", help="write <file>_<role>.py here instead of printing")
    parser.add_argument(
        "--infer-selects",
        action="store_true",
        help="add the selects that are missing; -o writes the completed file too",
    )
    parser.add_argument(
        "--diagram", action="store_true", help="Mermaid sequence diagrams instead; with -o, <file>_<choreography>.mmd"
    )


def run(options: Namespace) -> int:
    """Project; 1 where the choreography is refused."""
    if options.diagram and options.role is not None:
        raise ConfigError("--diagram shows all roles: it takes no --role")
    if options.output == "":
        raise ConfigError("--output names no folder")
    path, found = Path(options.file), projected(options.file, options.role, options.infer_selects)
    show(found)
    if found.findings:
        return 1
    if not found.files:
        raise ConfigError(f"no choreography in {path}")
    programs = _diagrams(path, found) if options.diagram else _programs(path, found, options.infer_selects)
    if options.output is None:
        for each in programs:
            hand_over(each.shown)
    else:
        _write(programs, options.output)
    return 0


class _Program(NamedTuple):
    """What is made: a file, and how it is printed instead. By the line `mark` the file is known later as made here."""

    name: str
    text: str
    shown: str
    mark: str


def projected(file: str, role: str | None, infer_selects: bool) -> Projection:
    """The projections of a file. Raises ConfigError where it cannot be read or has no such role."""
    from distml.choreo.project import UnknownRoleError, project_source
    from distml.source.reading import UnreadableError, read_bytes

    try:
        text, origins = read_bytes(file, file).decode(), _origins(file)
        return project_source(text, file, role=role, infer_selects=infer_selects, origins=origins)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from None
    except UnreadableError as error:
        raise ConfigError(f"cannot read {file}: {error.diagnostic.message}") from None
    except RecursionError:
        raise ConfigError(f"cannot project {file}: nested too deeply") from None
    except UnknownRoleError:
        raise ConfigError(f"no choreography in {file} has a role {role}") from None


def _origins(file: str) -> Mapping[str, Origin]:
    """What names of the file are that come from others of its project."""
    from distml.choreo.origins import origins_of
    from distml.source.project import Project

    project = Project()
    return origins_of(project.open(file), project)


def show(found: Projection) -> None:
    """Print why a choreography is refused."""
    for each in found.findings:
        first, *more = each.message.split("\n")
        complain(f"{each.span.path}:{each.span.line}:{each.span.column}: {each.code} {first}", *more)


def _diagrams(path: Path, found: Projection) -> list[_Program]:
    """The diagrams; printed, blocks of Markdown."""
    from distml.choreo.diagram import diagrams

    programs = []
    for name, text in diagrams(found.checked).items():
        mark = f"%% {name} of {path.name}, drawn by distml"
        programs.append(_Program(f"{path.stem}_{name}.mmd", f"{mark}\n{text}", f"```mermaid\n{text}```\n", mark))
    return programs


def _programs(path: Path, found: Projection, completed: bool) -> list[_Program]:
    """The programs of the roles, in files after the choreography itself where it was completed."""
    made = [
        _Program(f"{path.stem}_{role.lower()}.py", text, f"# {role}\n{text}\n", text.partition("\n")[0])
        for role, text in found.files.items()
    ]
    mark = f"# {path.name}, completed by distml"
    whole = _Program(f"{path.stem}_with_selects.py", f"{found.source.rstrip()}\n\n{mark}\n", "", mark)
    return [whole, *made] if completed else made


def _write(programs: Sequence[_Program], folder: str) -> None:
    """Write all of them into a folder, or none; what is there is replaced if it was made of the same choreography."""
    from distml.writing.files import File, WriteError, roots_of, write_files

    try:
        files = [_file(os.path.join(folder, each.name), each) for each in programs]
        write_files([File(path, each.text.encode(), before) for path, before, each in files], roots_of([folder]))
    except WriteError as error:
        raise ConfigError(str(error)) from None


def _file(path: str, program: _Program) -> tuple[str, bytes | None, _Program]:
    """Where a program goes, and what it replaces. Raises ConfigError where that is not a program of this kind."""
    if not os.path.isfile(path):
        return path, None, program
    try:
        before = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error}") from None
    if program.mark.encode() not in (before.partition(b"\n")[0], before.rstrip().rpartition(b"\n")[2]):
        raise ConfigError(
            f"{path} is there already and was not made of this choreography: remove it, or name another folder"
        )
    return path, before, program
