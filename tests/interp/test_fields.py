"""Constructors that a decorator writes: every way to declare a field with every way to give it, against the real libraries.

Each program is run for real and checked; calls that raise are left out of it.
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

import pytest

from interp.differential import compare_runs
from interp.programs import errors_of, revealed

HEAD = """
import dataclasses
from dataclasses import KW_ONLY, InitVar, asdict, dataclass, field
import attr
import attrs
from attrs import define, frozen, mutable
"""
FORMS = {
    "@dataclass": "field",
    "@dataclass(kw_only=True)": "field",
    "@dataclass(frozen=True)": "field",
    "@define": "attrs.field",
    "@frozen": "attrs.field",
    "@mutable(kw_only=True)": "attrs.field",
    "@define(auto_attribs=True)": "attr.field",
    "@attr.s": "attr.ib",
    "@attr.s(auto_attribs=True)": "attr.ib",
    "@attr.attrs(kw_only=True)": "attr.attrib",
    "@attr.dataclass": "attr.ib",
    "@attr.frozen": "attr.field",
}
BODIES = {
    "annotated": "    rows: int\n    width: int = 4\n    depth: int = {field}(default=2)\n",
    "made": "    rows = {field}()\n    width = {field}(default=4)\n    depth = {field}(default=2)\n",
    "by name": "    depth: int = {field}(default=2, kw_only=True)\n    rows: int = {field}()\n    width: int = 4\n",
    "not taken": "    rows: int = {field}()\n    depth: int = {field}(init=False, default=2)\n    width: int = 4\n",
    "factories": "    rows: int = {field}()\n    width: int = {field}({factory}=lambda: 4)\n    depth: int = 2\n",
    "private": "    rows: int = {field}()\n    _width: int = {field}(default=4)\n    depth: int = {field}(default=2)\n",
    "converted": "    rows: int = {field}(converter=int)\n    width: int = 4\n    depth: int = {field}(default=2)\n",
    "after": (
        "    rows: int = {field}()\n    width: int = {field}(default=4)\n    depth: int = {field}(default=2)\n"
        "    def {after}(self):\n        object.__setattr__(self, 'width', self.rows + 1)\n"
    ),
}
CALLS = ["3", "rows=3", "3, 5", "3, width=5", "rows=3, depth=6, width=5", "3, 5, 6", ""]


def program(form: str, body: str) -> str:
    """The class, and the calls that the library admits."""
    made = FORMS[form]
    names = {
        "field": made,
        "factory": "default_factory" if made == "field" else "factory",
        "after": "__post_init__" if made == "field" else "__attrs_post_init__",
    }
    width = "_width" if body == "private" else "width"
    text = f"{HEAD}\n{form}\nclass Config:\n{BODIES[body].format(**names)}\n"
    space: dict[str, object] = {}
    try:
        exec(text, space)
    except Exception:
        return ""
    for call in CALLS:
        vague = "  # vague" if body == "converted" else ""
        lines = f"c = Config({call})\nreveal_shape(c.rows){vague}\nreveal_shape(c.{width})\nreveal_shape(c.depth)\n"
        copy = "dataclasses.replace" if made == "field" else "attrs.evolve"
        dicts = "asdict" if made == "field" else "attrs.asdict"
        lines += f"reveal_shape({dicts}(c)['rows']){vague}\nreveal_shape({copy}(c, rows=8).rows){vague}\n"
        try:
            exec(lines, {**space, "reveal_shape": lambda _: None})
        except Exception:
            continue
        text += lines
    return text


@pytest.mark.requires("attrs")
@pytest.mark.parametrize("form", FORMS)
def test_fields_are_as_in_the_library(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = every = 0
    for body in BODIES:
        text = program(form, body)
        if "reveal_shape" not in text:
            continue
        compared, problems = compare_runs(text, tmp_path, monkeypatch)
        assert not problems, "\n".join([text, *problems])
        one, among = compared.exact()
        exact, every = exact + one, every + among
    assert every and exact / every > 0.8, (exact, every)


@pytest.mark.parametrize("form", ["@define", "@attr.s"])
def test_a_field_is_a_size(form: str) -> None:
    text = program(form, "made")
    text += "import torch\nc = Config(rows=3)\ntorch.nn.Linear(c.width, 2)(torch.zeros(5, {}))\n"
    assert errors_of(text.replace("{}", "4")) == []
    assert [each.code for each in errors_of(text.replace("{}", "7"))] == ["SHP401"]


def test_dicts_of_objects_within_objects() -> None:
    text = (
        "import torch\nfrom dataclasses import asdict, dataclass, field\n\n@dataclass\nclass Inner:\n    width: int = 4\n\n"
        "@dataclass\nclass Outer:\n    inner: Inner = field(default_factory=Inner)\n"
        "    parts: list = field(default_factory=lambda: [Inner(5)])\n\n"
        "d = asdict(Outer())\ntorch.zeros(2, d['inner']['width']) @ torch.zeros({}, 1)\n"
        "torch.zeros(2, d['parts'][0]['width']) @ torch.zeros({}, 1)\n"
    )
    assert errors_of(text.format(4, 5)) == []
    assert [each.code for each in errors_of(text.format(3, 5))] == ["SHP101"]
    assert [each.code for each in errors_of(text.format(4, 4))] == ["SHP101"]


MEMBERS = """
import enum
import torch

class Width(enum.IntEnum):
    SMALL = 4
    LARGE = enum.auto()

class Kind(int, enum.Enum):
    FIRST = 6

"""


@pytest.mark.requires("torch")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("torch.nn.Linear(Width.SMALL, 3)(torch.zeros(2, {}))", "SHP401"),
        ("torch.zeros(2, Width.SMALL) @ torch.zeros({}, 1)", "SHP101"),
        ("torch.zeros((2, Kind.FIRST)) @ torch.zeros({} + 2, 1)", "SHP101"),
        ("torch.zeros(2, Width.LARGE) @ torch.zeros({} + 1, 1)", "SHP101"),
        ("torch.zeros(2, 8).view(2, 2, Width.SMALL) @ torch.zeros({}, 1)", "SHP101"),
    ],
)
def test_members_that_are_numbers_are_sizes(line: str, code: str) -> None:
    for size, expected in ((4, []), (5, [code])):
        text = MEMBERS + line.format(size) + "\n"
        try:
            exec(text, {})
            failed = False
        except RuntimeError:
            failed = True
        assert failed is bool(expected)
        assert [each.code for each in errors_of(text)] == expected


MODEL = """
from typing import Annotated, Optional
from pydantic import BaseModel, BeforeValidator, Field, field_validator, model_validator

class Inner(BaseModel):
    width: int = 8

class Base(BaseModel):
    rows: int = 3
"""
PARTS = """
class Config(BaseModel):
    inner: Inner = Inner()
    sizes: list[int] = [1]
    pair: tuple[int, ...] = (1,)
    both: tuple[int, str] = (1, "a")
    other: Optional[Inner] = None
    last: int | None = None
    rate: float = 0.5

"""
GIVEN_PARTS = [
    "inner={'width': 5}",
    "inner=Inner(width=4), sizes=[3, 4]",
    "**{'inner': {'width': 6}, 'sizes': (3, 4, 5)}",
    "inner={'width': '7'}",
    "sizes=['3', 4]",
    "pair=[2, 3]",
    "both=(2, 'b')",
    "other={'width': 5}, last=None",
    "other={}, last=7",
    "last='7', rate=2",
    "last=True",
]
MODELS = {
    "plain": "    width: int = 32\n    depth: int = Field(default=2, ge=1)\n",
    "required": "    width: int\n    depth: int = Field(2, le=9)\n",
    "other types": "    width: float = 32\n    depth: Optional[int] = 2\n",
    "text": "    width: str = '32'\n    depth: int = Field(default_factory=lambda: 2)\n",
    "annotated": "    width: Annotated[int, BeforeValidator(lambda v: v + 1)] = 32\n    depth: int = 2\n",
    "validated": (
        "    width: int = 32\n    depth: int = 2\n\n    @field_validator('width')\n    @classmethod\n"
        "    def more(cls, value):\n        return value + 1\n"
    ),
    "validated whole": (
        "    width: int = 32\n    depth: int = 2\n\n    @model_validator(mode='after')\n    def more(self):\n"
        "        self.width += 1\n        return self\n"
    ),
    "after": "    width: int = 32\n    depth: int = 2\n\n    def model_post_init(self, _):\n        self.width += 1\n",
}
GIVEN = [
    "",
    "depth=4",
    "width=16",
    "width='16'",
    "width=16.0",
    "width=True",
    "depth=3, width=16",
    "width=16, rows=5",
    "width=16, depth='4'",
]


@pytest.mark.requires("pydantic")
@pytest.mark.parametrize("model", MODELS)
def test_what_a_model_of_pydantic_holds(model: str) -> None:
    head = f"{MODEL}\nclass Config(Base):\n{MODELS[model]}\n    inner: Inner = Inner()\n\n"
    known = 0
    for given in GIVEN:
        text = f"{head}c = Config({given})\n" + "".join(
            f"reveal_shape(c.{name})\n" for name in ("width", "depth", "rows", "inner.width")
        )
        space: dict[str, object] = {"reveal_shape": lambda _: None}
        try:
            exec(text, space)
        except Exception:
            continue
        config = space["c"]
        for name, seen in zip(("width", "depth", "rows"), revealed(text), strict=False):
            if seen.lstrip("-").isdecimal():
                assert int(seen) == getattr(config, name), (given, name)
                known += 1
    assert known >= (9 if model in ("plain", "required") else 0), known


@pytest.mark.requires("pydantic")
@pytest.mark.parametrize("given", GIVEN_PARTS)
def test_models_within_models(given: str) -> None:
    space: dict[str, object] = {}
    made = f"{MODEL}{PARTS}c = Config({given})\n"
    exec(made, space)
    config = space["c"]
    for part in ("inner.width", "sizes", "pair", "both", "last", "rate"):
        (said,) = revealed(f"{made}reveal_shape(c.{part})\n")
        real = repr(attrgetter(part)(config)).replace(",)", ")")
        assert said.removeprefix("int ") == real or said.startswith(("unknown", "list of", "c.")), (part, said, real)


@pytest.mark.requires("pydantic")
@pytest.mark.parametrize("given", ["Config(**raw)", "Config.model_validate(raw)", "Config.parse_obj(raw)"])
def test_a_dict_becomes_the_model_that_is_asked_for(given: str) -> None:
    made = f"{MODEL}{PARTS}raw = {{'inner': {{'width': 6}}, 'sizes': [2, 3], 'other': {{'width': 9}}}}\nc = {given}\n"
    shown = "reveal_shape(c.inner.width)\nreveal_shape(c.sizes)\nreveal_shape(c.other.width)\n"
    assert revealed(made + shown) == ["6", "[2, 3]", "9"]


@pytest.mark.requires("pydantic")
@pytest.mark.parametrize(
    "written",
    [
        "@computed_field\n    @property\n    def c(self) -> int:\n        return self.a * 2",
        "@computed_field\n    def c(self) -> int:\n        return self.a * 3",
        "@computed_field(alias='x')\n    @property\n    def c(self) -> int:\n        return self.a + 1",
        "@computed_field(repr=False)\n    def c(self) -> int:\n        return self.a + 2",
        "@computed_field\n    @cached_property\n    def c(self) -> int:\n        return self.a + 5",
        "@pydantic.fields.computed_field\n    @property\n    def c(self) -> int:\n        return self.a - 1",
    ],
)
def test_a_computed_field_is_a_property(written: str) -> None:
    text = (
        "from functools import cached_property\nimport pydantic.fields\nfrom pydantic import BaseModel, computed_field\n"
        f"class Config(BaseModel):\n    a: int = 3\n    {written}\nc = Config(a=7)\n"
    )
    space: dict[str, object] = {}
    exec(text, space)
    assert revealed(f"{text}reveal_shape(c.c)\n") == [str(attrgetter("c")(space["c"]))]


MEMBERS_OF_UNIONS = """
from typing import Annotated, List, Literal, Optional, Union
import typing as t
from pydantic import BaseModel, Field, field_validator
import pydantic

class Conv(BaseModel):
    kind: Literal["conv"] = "conv"
    out: int
    kernel: int = 3

class Pool(BaseModel):
    kind: Literal["pool", "avg"] = "pool"
    size: int = 2

class Told(BaseModel):
    out: int
    steps: list[int] = [1]

    @field_validator("out", mode="before")
    @classmethod
    def of_text(cls, value):
        return 7 if value is None else value

Layer = Union[Conv, Pool]
Either: t.TypeAlias = Conv | Pool | None
Size = Annotated[int, Field(gt=0)]

class Config(BaseModel):
    FIELD
"""
UNIONS = {
    "one: Layer": ["{'out': 4}", "{'kind': 'conv', 'out': 4}", "{'kind': 'avg', 'size': 5}", "{}", "Pool(size=9)"],
    "one: Annotated[Layer, Field(discriminator='kind')]": ["{'kind': 'conv', 'out': 4}", "{'kind': 'pool'}"],
    "one: List[Layer]": ["[{'kind': 'pool'}, {'kind': 'conv', 'out': 6}, Conv(out=3)]", "[{'out': 1}, {'size': 2}]"],
    "one: Either = None": ["None", "{'kind': 'avg'}", "{'kind': 'conv', 'out': 2, 'size': 4}"],
    "one: Optional[Layer] = None": ["None", "{'out': 3, 'kernel': 5}"],
    "one: t.Union[int, str, list[int]]": ["3", "'3'", "[3, 4]", "True", "2.0", "(3, 4)"],
    "one: int | list[Size] | Conv": ["3", "[4, 5]", "{'out': 8}", "'6'"],
    "one: Literal['a', 2] | Size": ["'a'", "2", "3", "True"],
    "one: Union[float, int]": ["2", "2.5", "'2'"],
    "one: Union[Told, Pool]": ["{'out': None}", "{'out': 3, 'size': 4}", "{'kind': 'avg'}"],
    "one: Annotated[Union[Conv, Pool], pydantic.Field()]": ["{'out': 5}"],
    "one: Size": ["4"],
}
KNOWN_AT_LEAST = 23


@pytest.mark.requires("pydantic")
def test_a_union_keeps_what_its_member_makes() -> None:
    known = 0
    for asked, values in UNIONS.items():
        for given in values:
            made = f"{MEMBERS_OF_UNIONS.replace('FIELD', asked)}\nraw = {{'one': {given}}}\nc = Config.model_validate(raw)\n"
            space: dict[str, object] = {}
            exec(made, space)
            (said,) = revealed(f"{made}reveal_shape(c.one)\n")
            known += _is_so(said, space["c"].one)  # type: ignore[attr-defined]
    assert known >= KNOWN_AT_LEAST, known


def _is_so(said: str, real: object) -> bool:
    """Whether a value is known, and as it is; objects are shown by their classes."""
    if said.startswith(("unknown", "c.", "list of", "bool", "field")):
        return False
    parts = [type(each).__name__ if hasattr(each, "model_dump") else repr(each) for each in _listed(real)]
    assert said.removeprefix("int ") == (f"[{', '.join(parts)}]" if isinstance(real, list) else parts[0]), (said, real)
    return True


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


@pytest.mark.requires("pydantic")
def test_objects_of_two_models_are_told_apart() -> None:
    asked = "isinstance(Conv(out=1), Pool), isinstance(Conv(out=1), Conv), isinstance(Pool(), (Conv, Told))"
    program = MEMBERS_OF_UNIONS.replace("FIELD", "one: Layer")
    assert revealed(f"{program}reveal_shape(({asked}))\n") == ["(False, True, False)"]
