"""action.yml: its steps are executed, on repositories whose names and contents want to be more than text."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from delivery.composite import Ran, run
from delivery.prepared import prepared
from delivery.repositories import git

ROOT = Path(__file__).parents[2]
BROKEN = "import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n"
HOSTILE = "a\n::error::injected`id`${{ github.token }}\"'$(touch pwned);|é @owner.py"

pytestmark = pytest.mark.requires("bash", "git", "github_action_toolkit", "yaml")


@pytest.fixture(scope="module")
def action(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(tmp_path_factory)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "work space"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


def committed(folder: Path, **files: str) -> str:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "more")
    return git(folder, "rev-parse", "HEAD")


def annotations(ran: Ran) -> list[tuple[str, str]]:
    return [(each.name, each.properties.get("file", "")) for each in ran.commands if each.name in ("error", "warning")]


def test_findings_are_annotations_summary_and_sarif(action: Path, checkout: Path) -> None:
    committed(checkout, bad=BROKEN, fine="import json\n")
    ran = run(action, checkout, {})
    assert ran.code == 1, ran.log
    assert annotations(ran) == [("error", "bad.py")]
    assert ran.outputs == {"findings": "1", "sarif-file": "distml.sarif", "patch": ""}
    assert "| `bad.py:3:5` | error SHP101 matmul-mismatch |" in ran.summary
    results = json.loads((checkout / "distml.sarif").read_text())["runs"][0]["results"]
    assert [each["ruleId"] for each in results] == ["SHP101"]


def test_nothing_found(action: Path, checkout: Path) -> None:
    committed(checkout, fine="import json\n")
    ran = run(action, checkout, {"sarif-file": ""})
    assert (ran.code, ran.outputs) == (0, {"findings": "0", "sarif-file": "", "patch": ""}), ran.log
    assert "No problems found" in ran.summary
    assert not (checkout / "distml.sarif").exists()


def test_a_wrong_input(action: Path, checkout: Path) -> None:
    ran = run(action, checkout, {"fix": "$(touch pwned)"})
    assert ran.code == 2
    assert ran.commands[-1].message == "fix must be true or false, not '$(touch pwned)'"
    assert not list(checkout.rglob("pwned"))


def test_names_and_sources_stay_text(action: Path, checkout: Path) -> None:
    (checkout / HOSTILE).write_text(BROKEN)
    (checkout / "b.py").write_text(
        "import torch\n\nx = torch.zeros(2)['\\n::error::injected ${{ github.token }}`id`']\n"
    )
    committed(checkout)
    ran = run(action, checkout, {}, GITHUB_TOKEN="ghs_secret")
    assert ran.code == 1, ran.log
    found = [each for each in ran.commands if each.name in ("error", "warning")]
    assert all("injected" not in each.name + each.message.partition("\n")[0] or each.properties for each in found)
    assert len(found) == int(ran.outputs["findings"])
    assert "ghs_secret" not in ran.log + ran.summary
    assert not list(checkout.rglob("pwned"))
    rows = [line for line in ran.summary.splitlines() if line.startswith("| ") and "Where" not in line]
    assert len(rows) == len(found)


def test_a_hostile_name_among_the_paths(action: Path, checkout: Path) -> None:
    name = HOSTILE.replace("\n", " ")
    (checkout / name).write_text(BROKEN)
    committed(checkout, other=BROKEN)
    ran = run(action, checkout, {"paths": name})
    assert annotations(ran) == [("error", name)]
    assert not list(checkout.rglob("pwned"))


def test_modules_of_the_checkout_are_not_imported(action: Path, checkout: Path) -> None:
    evil = "import pathlib; pathlib.Path('pwned').touch()\n"
    committed(checkout, venv=evil, pip=evil, json=evil, libcst=evil, distml=evil, sitecustomize=evil)
    assert run(action, checkout, {}).code == 0
    assert not (checkout / "pwned").exists()


def test_a_link_out_of_the_checkout_in_the_place_of_the_report_is_refused(
    action: Path, checkout: Path, tmp_path: Path
) -> None:
    (tmp_path / "precious").write_text("kept")
    (checkout / "distml.sarif").symlink_to(tmp_path / "precious")
    committed(checkout, bad=BROKEN)
    assert run(action, checkout, {}).code == 2
    assert (tmp_path / "precious").read_text() == "kept"
    assert (checkout / "distml.sarif").is_symlink()


def event(folder: Path, base: str, number: int = 7) -> dict[str, str]:
    path = folder.parent / "event.json"
    path.write_text(json.dumps({"pull_request": {"number": number, "base": {"sha": base}, "title": HOSTILE}}))
    return {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(path), "GITHUB_HEAD_REF": HOSTILE}


def test_only_what_a_pull_request_changes(action: Path, checkout: Path) -> None:
    base = committed(checkout, old=BROKEN, gone=BROKEN)
    (checkout / "gone.py").unlink()
    (checkout / HOSTILE).write_text(BROKEN)
    committed(checkout, new=BROKEN)
    ran = run(action, checkout, {"changed-only": "true"}, **event(checkout, base))
    assert sorted(name for _, name in annotations(ran)) == [HOSTILE, "new.py"]
    assert len(annotations(run(action, checkout, {"changed-only": "true"}))) == 3, "no pull request: everything"


def test_a_change_without_python(action: Path, checkout: Path) -> None:
    base = committed(checkout, old=BROKEN)
    (checkout / "notes.txt").write_text("x")
    committed(checkout)
    ran = run(action, checkout, {"changed-only": "true"}, **event(checkout, base))
    assert (ran.code, ran.outputs["findings"]) == (0, "0"), ran.log


def test_a_shallow_checkout_without_access_checks_everything(action: Path, checkout: Path) -> None:
    committed(checkout, old=BROKEN)
    ran = run(action, checkout, {"changed-only": "true"}, **event(checkout, "1" * 40))
    assert annotations(ran) == [("warning", ""), ("error", "old.py")]


@pytest.mark.parametrize(
    "wrong", ["1.0; touch pwned", "$(touch pwned)", "--index-url=x", "git+https://example.org", "1\n2"]
)
def test_a_version_is_a_version(checkout: Path, wrong: str) -> None:
    ran = run(ROOT, checkout, {"version": wrong})
    assert ran.code == 2
    assert ran.commands[0].message == "version must be a full commit or a tag such as v0.1.0"
    assert not list(checkout.rglob("pwned"))


@pytest.mark.requires("zizmor", "check_jsonschema")
def test_linters_have_nothing_to_say() -> None:
    from delivery.linters import lint

    lint(ROOT / "action.yml", "vendor.github-actions")


def test_no_expression_stands_in_a_script() -> None:
    for step in yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_bash_reads_the_scripts() -> None:
    for step in yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]:
        done = subprocess.run(["bash", "-n"], input=step.get("run", ""), capture_output=True, text=True, check=False)
        assert done.stderr == ""
