"""`distml init`: the hook, the workflow and the configuration of a project, each written after asking."""

from __future__ import annotations

import os
import re
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple

from distml.engine.config import LARGEST_CONFIGURATION, ConfigError
from distml.report.printing import hand_over, say

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

SUMMARY = "Add distml to a project: the pre-commit hooks, the workflow of the Action, the table of pyproject.toml."

PARTS = ("hook", "workflow", "table")
_ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9@:/._~+-]*")
_RUNS = re.compile(r"""^\s*(- )?uses:\s*["']?[\w.-]+/distml@""", re.MULTILINE)
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml init`."""
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument(
        "--address", help="the repository of distml for hooks and the Action (default: where it was installed from)"
    )
    parser.add_argument("--revision", help="its tag or commit (default: the commit that was installed)")
    parser.add_argument("--branch", default="main", help="the branch whose pushes are checked (default: main)")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--yes", action="store_true", help="write without asking")
    mode.add_argument("--diff", action="store_true", help="print a patch instead; change nothing")


_NO_TABLE = "there is no pyproject.toml; distml works without one"


class _Change(NamedTuple):
    """A file of the project: its path below the root, its text now (None if it does not exist) and then."""

    path: str
    before: str | None
    after: str


def run(options: Namespace) -> int:
    """Show what would be added, ask, write. Exit code 2 if a part that is needed or named cannot be added, or there
    is no terminal to ask on.
    """
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        raise ConfigError(f"unknown part {unknown[0]}; known parts: {', '.join(PARTS)}")
    root = _root()
    changes, refused = [], 0
    for part in PARTS:
        if options.parts and part not in options.parts:
            continue
        change = _MAKERS[part](root, options)
        if isinstance(change, str):
            refused += part in options.parts or change != _NO_TABLE
            say(f"{part}: {change}")
        elif change.before == change.after:
            say(f"{part}: {change.path} has it already")
        else:
            changes.append(change)
    for change in changes:
        hand_over(_patch(change))
    if changes and not options.diff:
        _write(root, [each for each in changes if options.yes or _agreed(each)])
    return 2 if refused else 0


def _root() -> str:
    """The nearest folder upward with a repository, else the working folder."""
    from distml.source.roots import upward

    here = os.path.realpath(os.curdir)
    return next((each for each in upward(here) if os.path.exists(os.path.join(each, ".git"))), here)


def _hook(root: str, options: Namespace) -> _Change | str:
    from distml.cli.adopting import CannotAddError, with_hooks

    path = ".pre-commit-config.yaml"
    source = _source(options)
    if isinstance(source, str):
        return source
    before = _text(root, path)
    try:
        return _Change(path, before, with_hooks(before or "", *source))
    except CannotAddError as error:
        return f"{path}: {error}"


def _workflow(root: str, options: Namespace) -> _Change | str:
    from distml.cli.adopting import workflow

    path = os.path.join(".github", "workflows", "distml.yml")
    there = _checking(root)
    if there is not None:
        return there
    if _text(root, path) is not None:
        return f"{path} is there already and does not run the Action"
    source = _source(options)
    if isinstance(source, str):
        return source
    found = re.fullmatch(r"(?:https://|git@|ssh://git@)github\.com[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?", source[0])
    if found is None:
        return f"GitHub runs Actions from GitHub only, and distml was installed from {source[0]}: give --address"
    if not _REVISION.fullmatch(options.branch):
        raise ConfigError(f"--branch: {options.branch} is not the name of a branch")
    return _Change(path, None, workflow(found[1], source[1], options.branch))


def _checking(root: str) -> _Change | None:
    """The workflow that runs the Action already, whoever wrote it; None if there is none."""
    folder = os.path.join(".github", "workflows")
    try:
        names = sorted(os.listdir(os.path.join(root, folder)))
    except OSError:
        return None
    for name in (each for each in names if each.endswith((".yml", ".yaml"))):
        text = _text(root, os.path.join(folder, name))
        if text is not None and _RUNS.search(text):
            return _Change(os.path.join(folder, name), text, text)
    return None


def _table(root: str, _options: Namespace) -> _Change | str:
    from distml.cli.adopting import CannotAddError, with_table
    from distml.source.roots import upward

    for folder in upward(os.path.realpath(os.curdir)):  # the nearest, as it is looked for when distml runs
        path = os.path.relpath(os.path.join(folder, "pyproject.toml"), root)
        before = _text(root, path)
        if before is not None:
            try:
                return _Change(path, before, with_table(before))
            except CannotAddError as error:
                return f"{path}: {error}"
        if folder == root:
            break
    return _NO_TABLE


_MAKERS: dict[str, Callable[[str, Namespace], _Change | str]] = {"hook": _hook, "workflow": _workflow, "table": _table}


def _source(options: Namespace) -> tuple[str, str] | str:
    """Address and revision of distml for others to install; why not, if they are not known."""
    address, revision = (options.address, "") if options.address else _installed()
    revision = options.revision or revision  # another repository has other commits
    if not address or not revision:
        return "cannot tell which repository and commit to use: give --address and --revision"
    if not _ADDRESS.fullmatch(address):
        raise ConfigError(f"--address: {address} is not the address of a repository")
    if not _REVISION.fullmatch(revision):
        raise ConfigError(f"--revision: {revision} is not a tag or a commit")
    return address, revision


def _installed() -> tuple[str, str]:
    """Where pip says that it installed distml from (PEP 610): the address and the commit, empty if it was no repository."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        record = json.loads(distribution("distml").read_text("direct_url.json") or "{}")
        return record["url"], record["vcs_info"]["commit_id"]
    except (PackageNotFoundError, KeyError, ValueError, TypeError):
        return "", ""


def _text(root: str, path: str) -> str | None:
    """The text of a file, None if there is none."""
    place = os.path.join(root, path)
    try:
        if not stat.S_ISREG(os.stat(place).st_mode):
            raise ConfigError(f"{place}: not a regular file")
        with open(place, "rb") as file:
            data = file.read(LARGEST_CONFIGURATION + 1)
        if len(data) > LARGEST_CONFIGURATION:
            raise ConfigError(f"{place}: it has more than {LARGEST_CONFIGURATION} bytes")
        return data.decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{place}: it is not UTF-8: {error.reason}") from None


def _patch(change: _Change) -> str:
    from distml.rewrites.model import Rewritten
    from distml.rewrites.writing import unified

    shown = change.path.replace(os.sep, "/")
    text = unified(shown, Rewritten(change.before or "", change.after))
    return text if change.before is not None else text.replace(f"--- a/{shown}\n", "--- /dev/null\n", 1)


def _agreed(change: _Change) -> bool:
    """Ask at the terminal. Raises `ConfigError` where standard input is no terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise ConfigError("standard input is not a terminal: --yes writes without asking, --diff prints the patch")
    say(f"Write {change.path}? [y/N]")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _write(root: str, changes: list[_Change]) -> None:
    from distml.writing.files import File, WriteError, write_files

    files = [
        File(os.path.join(root, each.path), each.after.encode(), None if each.before is None else each.before.encode())
        for each in changes
    ]
    try:
        write_files(files, (root,))
    except WriteError as error:
        raise ConfigError(str(error)) from None
    for each in changes:
        say(f"wrote {each.path}")
