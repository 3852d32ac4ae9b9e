"""Reports: nothing that a script prints does harm where it is shown; folders are copied, not written to."""

from __future__ import annotations

import json
from pathlib import Path

from distml.smoke.folder import COPIED_FILE, copy_of
from distml.smoke.model import Report, Speed, Verdict
from distml.smoke.report import as_json, as_markdown, as_text
from distml.smoke.run import root_of

GOOD = Report(
    script="train.py",
    launcher="torchrun",
    processes=2,
    backend="gloo",
    steps=8,
    seconds=3.21,
    verdicts=(Verdict("finished", "passed", "2 processes"), Verdict("data", "unknown", "not seen")),
    speeds=(Speed(2, 10.0, 640.0), Speed(1, 8.0, None)),
    scaling=1.5,
)
BAD = Report(
    script="a`b\x1b[31m.py",
    launcher="torchrun",
    processes=2,
    backend="gloo",
    steps=0,
    seconds=1.0,
    verdicts=(Verdict("finished", "failed", "rank 0 failed: | <img src=x> @octocat\x1b[0m\nsecond"),),
    output="\n".join(str(number) for number in range(100)) + "\n\x1b]0;title\x07\n```\n::error::injected\n",
    notes=("odd | note",),
)


def test_text() -> None:
    assert as_text(GOOD).splitlines() == [
        "train.py: 2 processes, torchrun, gloo, 8 steps, 3.2 s",
        "  finished  ok       2 processes",
        "  data      unknown  not seen",
        "  speed: 10 steps/s, 640 samples/s in 2 processes",
        "  speed: 8 steps/s in 1 process",
        "  scaling: 1.50 times one process with the large batch, 75% of ideal",
    ]


def test_text_of_others_obeys_no_terminal() -> None:
    text = as_text(BAD)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert len(text.splitlines()) < 40


def test_json_can_be_read_back() -> None:
    told = json.loads(json.dumps(as_json(BAD)))
    assert told["ok"] is False
    assert told["verdicts"][0]["status"] == "failed"
    assert as_json(GOOD)["speeds"][0] == {"processes": 2, "steps": 10.0, "samples": 640.0}


def test_markdown_keeps_its_table() -> None:
    lines = as_markdown(BAD).splitlines()
    row = next(line for line in lines if line.startswith("| finished"))
    assert row.count("|") - row.count("\\|") == 4
    assert "<img" not in row.replace("\\<img", "")
    assert "@octocat" not in row
    assert as_markdown(BAD).count("````") == 2  # the output has a fence of its own


def test_a_copy_and_not_the_folder_itself(tmp_path: Path) -> None:
    source, target = tmp_path / "with space", tmp_path / "copy"
    (source / "pkg").mkdir(parents=True)
    (source / ".git").mkdir()
    (source / ".git" / "config").write_text("secret")
    (source / "train.py").write_text("one")
    (source / "pkg" / "model.py").write_text("two")
    (source / "data.bin").write_bytes(b"\0" * (COPIED_FILE + 1))
    (source / "gone").symlink_to("nowhere")
    (source / "loop").symlink_to(source)
    copy_of(source, target, {"train.py": "new", "pkg/model.py": "newer"})
    assert (target / "train.py").read_text() == "new"
    assert (target / "pkg" / "model.py").read_text() == "newer"
    assert (target / "data.bin").is_symlink()
    assert not (target / ".git").exists()
    assert (source / "train.py").read_text() == "one"
    assert (source / "pkg" / "model.py").read_text() == "two"
    (target / "train.py").write_text("spoiled")
    assert (source / "train.py").read_text() == "one"


def test_modules_beside_and_above_the_script() -> None:
    folder = Path("/project/scripts")
    assert root_of(folder, []) == folder
    assert root_of(folder, ["pkg/model.py"]) == folder
    assert root_of(folder, ["../src/model.py", "a.py"]) == Path("/project")
