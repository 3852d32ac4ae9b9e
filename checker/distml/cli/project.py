"""`distml project`: one program a party, from the choreographies of a file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from distml.engine.config import ConfigError
from distml.report.printing import complain, hand_over

if TYPE_CHECKING:
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
    path, found = Path(options.file), projected(options.file, options.role, options.infer_selects)
    show(found)
    if found.findings:
        return 1
    if options.diagram:
        _draw(path, found, options.output)
        return 0
    if options.infer_selects and options.output is not None:
        _deliver(path, "", found.source, options.output)
    for role, program in found.files.items():
        _deliver(path, role, program, options.output)
    return 0


def projected(file: str, role: str | None, infer_selects: bool) -> Projection:
    """The projections of a file. Raises ConfigError where it cannot be read or has no such role."""
    from distml.choreo.project import UnknownRoleError, project_source
    from distml.source.reading import UnreadableError

    try:
        return project_source(Path(file).read_text("utf-8"), file, role=role, infer_selects=infer_selects)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {file}: {error}") from None
    except UnreadableError as error:
        raise ConfigError(f"cannot read {file}: {error.diagnostic.message}") from None
    except UnknownRoleError:
        raise ConfigError(f"no choreography in {file} has a role {role}") from None


def show(found: Projection) -> None:
    """Print why a choreography is refused."""
    for each in found.findings:
        first, *more = each.message.split("\n")
        complain(f"{each.span.path}:{each.span.line}:{each.span.column}: {each.code} {first}", *more)


def _draw(path: Path, found: Projection, folder: str | None) -> None:
    """Print the diagrams as blocks of Markdown, or write one file each."""
    from distml.choreo.diagram import diagrams

    for name, diagram in diagrams(found.checked).items():
        if folder is None:
            hand_over(f"```mermaid\n{diagram}```\n")
            continue
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        (target / f"{path.stem}_{name}.mmd").write_text(diagram, "utf-8")


def _deliver(path: Path, role: str, program: str, folder: str | None) -> None:
    """Print or write the program of a role, or with no role the choreography itself."""
    if folder is None:
        hand_over(f"# {role}\n{program}\n")
        return
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    name = f"{path.stem}_{role.lower()}.py" if role else f"{path.stem}_with_selects.py"
    (target / name).write_text(program, "utf-8")
