"""What is printed checks, on every Bazel, without a .bazelrc and without another flag: nothing passes unchecked."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest
from bazel.conftest import CHECKOUT, Workspace
from bazel.test_aspect import BAD, PROGRAM

from delivery.pages import blocks

pytestmark = pytest.mark.requires("bazel")

(README,) = re.findall(r"^bazel build .*$", (CHECKOUT / "README.md").read_text(), re.MULTILINE)
FOUND = "lib/net.py:9:16: error[SHP401]"
SCHEMA = CHECKOUT / "tests" / "data" / "sarif-2.1.0-rtm.5.json"
PLANTED = "import torch\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n"
GROUPS = ("distml_text", "distml_json", "distml_patch", "distml_sarif", "distml_report")


def test_the_readme_has_the_command_of_the_page() -> None:
    assert f"{README}\n" == blocks("bazel.md", "sh")[0]


def test_the_printed_command_fails_on_findings_and_leaves_reports(workspace: Workspace) -> None:
    workspace.write(**{**PROGRAM, "app__app": BAD})
    done = workspace.shell(README)
    assert done.returncode == 1
    assert FOUND in done.stderr
    assert FOUND in workspace.output("app/app.distml.txt")
    assert [finding["code"] for finding in workspace.findings("app/app")] == ["SHP401"]
    workspace.write(**PROGRAM)
    assert workspace.shell(README).returncode == 0
    assert workspace.findings("app/app") == []


@pytest.mark.parametrize("group", [*GROUPS, "+distml_report", "-distml_json", "+no_such_group"])
def test_no_choice_of_outputs_leaves_out_the_check(workspace: Workspace, group: str) -> None:
    workspace.write(**{**PROGRAM, "app__app": BAD})
    done = workspace.shell(README.replace(" //...", f" --output_groups={group} //..."))
    assert done.returncode == 1 and FOUND in done.stderr


def test_beside_output_groups_of_the_rules_own(workspace: Workspace) -> None:
    """Two groups of one name cannot be merged: a rule that has `default` itself is checked all the same."""
    (workspace.folder / "rules").mkdir()
    (workspace.folder / "rules" / "BUILD").touch()
    (workspace.folder / "rules" / "own.bzl").write_text("""\
def _own_impl(ctx):
    return [OutputGroupInfo(default = depset(ctx.files.srcs))]

own = rule(implementation = _own_impl, attrs = {
    "deps": attr.label_list(),
    "imports": attr.string_list(),
    "srcs": attr.label_list(allow_files = True),
})
""")
    build = 'load("//rules:own.bzl", "own")\nown(name = "app", srcs = ["app.py"], deps = ["//lib"])\n'
    build += 'own(name = "above", deps = [":app"])\n'
    workspace.write(**{**PROGRAM, "app__app": BAD, "app__BUILD": build})
    for target in ("//app:app", "//app:above", "//..."):
        done = workspace.shell(README.replace("//...", target))
        assert done.returncode == 1 and FOUND in done.stderr, done.stderr
    workspace.write(app__app=PROGRAM["app__app"])
    assert workspace.shell(README).returncode == 0


def test_report_only(workspace: Workspace) -> None:
    workspace.write(**{**PROGRAM, "app__app": BAD})
    done = workspace.shell(README.replace(" //...", " --@distml//bazel:report_only //..."))
    assert done.returncode == 0, done.stderr
    assert FOUND in workspace.output("app/app.distml.txt")


def test_one_sarif_file_of_a_build(workspace: Workspace) -> None:
    """The findings of all targets in one run; what two targets report is there once; a failed build is refused."""
    apart = "import torch\n\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n"
    build = PROGRAM["app__BUILD"] + 'py_library(name = "again", srcs = ["app.py"], deps = ["//lib"])\n'
    workspace.write(**{**PROGRAM, "app__BUILD": build, "app__app": BAD, "app__apart": apart})
    (commands,) = blocks("bazel.md", "sh sarif")
    (workspace.folder / ".bazelrc").write_text("".join(blocks("bazel.md", "text bazelrc")))
    done = workspace.shell(commands)
    assert done.returncode == 0, done.stderr
    log = json.loads((workspace.folder / "distml.sarif").read_text())
    jsonschema.validate(log, json.loads(SCHEMA.read_text()))
    (run,) = log["runs"]
    assert run["automationDetails"] == {"id": "bazel/"}
    assert sorted(result["ruleId"] for result in run["results"]) == ["SHP101", "SHP401"]
    failing = commands.replace("shapes-report", "shapes --keep_going").replace(" //...", " //... || true", 1)
    done = workspace.shell(failing)
    assert done.returncode == 2
    assert "the build did not succeed" in done.stderr


@pytest.mark.parametrize("strategy", ["worker", "local"])
@pytest.mark.parametrize("name", ["-dash", "--json=x", "it's", "$HOME", "ü日"])
def test_no_name_is_anything_but_a_name(workspace: Workspace, name: str, strategy: str) -> None:
    """Names of files and targets are never options, and never words of a shell."""
    load = 'load("@distml//bazel:shape.bzl", "distml_test")\n'
    target = name if name.isascii() else "odd"  # Bazel 4 does not find its own files of arguments for others
    build = f'{load}py_library(name = "{target}", srcs = ["{name}.py"], deps = ["//lib"])\n'
    build += f'distml_test(name = "t", srcs = [":{target}"])\n'
    workspace.write(lib__BUILD=PROGRAM["lib__BUILD"], lib__net=PROGRAM["lib__net"], BUILD=build)
    for text, code in ((BAD, 1), (PROGRAM["app__app"], 0)):
        (workspace.folder / f"{name}.py").write_text(text)
        done = workspace.shell(README.replace(" //...", f" --strategy=Distml={strategy} //..."))
        assert done.returncode == code, done.stderr
        assert (FOUND in done.stderr) == bool(code)
        done = workspace.run("test", "--test_output=errors", "//:t")
        assert done.returncode == 3 * code, done.stdout + done.stderr
        assert (FOUND in done.stdout) == bool(code)


def test_a_test_with_nothing_to_check_fails(workspace: Workspace) -> None:
    load = 'load("@distml//bazel:shape.bzl", "distml_test")\n'
    build = load + 'filegroup(name = "files", srcs = ["app.py"])\ndistml_test(name = "t", srcs = [":files"])\n'
    workspace.write(app__BUILD=build, app__app=BAD)
    done = workspace.run("test", "--test_output=errors", "//app:t")
    assert done.returncode == 3
    assert "Nothing in " in done.stdout and "//app:files was checked." in done.stdout


def test_here(distml: Path, outputs: Path) -> None:
    """The command of the last section, in this repository: a mistake is found, and distml finds nothing in distml."""
    here = Workspace(distml, outputs)
    (commands,) = blocks("bazel.md", "sh here")
    (distml / "planted").mkdir()
    here.write(planted__BUILD='py_library(name = "bad", srcs = ["bad.py"])\n', planted__bad=PLANTED)
    try:
        done = here.shell(commands.replace("//...", "//planted/..."))
        assert done.returncode == 1 and "planted/bad.py:2:1: error[SHP101]" in done.stderr, done.stderr[-3000:]
        shutil.rmtree(distml / "planted")
        done = here.shell(commands)
        assert done.returncode == 0, done.stderr[-3000:]
        assert (distml / "bazel-bin" / "bazel" / "dev" / "distml.distml.json").read_text() == "[]\n"
    finally:
        here.run("shutdown")
