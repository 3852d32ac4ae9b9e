"""`distml project`: one program a party, from the choreographies of a file."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from distml.engine.config import ConfigError

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


def run(options: Namespace) -> int:
    """Project; 1 where the choreography is refused."""
    from distml.choreo.project import UnknownRoleError, project_source
    from distml.source.reading import UnreadableError

    path = Path(options.file)
    try:
        text = path.read_text("utf-8")
        found = project_source(text, options.file, role=options.role, infer_selects=options.infer_selects)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {options.file}: {error}") from None
    except UnreadableError as error:
        raise ConfigError(f"cannot read {options.file}: {error.diagnostic.message}") from None
    except UnknownRoleError:
        raise ConfigError(f"no choreography in {options.file} has a role {options.role}") from None
    for each in found.findings:
        sys.stderr.write(f"{each.span.path}:{each.span.line}:{each.span.column}: {each.code} {each.message}\n")
    if options.infer_selects and options.output is not None:
        _deliver(path, "", found.source, options.output)
    for role, program in found.files.items():
        _deliver(path, role, program, options.output)
    return 1 if found.findings else 0


def _deliver(path: Path, role: str, program: str, folder: str | None) -> None:
    """Print or write the program of a role, or with no role the choreography itself."""
    if folder is None:
        sys.stdout.write(f"# {role}\n{program}\n")
        return
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    name = f"{path.stem}_{role.lower()}.py" if role else f"{path.stem}_with_selects.py"
    (target / name).write_text(program, "utf-8")
