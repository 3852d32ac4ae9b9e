"""An editor shows of a document what `distml check` says of its file once it is saved, in units of UTF-16."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from distml.cli.main import main

pytestmark = pytest.mark.requires("pygls", "pytest_lsp")

BAD = "import torch\n\nx = torch.zeros(2, 3) @ torch.zeros(2, 3)\n"
FUNCTION = "import torch\n\ndef f(x):\n    '😀'; return x @ torch.zeros(5, 3)\n"

KNOWN = '{"path": "a.py", "code": "SHP101", "in": "", "text": "x = torch.zeros(2, 3) @ torch.zeros(2, 3)", "count": 1}'

PROJECTS: dict[str, dict[str, str]] = {
    "a finding": {"a.py": BAD},
    "nothing": {"a.py": "import torch\nprint(torch.zeros(2))\n"},
    "no tensors": {"a.py": "import os\n"},
    "characters beyond UTF-16's units": {"a.py": 'import torch\ns = "😀😀"; x = torch.zeros(2, 3) @ torch.zeros(2, 3)\n'},
    "tabs": {"a.py": "import torch\nif True:\n\tx = torch.zeros(2, 3) @ torch.zeros(2, 3)\n"},
    "line separators that are none": {"a.py": "import torch\ns = '\u2028\x0c\x85'\nx = torch.zeros(2, 3) @ torch.zeros(2, 3)\n"},
    "carriage returns": {"a.py": BAD.replace("\n", "\r\n")},
    "a byte order mark": {"a.py": "\ufeff" + BAD},
    "over several lines": {"a.py": "import torch\nx = torch.matmul(\n    torch.zeros(2, 3),\n    torch.zeros(2, 3),\n)\n"},
    "a syntax error": {"a.py": "import torch\nx = (\n"},
    "a NUL": {"a.py": "import torch\n\0\n"},
    "an unknown encoding": {"a.py": "# coding: nonsense\nimport torch\n"},
    "another encoding": {"a.py": "# coding: latin-1\n" + BAD.replace("x =", 's = "é"; x =')},
    "suppressed": {"a.py": BAD.rstrip() + "  # distml: ignore[SHP101]\n"},
    "a comment for nothing": {"a.py": "import torch\nx = torch.zeros(2)  # distml: ignore[SHP101]\n"},
    "the whole file ignored": {"a.py": "# distml: ignore-file\n" + BAD},
    "an ignored rule": {"a.py": BAD, "pyproject.toml": '[tool.distml]\nignore = ["SHP101"]\n'},
    "selected rules": {"a.py": BAD, "pyproject.toml": '[tool.distml]\nselect = ["SPM"]\n'},
    "ignored for a file": {"a.py": BAD, "pyproject.toml": '[tool.distml.per-file-ignores]\n"a*" = ["SHP101"]\n'},
    "excluded": {"a.py": BAD, "pyproject.toml": '[tool.distml]\nexclude = ["a.py"]\n'},
    "ignored by git": {"a.py": BAD, ".gitignore": "a.py\n", "pyproject.toml": "[tool.distml]\nrespect-gitignore = true\n"},
    "too large": {"a.py": BAD, "pyproject.toml": "[tool.distml]\nmax-file-size = 10\n"},
    "a package": {
        "pkg/a.py": "from pkg.b import f\n" + BAD,
        "pkg/b.py": "def f(x): ...\n",
        "pkg/__init__.py": "",
    },
    "roots of imports": {
        "a.py": "from b import f\nimport torch\nf(torch.zeros(2, 3))\n",
        "lib/b.py": FUNCTION,
        "pyproject.toml": '[tool.distml]\nsrc = ["lib"]\n',
    },
    "in another file": {"a.py": "import torch\nfrom b import f\nf(torch.zeros(2, 4))\n", "b.py": FUNCTION},
    "births in a function": {"a.py": FUNCTION + "f(torch.zeros(2, 3))\n"},
    "a baseline": {
        "a.py": BAD + BAD.replace("x", "y"),
        "pyproject.toml": '[tool.distml]\nbaseline = "known.json"\n',
        "known.json": f'{{"version": 1, "findings": [{KNOWN}]}}\n',
    },
    "a stub": {"a.pyi": BAD},
    "ranks": {"a.py": "import torch.distributed as dist\nif dist.get_rank() == 0:\n    dist.barrier()\n"},
    "a fix": {"a.py": "import torch\nn = 4\nx = torch.zeros(n / 2, 3)\n"},
}  # fmt: skip


def saved(folder: Path, files: dict[str, str]) -> Path:
    """The project on disk; the file that is open."""
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        coding = "latin-1" if "latin-1" in text else "utf-8"
        (folder / name).write_bytes(text.encode(coding))
    return folder / next(iter(files))


def units(path: Path, line: int, column: int) -> tuple[int, int]:
    """A place in lines from 0 and units of UTF-16, read off the file."""
    data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    text = data.decode("latin-1" if b"latin-1" in data else "utf-8")
    lines = text.replace("\r\n", "\n").split("\n")
    return line - 1, len(lines[line - 1][: column - 1].encode("utf-16-le")) // 2


def expected(folder: Path, found: list[dict[str, Any]]) -> list[Any]:
    """What an editor is to show, from what the command says; columns of what cannot be read are not asked for."""
    return sorted(
        (
            each["path"],
            each["code"],
            each["severity"].capitalize(),
            each["message"],
            units(folder / each["path"], each["line"], each["column"]),
            units(folder / each["path"], each["end_line"], each["end_column"]),
            [(one["path"], one["message"], units(folder / one["path"], one["line"], one["column"])) for one in each["related"]],
        )
        for each in found
    )  # fmt: skip


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What an editor shows of each project, none of whose open files is on disk: the server has their texts from it alone."""
    from server.editor import Editor, editing

    top = tmp_path_factory.mktemp("projects")

    async def scenario(editor: Editor) -> dict[str, list[Any]]:
        for name, files in PROJECTS.items():
            path = saved(top / name, files)
            text = path.read_bytes().decode("latin-1" if name == "another encoding" else "utf-8")
            path.unlink()
            await editor.findings(editor.open(path, text), 1)
            assert not path.exists()
        assert not [each for each in editor.logged if "SRC2" in each]
        return {name: of_project(editor, (top / name).as_uri() + "/") for name in PROJECTS}

    return editing(None, scenario)


def of_project(editor: Any, prefix: str) -> list[Any]:
    def at(place: Any) -> tuple[int, int]:
        return place.line, place.character

    return sorted(
        (
            uri.removeprefix(prefix),
            each.code,
            each.severity.name,
            each.message.partition("\nhelp: ")[0],
            at(each.range.start),
            at(each.range.end),
            [
                (one.location.uri.removeprefix(prefix), one.message, at(one.location.range.start))
                for one in each.related_information
            ],
        )
        for uri, every in editor.shown.items()
        if uri.startswith(prefix)
        for each in every[-1].diagnostics
    )


@pytest.mark.parametrize("name", list(PROJECTS))
def test_the_editor_shows_what_the_command_says(
    name: str,
    tmp_path: Path,
    shown: dict[str, list[Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = saved(tmp_path, PROJECTS[name])
    monkeypatch.chdir(tmp_path)
    main(["check", "--no-cache", "--format", "json", str(path.relative_to(tmp_path))])
    assert shown[name] == expected(tmp_path, json.loads(capsys.readouterr().out))


def test_a_finding_names_its_rule_and_leads_to_its_page(tmp_path: Path) -> None:
    from distml.diagnostics.registry import rule
    from distml.server.documents import path_of

    from server.editor import Editor, editing

    async def scenario(editor: Editor) -> None:
        (found,) = await editor.findings(editor.open(tmp_path / "a.py", BAD), 1)
        assert (found.source, found.code) == ("distml", "SHP101")
        page = Path(path_of(found.code_description.href) or "")
        assert page.read_text("utf-8").endswith(rule("SHP101").documentation.strip() + "\n")
        assert not (tmp_path / "a.py").exists()

    editing(tmp_path, scenario)
