"""The pages of docs/ops: what distml knows of each library, read from the registry of ops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module

from distml.ops.registry import homes

TITLES = {
    "torch": "PyTorch",
    "numpy": "NumPy",
    "tensorflow": "TensorFlow",
    "keras": "Keras",
    "jax": "JAX",
    "flax": "Flax",
    "optax": "Optax",
}
TITLES |= {"einops": "einops", "python": "Python"}


def catalog() -> dict[str, str]:
    """The Markdown pages by the name of their file: one a library, and `index`."""
    libraries: dict[str, dict[str, list[str]]] = {library: {} for library in TITLES}
    for name, module in sorted(homes().items()):
        libraries[_library(module)].setdefault(module, []).append(name)
    pages = {library: _page(TITLES[library], families) for library, families in libraries.items()}
    return {"index": _index(libraries), **pages}


def _library(module: str) -> str:
    """The folder of a module: `torch` of `distml.ops.torch.view`, `keras` of `distml.ops.bindings.keras.core`."""
    return module.removeprefix("distml.ops.").removeprefix("bindings.").partition(".")[0]


def _index(libraries: Mapping[str, Mapping[str, list[str]]]) -> str:
    rows = [
        f"| [{TITLES[library]}]({library}.md) | {sum(map(len, families.values())):,} | {len(families)} |"
        for library, families in libraries.items()
    ]
    text = "The names that distml has rules for. Whatever else a program calls gives an unknown result, never an error."
    return "\n".join(["# Operations", "", text, "", "| Library | Names | Families |", "|---|---|---|", *rows]) + "\n"


def _page(title: str, families: Mapping[str, list[str]]) -> str:
    lines = [f"# {title}"]
    for module in sorted(families, key=_heading):
        lines += ["", f"## {_heading(module)}", "", *_groups(families[module])]
    return "\n".join(lines) + "\n"


def _heading(module: str) -> str:
    """What the module of a family says it is about, without the name of its library and addresses."""
    first = (import_module(module).__doc__ or module).splitlines()[0].partition("http")[0].rstrip(" .(")
    text = first.removeprefix(f"{_library(module)}: ")
    return text if "." in text.partition(" ")[0] else text[:1].upper() + text[1:]


def _groups(names: Iterable[str]) -> Iterator[str]:
    """One line for each namespace or class, its members after it."""
    spaces: dict[str, list[str]] = {}
    for name in names:
        space, _, member = name.rpartition(".")
        spaces.setdefault(space, []).append(member)
    for space, members in sorted(spaces.items()):
        yield f"- {space}: {', '.join(f'`{member}`' for member in sorted(members))}"
