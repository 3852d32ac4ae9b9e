"""The aspect, as another project uses it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from bazel.conftest import ASPECT, Workspace, ran

pytestmark = pytest.mark.requires("bazel", "git")

NET = """\
import torch.nn as nn

class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, 10)

    def forward(self, x):
        return self.fc(x)
"""
APP = """\
import torch
from lib.net import Net

net = Net(128)
net(torch.zeros(4, 128))
"""
BAD = APP.replace("4, 128", "4, 96")
LIB_BUILD = 'py_library(name = "lib", srcs = ["net.py"], visibility = ["//visibility:public"])\n'
APP_BUILD = """\
py_library(name = "app", srcs = ["app.py"], deps = ["//lib"])
py_library(name = "apart", srcs = ["apart.py"], deps = ["//lib"])
"""
PROGRAM = {
    "lib__BUILD": LIB_BUILD,
    "lib__net": NET,
    "app__BUILD": APP_BUILD,
    "app__app": APP,
    "app__apart": "import torch\n",
}


def test_findings_fail_the_build_and_reports_stay(workspace: Workspace) -> None:
    workspace.write(**{**PROGRAM, "app__app": BAD, "app__apart": "import torch\n\nx = torch.zeros(8 / 2)\n"})
    done = workspace.build("--output_groups=+distml_report,+distml_sarif", "--keep_going", "//...")
    assert done.returncode == 1
    assert "lib/net.py:9:16: error[SHP401]" in done.stderr
    (finding,) = workspace.findings("app/app")
    assert (finding["path"], finding["line"], finding["code"]) == ("lib/net.py", 9, "SHP401")
    assert "app.py:5:20" in workspace.output("app/app.distml.txt")
    assert '"ruleId": "SHP401"' in workspace.output("app/app.distml.sarif")
    assert workspace.output("app/app.distml.patch") == ""
    assert workspace.findings("lib/lib") == []
    assert [(each["code"], bool(each["fix"])) for each in workspace.findings("app/apart")] == [("SHP603", True)]
    patch = workspace.output("app/apart.distml.patch")
    subprocess.run(["git", "apply", "-"], input=patch, cwd=workspace.folder, text=True, check=True)
    assert (workspace.folder / "app" / "apart.py").read_text() == "import torch\n\nx = torch.zeros(8 // 2)\n"
    assert workspace.build("//app:apart").returncode == 0


def test_edits_rerun_what_read_the_file(workspace: Workspace) -> None:
    workspace.write(**PROGRAM)
    assert ran(workspace.build("//...")) <= {"//lib:lib", "//app:app", "//app:apart"}
    assert ran(workspace.build("//...")) == set()
    workspace.write(lib__net="# why this net\n" + NET)
    assert ran(workspace.build("//...")) == {"//lib:lib"}
    workspace.write(lib__net=NET.replace("n):", "n, bias=True):"))
    assert ran(workspace.build("//...")) == {"//lib:lib", "//app:app"}
    workspace.write(app__app=APP + "# the end\n")
    assert ran(workspace.build("//...")) == {"//app:app"}


def test_a_report_that_shows_a_place_follows_it(workspace: Workspace) -> None:
    workspace.write(**{**PROGRAM, "app__app": BAD})
    assert workspace.build("//...").returncode == 1
    workspace.write(lib__net="# one line more\n" + NET)
    done = workspace.build("--keep_going", "//...")
    assert ran(done) == {"//lib:lib", "//app:app"}
    assert "lib/net.py:10:16: error[SHP401]" in done.stderr


@pytest.mark.parametrize("strategy", ["worker", "sandboxed", "local", "worker_sandboxing"])
def test_undeclared_files_are_not_read(workspace: Workspace, strategy: str) -> None:
    """`lib/hidden.py` would be imported by Python, and by distml were it among the sources."""
    main = BAD.replace("lib.net", "lib.hidden")
    workspace.write(lib__BUILD=LIB_BUILD, lib__net=NET, lib__hidden=NET, app__app=main + f"# {strategy}\n")
    workspace.write(app__BUILD='py_library(name = "app", srcs = ["app.py"], deps = ["//lib"])\n')
    (workspace.folder / "app" / "pyproject.toml").write_text("not TOML: distml would stop at it\n")
    how = ["--worker_sandboxing"] if strategy == "worker_sandboxing" else [f"--strategy=Distml={strategy}"]
    assert workspace.build(*how, "//...").returncode == 0
    workspace.write(lib__BUILD=LIB_BUILD.replace('"net.py"', '"net.py", "hidden.py"'))
    assert workspace.build(*how, "//...").returncode == 1


def test_tag_flags_and_configuration(workspace: Workspace) -> None:
    workspace.write(**{**PROGRAM, "app__app": BAD})
    assert workspace.build("--@distml//bazel:ignore=feature-mismatch", "//...").returncode == 0
    assert workspace.build("--@distml//bazel:select=SHP1,CHO", "//...").returncode == 0
    assert workspace.build("--@distml//bazel:select=SHP4", "//...").returncode == 1
    assert "no rule has the code" in workspace.build("--@distml//bazel:select=XYZ", "//...").stderr
    (workspace.folder / "lib" / "distml.toml").write_text('[tool.distml.per-file-ignores]\n"net.py" = ["SHP401"]\n')
    workspace.write(lib__BUILD=LIB_BUILD + 'exports_files(["distml.toml"])\n')
    assert workspace.build("--@distml//bazel:config=//lib:distml.toml", "//...").returncode == 0
    workspace.write(app__BUILD=APP_BUILD.replace('"//lib"]', '"//lib"], tags = ["no-distml"]', 1))
    assert workspace.build("//...").returncode == 0


def test_a_test_of_targets(workspace: Workspace) -> None:
    load = 'load("@distml//bazel:shape.bzl", "distml_test")\n'
    workspace.write(**{**PROGRAM, "app__BUILD": load + APP_BUILD + 'distml_test(name = "t", srcs = [":app"])\n'})
    assert workspace.run("test", "//app:t").returncode == 0
    workspace.write(app__app=BAD)
    done = workspace.run("test", "--test_output=errors", "//app:t")
    assert done.returncode == 3
    assert "error[SHP401]" in done.stdout
    workspace.write(app__app=APP)
    assert workspace.run("test", ASPECT, "//app:t", "//app").returncode == 0


def test_imports_and_generated_files(workspace: Workspace) -> None:
    """Folders that `imports` adds, and sources that a rule writes: read where they lie, and not checked."""
    rule = 'genrule(name = "make", srcs = ["net.py.in"], outs = ["src/net.py"], cmd = "cp $< $@")\n'
    library = 'py_library(name = "lib", srcs = [":make"], imports = ["src"], visibility = ["//visibility:public"])\n'
    workspace.write(lib__BUILD=rule + library, app__BUILD=APP_BUILD, app__apart="import torch\n")
    (workspace.folder / "lib" / "net.py.in").write_text(NET)
    workspace.write(app__app=BAD.replace("lib.net", "net"))
    done = workspace.build("--keep_going", "//app:app")
    assert done.returncode == 1
    assert "bazel-out/k8-fastbuild/bin/lib/src/net.py:9:16: error[SHP401]" in done.stderr


def test_the_disk_cache_serves_after_clean(workspace: Workspace, tmp_path: Path) -> None:
    workspace.write(**{name: text + "# not built before\n" for name, text in PROGRAM.items()})
    cache = f"--disk_cache={tmp_path}/cache"
    workspace.build(cache, "//...")
    workspace.run("clean")
    done = workspace.build(cache, "//...")
    assert done.returncode == 0
    processes = done.stderr.rpartition("processes:")[2].partition("\n")[0]
    assert "cache hit" in processes and "worker" not in processes
