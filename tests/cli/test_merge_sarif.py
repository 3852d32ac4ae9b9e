"""`distml merge-sarif`: one file with one run, held to the schema."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from distml.cli.main import main
from distml.report import merging

SCHEMA = json.loads((Path(__file__).parents[1] / "data" / "sarif-2.1.0-rtm.5.json").read_text("utf-8"))
BAD = "import torch\n\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n"


def sarif(capsys: pytest.CaptureFixture[str], *paths: str) -> dict[str, Any]:
    main(["check", "--no-cache", "--format", "sarif", *paths])
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def logs(folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Two logs with a finding of one file in both, one of another in the second, and an empty log."""
    (folder / "a.py").write_text(BAD)
    (folder / "b.py").write_text("import torch\n\ntorch.zeros(8 / 2)\n")
    (folder / "good.py").write_text("import torch\n")
    for name, paths in {"one": ("a.py",), "two": ("b.py", "a.py"), "none": ("good.py",)}.items():
        (folder / f"{name}.sarif").write_text(json.dumps(sarif(capsys, *paths)))
    return folder


def merged(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["merge-sarif", *arguments]) == 0
    log = json.loads(capsys.readouterr().out)
    jsonschema.validate(log, SCHEMA)
    (run,) = log["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    return run


def test_each_finding_once(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = merged(capsys, "one.sarif", "two.sarif", "none.sarif")
    assert [result["ruleId"] for result in run["results"]] == ["SHP101", "SHP603"]
    assert "automationDetails" not in run
    assert len(run["tool"]["driver"]["rules"]) > 50


def _places(node: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield way
    for key in [*node] if isinstance(node, dict) else range(min(len(node), 1)) if isinstance(node, list) else ():
        yield from _places(node[key], (*way, key))


@pytest.mark.parametrize("value", [None, 3, True, "x", [], {}, ["x"], {"x": 1}, "absent"], ids=repr)
def test_a_log_that_lacks_something_is_merged_or_refused_in_a_line(logs: Path, value: Any) -> None:
    """Whatever stands in the place of any part of it, and where it is not there."""
    whole = json.loads((logs / "one.sarif").read_text())
    rules = whole["runs"][0]["tool"]["driver"]["rules"]
    rules[:] = [each for each in rules if each["id"] == whole["runs"][0]["results"][0]["ruleId"]]
    for way in _places(whole):
        log = copy.deepcopy(whole)
        holder = {"": log}
        at: Any = holder
        for before, key in zip(("", *way), (*way, None)):
            if key is None:
                break
            at = at[before]
        if value == "absent" and isinstance(at, dict):
            del at[("", *way)[-1]]
        else:
            at[("", *way)[-1]] = value
        try:
            found = merging.merged([holder.get("", {}), whole], "x")
        except merging.MergeError as error:
            assert "\n" not in str(error)
        else:
            assert len(found["runs"]) == 1


def test_rules_of_another_version_keep_their_findings(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The place of a rule in the list of rules is not the same in all versions."""
    log = json.loads((logs / "two.sarif").read_text())
    rules, results = log["runs"][0]["tool"]["driver"]["rules"], log["runs"][0]["results"]
    kept = [rule for rule in rules if rule["id"] in {result["ruleId"] for result in results}][::-1]
    log["runs"][0]["tool"]["driver"]["rules"] = kept
    for result in results:
        result["ruleIndex"] = [rule["id"] for rule in kept].index(result["ruleId"])
    (logs / "two.sarif").write_text(json.dumps(log))
    run = merged(capsys, "two.sarif", "one.sarif")
    assert {result["ruleId"] for result in run["results"]} == {"SHP101", "SHP603"}


def test_a_category(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert merged(capsys, "one.sarif", "--category", "bazel")["automationDetails"] == {"id": "bazel/"}


def test_nothing_found_is_a_run_too(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = merged(capsys, "none.sarif", "none.sarif")
    assert run["results"] == [] and run["tool"]["driver"]["version"]


def events(*files: Path, code: str = "SUCCESS", scheme: str = "file") -> str:
    named = [{"name": file.name, "uri": f"{scheme}://{file}"} for file in files]
    lines: list[dict[str, Any]] = [{"id": {}, "started": {}}, {"namedSetOfFiles": {"files": named}}]
    return "\n".join(map(json.dumps, [*lines, {"finished": {"exitCode": {"name": code, "code": 1}}}]))


def test_the_files_of_a_build(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (logs / "one.sarif").rename(logs / "one.distml.sarif")
    (logs / "ev").write_text(events(logs / "one.distml.sarif", logs / "gone.distml.json"))
    run = merged(capsys, "--build-events", "ev")
    assert [result["ruleId"] for result in run["results"]] == ["SHP101"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no SARIF files to merge"),
        (["gone.sarif"], "gone.sarif: cannot be read: No such file or directory"),
        (["a.py"], "a.py: "),
        (["other.sarif"], "other.sarif: this is SARIF of other"),
        (["list.json"], "list.json: this is no SARIF"),
        (["--build-events", "a.py"], "a.py: not what --build_event_json_file writes"),
        (["--build-events", "failed"], "failed: the build did not succeed"),
        (["--build-events", "remote"], "x.distml.sarif was not downloaded"),
        (["--build-events", "empty"], "no SARIF files to merge"),
        (["nested"], "nested: maximum recursion depth"),
        (["--build-events", "nested"], "nested: not what --build_event_json_file writes"),
        (["one.sarif", "--output", "one.sarif/out.sarif"], "one.sarif/out.sarif: cannot be written"),
    ],
)
def test_what_is_wrong_is_said(
    logs: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    other = {"runs": [{"tool": {"driver": {"name": "other"}}}]}
    (logs / "other.sarif").write_text(json.dumps(other))
    (logs / "list.json").write_text("[1]")
    (logs / "failed").write_text(events(code="BUILD_FAILURE"))
    (logs / "remote").write_text(events(Path("/x.distml.sarif"), scheme="bytestream"))
    (logs / "empty").write_text(events())
    (logs / "nested").write_text("[" * 100_000)
    assert main(["merge-sarif", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"distml: error: {message}") and captured.err.count("\n") == 1
