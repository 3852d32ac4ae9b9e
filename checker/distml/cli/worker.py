"""`python -m distml.cli.worker`: what build rules call, once for each request or as a persistent worker of Bazel.

A request is a list of arguments, in a file `@FILE` with one a line. It names every file it may read and every file it
writes, by paths relative to the working folder. There are three, by what they write: `--essence`, `--sarif`, or the
results of a check. Each value is part of its argument (`--check=-dash.py`), so that no name of a file can be an option.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # the working folder: nothing of what is checked may be imported

import json
import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from distml.cli.protocol import answer, decoded, requests
from distml.diagnostics.printable import safe
from distml.engine.config import Config, ConfigError, load

if TYPE_CHECKING:
    from distml.diagnostics.model import Diagnostic
    from distml.engine.declared import Outcome

_MANY = ("check", "context", "essences", "root", "select", "ignore")
"""Files to check or to digest, others that may be imported, what --essence wrote for these, where imports are looked up,
rules to report and not to report; each may be given again."""
_ONE = ("config", "essence", "json", "text", "patch", "results", "unused", "sarif")
"""The file with [tool.distml], and what to write."""


class RequestError(Exception):
    """A request cannot be carried out; the message is one clear line."""


def main(arguments: list[str] | None = None) -> int:
    """Serve requests for ever, or carry out the one that the arguments are."""
    given = sys.argv[1:] if arguments is None else arguments
    if "--persistent_worker" in given:
        serve(0, _own_standard_output())
        return 0
    code, output = carry_out(given)
    sys.stderr.write(output)
    return code


def serve(incoming: int, outgoing: int) -> None:
    """Answer requests until there are no more."""
    for request in requests(incoming):
        code, output = carry_out(request.arguments)
        answer(outgoing, request.identity, code, output)


def carry_out(arguments: list[str]) -> tuple[int, str]:
    """The exit code and what to print: 0 and nothing where all was written, findings or not."""
    try:
        options = _parsed(_expanded(arguments))
        if options.essence:
            _write_essences(options)
        elif options.sarif:
            _write_sarif(options)
        else:
            _write_check(options)
    except (RequestError, ConfigError) as error:
        return 2, safe(f"distml: error: {error}") + "\n"
    except OSError as error:
        return 2, safe(f"distml: error: {error.filename}: {error.strerror}") + "\n"
    except Exception as error:  # one request must not end the worker
        from distml.engine.one import describe

        return 2, safe(f"distml: failed: {describe(error)}") + "\n"
    return 0, ""


def _write_essences(options: Namespace) -> None:
    from distml.source.essence import essence
    from distml.source.file import SourceFile
    from distml.source.hashing import content_hash
    from distml.source.reading import UnreadableError

    lines = []
    for path in options.check:
        data = _read(path)
        try:
            digest = essence(SourceFile(path, path, data, module="", is_package=False))
        except UnreadableError:
            digest = content_hash(data)
        lines.append(f"{digest} {path}\n")
    _write(options.essence, "".join(lines))


def _write_check(options: Namespace) -> None:
    """Check; a finding that may be otherwise next time fails the request, so that no cache keeps what came of it."""
    from distml.engine.declared import check_declared
    from distml.engine.one import preload
    from distml.engine.results import FileResult, encode
    from distml.report import as_json
    from distml.report.context import Context
    from distml.report.text import findings as as_text

    preload()  # the process that checks is a fork of this one, and this one stays
    contents = {path: _read(path) for path in [*options.check, *options.context]}
    outcome = check_declared(options.check, contents, options.root, _config(options))
    if outcome.fleeting:
        first = outcome.fleeting[0]
        raise RequestError(f"{first.span.path}: {first.code}: {first.message}")
    report = outcome.report
    context = Context(overlay={os.path.realpath(path): data for path, data in contents.items()})
    _write(options.json, "".join(f"{line}\n" for line in as_json.render(report, context)))
    _write(options.text, "".join(f"{line}\n" for line in as_text(report, context)))
    _write(options.results, json.dumps(encode(FileResult(report.diagnostics))))
    _write(options.patch, _patch(report.diagnostics, {path: contents[path] for path in options.check}))
    _write(options.unused, "".join(f"{path}\n" for path in _unused(options, outcome)))


def _unused(options: Namespace, outcome: Outcome) -> Iterator[str]:
    """The inputs whose changes cannot change the result: sources of which no place is shown, for what they mean stands in
    the essences, and essences of files that were not read."""
    shown = outcome.shown.union(options.check)
    yield from (path for path in options.context if path not in shown)
    for path in options.essences:
        described = {line.split(" ", 1)[1] for line in _read(path).decode("utf-8", "surrogateescape").splitlines()}
        if not described & outcome.read:
            yield path


def _write_sarif(options: Namespace) -> None:
    from distml.engine.results import Report, decode
    from distml.report.context import Context
    from distml.report.sarif import render

    result = decode(json.loads(_read(options.results)))
    _write(options.sarif, "".join(f"{line}\n" for line in render(Report(result.diagnostics, files=1), Context())))


def _patch(findings: tuple[Diagnostic, ...], contents: dict[str, bytes]) -> bytes:
    """The fixes that findings carry, as a patch of the checked files; empty where there are none."""
    if not any(finding.fix for finding in findings):
        return b""
    from distml.autofix.mending import rewritten
    from distml.rewrites.writing import text_of, unified
    from distml.source.reading import declared_encoding

    changes = rewritten(findings, {path: text_of(data, path) for path, data in contents.items()})
    return b"".join(unified(path, each).encode(declared_encoding(contents[path])) for path, each in changes.items())


def _config(options: Namespace) -> Config:
    """The configuration; its patterns are relative to where the file lies among the declared ones."""
    config = (
        load(options.config, os.curdir)._replace(folder=os.path.dirname(options.config)) if options.config else Config()
    )
    config = config._replace(folder=config.folder or os.curdir, jobs=1)
    if options.select:
        config = config._replace(select=tuple(options.select))
    return config._replace(ignore=(*config.ignore, *options.ignore))


def _parsed(arguments: Iterable[str]) -> Namespace:
    """Values by option; whatever stands behind the first `=` is the value, also what looks like an option."""
    found: dict[str, Any] = {name: [] for name in _MANY} | dict.fromkeys(_ONE)
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if name not in found or not equals:
            raise RequestError(f"unrecognized argument: {argument}")
        found[name] = [*found[name], value] if name in _MANY else value
    return Namespace(**found)


def _expanded(arguments: list[str]) -> Iterator[str]:
    """The arguments, those in files in the place of the files' names."""
    for argument in arguments:
        if argument.startswith("@"):
            yield from filter(None, decoded(_read(argument[1:])).split("\n"))
        else:
            yield argument


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _write(path: str | None, data: str | bytes) -> None:
    """Write an output; one that was not asked for is passed over."""
    if path is not None:
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode("utf-8", "backslashreplace"))


def _own_standard_output() -> int:
    """The stream of answers, which nobody else can write to any more: what is printed goes to standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    return own


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
