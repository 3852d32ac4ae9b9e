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
    """What is made: a file, and how it is printed instead."""

    name: str
    text: str
    shown: str


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

    made = diagrams(found.checked).items()
    return [_Program(f"{path.stem}_{name}.mmd", text, f"```mermaid\n{text}```\n") for name, text in made]


def _programs(path: Path, found: Projection, completed: bool) -> list[_Program]:
    """The programs of the roles, in files after the choreography itself where it was completed."""
    made = [
        _Program(f"{path.stem}_{role.lower()}.py", text, f"# {role}\n{text}\n") for role, text in found.files.items()
    ]
    return [_Program(f"{path.stem}_with_selects.py", found.source, ""), *made] if completed else made


def _write(programs: Sequence[_Program], folder: str) -> None:
    """Write all of them into a folder, or none."""
    from distml.writing.files import File, WriteError, roots_of, write_files

    try:
        write_files(
            [File(os.path.join(folder, each.name), each.text.encode()) for each in programs], roots_of([folder])
        )
    except WriteError as error:
        raise ConfigError(str(error)) from None
