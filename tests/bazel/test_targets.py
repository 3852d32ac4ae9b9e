"""Whatever a BUILD file may say of Python files: what is wrong in them is found once, and nothing else stands in the way."""

from __future__ import annotations

import json

import pytest
from bazel.conftest import ASPECT, Workspace

pytestmark = pytest.mark.requires("bazel", "git")

WRONG = "import torch\n\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n"
LOADS = 'load("@rules_python//python:defs.bzl", "py_binary", "py_library", "py_test")\n'
NAMES = ["sub/deep/x", "a.b", "a+b", "a=b", "a,b", "a@b", "~a", "a b", "A", "distml", "x.distml", "(a)", "#a", "[a]"]
ODD = LOADS + "".join(f'py_library(name = "{name}", srcs = ["odd{n}.py"])\n' for n, name in enumerate(NAMES))
KINDS = (
    LOADS
    + """
exports_files(["shared.py"])
filegroup(name = "group", srcs = ["grouped.py", "notes.txt"])
genrule(name = "make", outs = ["made.py"], cmd = "printf 'import torch\\\\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\\\\n' > $@")
py_library(name = "by_group", srcs = [":group"])
py_library(name = "generated", srcs = [":make", "uses_made.py"])
py_library(name = "chosen", srcs = select({"//conditions:default": ["chosen.py"]}))
py_library(name = "nothing")
py_library(name = "only_deps", deps = [":by_group", ":nothing"])
py_binary(name = "program", srcs = ["program.py"], deps = [":only_deps"])
py_binary(name = "started", srcs = ["start_here.py"], main = "start_here.py")
py_test(name = "program_test", srcs = ["program_test.py"], deps = [":generated"])
py_library(name = "left", srcs = ["left.py"], tags = ["no-distml"])
alias(name = "other_name", actual = ":chosen")
test_suite(name = "all_tests", tests = [":program_test"])
"""
)
ELSEWHERE = (
    LOADS
    + 'py_library(name = "elsewhere", srcs = ["//kinds:shared.py"])\npy_library(name = "chosen", srcs = ["chosen.py"])\n'
)
BROKEN = (
    LOADS
    + 'py_library(name = "broken", srcs = ["broken.py"])\n'
    + 'py_library(name = "above", srcs = ["above.py"], deps = [":broken"])\n'
)
FOLDERS = {"odd": ODD, "kinds": KINDS, "elsewhere": ELSEWHERE, "broken": BROKEN}


def reported(workspace: Workspace) -> list[str]:
    """The files in which something was found, from all reports."""
    found = []
    made = workspace.folder / "bazel-bin"
    for path in sorted(path for each in FOLDERS for path in (made / each).rglob("*.distml.json")):
        found += [each["path"] for each in json.loads(path.read_text())]
    return sorted(found)


def test_targets_of_any_kind_and_name(workspace: Workspace) -> None:
    for n in range(len(NAMES)):
        write(workspace, f"odd/odd{n}.py", WRONG)
    wrong = "shared grouped chosen program start_here program_test uses_made".split()
    for name in wrong:
        write(workspace, f"kinds/{name}.py", WRONG)
    write(workspace, "kinds/left.py", WRONG)
    write(workspace, "kinds/notes.txt", "x")
    write(workspace, "elsewhere/chosen.py", WRONG)
    write(workspace, "broken/broken.py", "def f(:\n")
    write(workspace, "broken/above.py", "import broken.broken\n" + WRONG)
    for folder, text in FOLDERS.items():
        write(workspace, f"{folder}/BUILD", text)
    done = workspace.run("build", ASPECT, "--keep_going", "//...")
    assert done.returncode == 1, done.stderr
    expected = [f"odd/odd{n}.py" for n in range(len(NAMES))] + [f"kinds/{name}.py" for name in wrong]
    expected += ["elsewhere/chosen.py", "broken/broken.py", "broken/above.py"]
    assert reported(workspace) == sorted(expected), done.stderr[-5000:]


NET = "import torch.nn as nn\n\ndef make(n):\n    return nn.{layer}\n"
USES = "import torch\nfrom {module} import make\nmake(3)(torch.zeros(2, 4))\n"
OTHER = 'py_library(name = "{0}", srcs = ["{0}.py"], visibility = ["//visibility:public"])\n'
APART = """
py_library(name = "follows", srcs = ["follows.py"], deps = ["@other//pkg:far", "@other//pkg:wrong"])
py_library(name = "first", srcs = ["own.py"], deps = ["@other//pkg:net", "//pkg:net"])
py_library(name = "last", srcs = ["own.py"], deps = ["//pkg:net", "@other//pkg:net"])
alias(name = "far", actual = "@other//pkg:wrong")
"""


def test_other_repositories_are_read_and_not_checked(workspace: Workspace) -> None:
    """What both repositories have, `pkg/net.py`, is that of the target's own, in whatever order it names them."""
    for name, text in {
        "net": NET.format(layer="Linear(n, 9)"),
        "far": NET.format(layer="Linear(n, 9)"),
        "wrong": WRONG,
    }.items():
        write(workspace, f"../other/pkg/{name}.py", text)
    write(workspace, "../other/pkg/BUILD", LOADS + "".join(map(OTHER.format, ("net", "far", "wrong"))))
    write(workspace, "pkg/net.py", NET.format(layer="Identity()"))
    write(workspace, "pkg/BUILD", LOADS + OTHER.format("net"))
    write(workspace, "elsewhere/follows.py", USES.format(module="pkg.far"))
    write(workspace, "elsewhere/own.py", USES.format(module="pkg.net"))
    write(workspace, "elsewhere/BUILD", LOADS + APART)
    done = workspace.run("build", ASPECT, "--keep_going", "//...")
    assert done.returncode == 1, done.stderr
    found = {
        name: [each["path"] for each in workspace.findings(f"elsewhere/{name}")]
        for name in ("follows", "first", "last")
    }
    assert found == {"follows": ["elsewhere/follows.py"], "first": [], "last": []}, done.stderr[-5000:]


def write(workspace: Workspace, name: str, text: str) -> None:
    path = workspace.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
