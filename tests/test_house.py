"""The layout keeps to its own rules: source roots, rooms, sizes, floors."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE_ROOTS = [root for root in (ROOT / "checker" / "distml", ROOT / "transforms" / "distml") if root.is_dir()]
MODULES = sorted(path for root in SOURCE_ROOTS for path in root.rglob("*.py"))
ALL = sorted([*MODULES, *(ROOT / "tests").rglob("*.py")])
ROOMS = sorted(
    {path for root in SOURCE_ROOTS for path in root.iterdir() if path.is_dir() and path.name != "__pycache__"}
)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("root", SOURCE_ROOTS, ids=relative)
def test_the_namespace_has_no_modules_of_its_own(root: Path) -> None:
    assert [path.name for path in root.iterdir() if path.is_file()] == []


@pytest.mark.parametrize("room", ROOMS, ids=relative)
def test_a_room_is_a_typed_package(room: Path) -> None:
    assert (room / "__init__.py").is_file()
    assert (room / "py.typed").is_file()


def test_folders_with_modules_are_packages() -> None:
    folders = {path.parent for path in MODULES}
    assert [relative(folder) for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_no_file_is_longer_than_500_lines() -> None:
    lengths = {relative(path): len(path.read_text("utf-8").splitlines()) for path in ALL}
    assert {path: length for path, length in lengths.items() if length > 500} == {}


def test_no_function_is_longer_than_60_lines() -> None:
    long = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                length = node.end_lineno - node.lineno + 1
                if length > 60:
                    long[f"{relative(path)}:{node.name}"] = length
    assert long == {}


def test_every_module_says_what_it_is_for() -> None:
    silent = [relative(path) for path in MODULES if not ast.get_docstring(ast.parse(path.read_text("utf-8")))]
    assert silent == []


def test_every_room_has_a_floor() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    known = {package.removeprefix("distml.") for package in settings["root_packages"]}
    assert {room.name for room in ROOMS} <= known


HEAVY = """
torch numpy z3 libcst yaml asyncio subprocess multiprocessing concurrent threading dataclasses logging tempfile urllib
importlib.metadata distml.interp distml.ops distml.rewrites
""".split()
"""What a start does not wait for."""


@pytest.mark.parametrize("arguments", [["rules"], ["check", "--no-cache", "plain.py"]])
def test_start_up_imports_nothing_heavy(folder: Path, arguments: list[str]) -> None:
    (folder / "plain.py").write_text("import os\n")
    program = (
        f"import sys\nbefore = set(sys.modules)\nfrom distml.cli.main import main\n"
        f"try:\n    main({arguments})\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY} if name in set(sys.modules) - before], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _on_path(program)], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"


def _on_path(program: str) -> str:
    return f"import sys; sys.path[:0] = {[str(root.parent) for root in SOURCE_ROOTS]}\n{program}"


def test_run_time_dependencies_are_few_and_known() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [re.match(r"[\w-]+", each)[0] for each in project["dependencies"]] == ["libcst", "z3-solver"]


PRINTS = {"report/printing.py", "report/progress.py", "cli/worker.py", "smoke/probe/runner.py", "smoke/preflight.py"}


def test_one_module_prints() -> None:
    """What checked files hold is made safe where all commands print; others neither print nor name the streams' writers."""
    found = set()
    for root in SOURCE_ROOTS:
        for path in root.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and re.fullmatch(
                    r"print|sys\.std(out|err)(\.buffer)?\.write(lines)?", ast.unparse(node.func)
                ):
                    found.add(path.relative_to(root).as_posix())
    assert found <= PRINTS


def test_one_room_starts_git() -> None:
    """Whoever starts it elsewhere starts it without what keeps a repository's configuration out."""
    named = {
        relative(path)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.List | ast.Tuple | ast.Call)
        for each in (node.elts if not isinstance(node, ast.Call) else node.args)[:1]
        if isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and re.match(r"(\S*/)?git(\.exe)?(\s|$)", each.value)
    }
    assert named == {"checker/distml/git/clone.py"}


@pytest.mark.requires("grimp")
def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions count; those for type checkers alone do not."""
    import grimp

    rooms = [f"distml.{room.name}" for room in ROOMS]
    graph = grimp.build_graph(*rooms, exclude_type_checking_imports=True, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imported) > 800
    TopologicalSorter(imported).prepare()  # raises CycleError, which names the circle


def test_every_page_is_reached_from_the_readme() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert [page.name for page in (ROOT / "docs").glob("*.md") if f"](docs/{page.name})" not in text] == []


def test_the_readme_counts_the_names_that_have_rules() -> None:
    rows = re.findall(
        r"^\| \[(.+)\]\(.+\) \| ([\d,]+) \|", (ROOT / "docs/ops/index.md").read_text("utf-8"), re.MULTILINE
    )
    text = (ROOT / "README.md").read_text("utf-8")
    (said,) = re.findall(r"More than ([\d,]+) names of ([^(]+) have rules", text.replace("\n", " "))
    total = sum(int(number.replace(",", "")) for _, number in rows)
    assert 0 <= total - int(said[0].replace(",", "")) < 1000
    assert set(re.split(r", | and ", said[1].strip())) == {library for library, _ in rows}


@pytest.mark.parametrize("room", ["engine", "git", "action", "autofix", "training"])
def test_the_map_names_every_module_of_the_rooms_around_the_engine(room: str) -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    (folder,) = (each for each in ROOMS if each.name == room)
    names = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    assert {name for name in names if not re.search(rf"\b{name}\b", text)} == set()


def test_one_module_of_the_tests_imports_the_tests_of_pytorch() -> None:
    """They want a package that is not installed; whoever imports them elsewhere depends on which test came before."""
    found = {
        relative(path)
        for path in (ROOT / "tests").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch.testing._internal")
    }
    assert found == {"tests/ops/torch_oracle.py"}
