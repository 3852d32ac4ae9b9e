"""A run: discover, answer from the cache, check the rest, select, sort."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Protocol

from distml.diagnostics.model import Diagnostic, Span
from distml.engine.config import Config
from distml.engine.discovery import discover
from distml.engine.results import Checker, FileResult, Note, Report
from distml.engine.selection import SHAPES, WHOLE, parts, selector

if TYPE_CHECKING:
    from distml.source.file import SourceFile
    from distml.source.files import Files
    from distml.source.project import Project

Progress = Callable[[int, int], None]
Source = Callable[[Mapping[str, str], Config, dict[str, bytes] | None], "Project"]
UNUSED = "SRC301"
WIDTHS = "SHP312"
UNFINISHED = ("SRC1", "SRC2")  # the rules for files whose check did not come to its end
FILES_A_WORKER = 4  # fewer are not worth another process


class Memory(Protocol):
    """What remembers the results of files, such as `distml.engine.cache.Cache`."""

    def get(self, path: str) -> FileResult | None:
        """The remembered result for `path` if it still holds."""

    def put(self, path: str, result: FileResult) -> None:
        """Remember a result."""

    def trace(self, source: SourceFile, project: Project) -> tuple[str, ...]:
        """Names of what the result for `source` depends on; asked where the file is checked, maybe in another process."""


def run(
    paths: Iterable[str],
    config: Config,
    *,
    cache: Memory | None = None,
    checker: Checker | None = None,
    overlay: dict[str, bytes] | None = None,
    progress: Progress | None = None,
    project: Project | None = None,
    files: Source | None = None,
) -> Report:
    """Check the files under `paths`.

    `overlay` replaces contents on disk, by real path. `checker` stands in for the interpreter. `progress` is told the
    number of files done and of all. `project` stands in for the one on disk, `files` makes the one
    on disk. Raises `ConfigError` for a selection of rules
    that do not exist.
    """
    started = time.monotonic()
    wanted = selector(config)
    found = discover(paths, config)
    results = _remembered(found.files, cache)
    cached = len(results)
    missing = [path for path in found.files if path not in results]

    def opened() -> Project:
        return project or (files or on_disk)(found.shown, config, overlay)

    with closing(_check(missing, config, checker, cache, opened)) as checks:
        for done, (path, result) in enumerate(checks, cached + 1):
            results[path] = result
            if cache is not None:
                cache.put(path, result)
            if progress is not None:
                progress(done, len(found.files))
    in_order = [results[path] for path in found.files]
    lasting = all(result.lasting for result in in_order)
    sure = project is None and lasting and parts(config) == WHOLE
    findings = _standing([*found.problems, *_merged(found.files, in_order)], found.files, config, sure)
    broken = {finding.span.path for finding in findings if finding.code.startswith(UNFINISHED)}
    position = {path: index for index, path in enumerate(found.files)}
    return Report(
        tuple(sorted(filter(wanted, findings), key=lambda finding: _order(finding, position))),
        tuple(place for result in in_order for place in result.lost),
        files=len(in_order),
        skipped=sum(result.skipped for result in in_order),
        cached=cached,
        seconds=time.monotonic() - started,
        overlay=overlay or {},
        checked=tuple(path for path in found.files if path not in broken),
        whole=lasting,
        tracked=tuple(each for result in in_order for each in result.tracked),
    )


def _standing(findings: list[Diagnostic], paths: Sequence[str], config: Config, sure: bool) -> list[Diagnostic]:
    """The findings that no other file of the project speaks against; `sure` if the run can say so of useless comments."""
    codes = {finding.code for finding in findings}
    if codes.isdisjoint((UNUSED, WIDTHS)):
        return findings
    from distml.engine.settled import by_default, settled

    known = [finding for finding in findings if sure or finding.code != UNUSED]
    return by_default(settled(known, UNUSED, paths, config), WIDTHS, config)


def _merged(paths: Sequence[str], results: Sequence[FileResult]) -> Iterator[Diagnostic]:
    """The findings of all files: what each file's own check says, and what was met only from others, once for each rule
    and place. Complaints about comments that hid a finding met from another file are left out.
    """
    used = {place for result in results for place in result.used_elsewhere}
    said: set[tuple[str, Span]] = set()
    for path, result in zip(paths, results):
        for finding in result.diagnostics:
            span = finding.span
            if span.path == path and (finding.code != UNUSED or (path, span.line) not in used):
                said.add((finding.code, span))
                yield finding
    for path, result in zip(paths, results):
        for finding in result.diagnostics:
            if finding.span.path != path and (finding.code, finding.span) not in said:
                said.add((finding.code, finding.span))
                yield finding


def on_disk(
    shown: Mapping[str, str], config: Config, overlay: dict[str, bytes] | None, files: Files | None = None
) -> Project:
    """The project on disk; `shown` says how messages show files, `overlay` what replaces contents, by real path. `files`
    stands in for both.
    """
    from distml.engine.environment import environment
    from distml.source.project import Project

    sources = [os.path.join(os.path.abspath(config.folder), source) for source in config.src]
    return Project(
        sources=sources,
        max_file_size=config.max_file_size,
        overlay=overlay,
        shown=shown,
        files=files,
        environment=environment(config),
    )


def _remembered(paths: Sequence[str], cache: Memory | None) -> dict[str, FileResult]:
    found = {path: cache.get(path) for path in paths} if cache is not None else {}
    return {path: result for path, result in found.items() if result is not None}


def _check(
    paths: Sequence[str],
    config: Config,
    checker: Checker | None,
    cache: Memory | None,
    files: Callable[[], Project],
) -> Generator[tuple[str, FileResult], None, None]:
    """Check the files that have to be, in this process or in workers."""
    if not paths:
        return
    from distml.engine.one import check_one, preload
    from distml.engine.workers import can_fork, check_all

    project = files()

    def check(path: str, tell: Note | None = None) -> FileResult:
        return check_one(path, project, config, checker, cache.trace if cache is not None else None, tell)

    jobs = workers(config.jobs, len(paths))
    if jobs == 0 or not can_fork():
        yield from ((path, check(path)) for path in paths)
    else:
        if jobs > 1 and checker is None and SHAPES in parts(config):
            preload()  # once, rather than once in each worker
        yield from ((paths[index], result) for index, result in check_all(paths, check, config, jobs))


def workers(jobs: int | None, files: int) -> int:
    """How many processes to use for so many files; 0 stands for this process alone."""
    if jobs is not None:
        return jobs
    return max(1, min(os.cpu_count() or 1, files // FILES_A_WORKER))


def _order(finding: Diagnostic, position: dict[str, int]) -> tuple[int, str, int, int, str, str]:
    span = finding.span
    return position.get(span.path, len(position)), span.path, span.line, span.column, finding.code, finding.message
