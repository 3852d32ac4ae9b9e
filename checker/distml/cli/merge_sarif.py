"""`distml merge-sarif`: one SARIF file from several, for code scanning."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from distml.engine.config import ConfigError

SUMMARY = "Merge SARIF files of distml into one with one run, for code scanning."
SUFFIX = ".distml.sarif"


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml merge-sarif`."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="SARIF files of distml")
    parser.add_argument(
        "--build-events",
        metavar="FILE",
        help="take the SARIF files of the build that wrote this with --build_event_json_file",
    )
    parser.add_argument("--category", metavar="NAME", help="the category of the findings in code scanning")
    parser.add_argument("-o", "--output", metavar="FILE", help="write here instead of standard output")


def run(options: Namespace) -> int:
    """Merge; 0, or an error where there is nothing to merge."""
    from distml.report.merging import MergeError, merged
    from distml.report.printing import hand_over
    from distml.writing.files import File, WriteError, roots_of, write_files

    given = list(options.files)
    if options.build_events is not None:
        given += _built(options.build_events)
    if not given:
        raise ConfigError("no SARIF files to merge")
    logs = []
    for path in given:
        try:
            logs.append(merged([json.loads(_read(path))]))
        except (MergeError, ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: {error}") from None
    text = json.dumps(merged(logs, options.category), indent=2) + "\n"
    if options.output is None:
        hand_over(text)
        return 0
    try:
        write_files([File(options.output, text.encode())], roots_of([options.output]))
    except WriteError as error:
        raise ConfigError(str(error)) from None
    return 0


def _built(path: str) -> list[str]:
    """The SARIF files that a build made, by what it says of itself. Those of a build that failed are not complete."""
    found: dict[str, None] = {}
    succeeded = False
    for line in _read(path).splitlines():
        try:
            event = json.loads(line)
            found.update(dict.fromkeys(_local(event.get("namedSetOfFiles", {}).get("files", ()))))
            succeeded |= event.get("finished", {}).get("exitCode", {}).get("name") == "SUCCESS"
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
            raise ConfigError(f"{path}: not what --build_event_json_file writes") from None
    if not succeeded:
        raise ConfigError(f"{path}: the build did not succeed, so reports are missing; --@distml//bazel:report_only")
    return list(found)


def _local(files: list[dict[str, Any]]) -> Iterator[str]:
    for file in files:
        if not file["name"].endswith(SUFFIX):
            continue
        address = urlsplit(file["uri"])
        if address.scheme != "file":
            raise ConfigError(f"{file['name']} was not downloaded: build with --remote_download_outputs=toplevel")
        yield unquote(address.path)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8") from None
