"""Annotated functions run under jaxtyping with real tensors, refuse others, and are what they were to torch.fx."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distml.rewrites.annotate import annotate
from distml.rewrites.model import Annotation, Target
from distml.source.annotations_jaxtyping import parse_expression
from distml.source.annotations_model import evaluate

torch = pytest.importorskip("torch", reason="not run: needs torch")
jaxtyping = pytest.importorskip("jaxtyping", reason="not run: needs jaxtyping")
beartype = pytest.importorskip("beartype", reason="not run: needs beartype")

pytestmark = [
    pytest.mark.requires("libcst"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
SIZES = {"b": 2, "n": 6, "h": 4}
DIMS = ("b", "n", "h", 3, 1, None, "2*n", "h//2", "n - 1", "b*h + 1", "n%4", "_x")
DTYPES = {
    "float": (torch.float32, torch.bfloat16),
    "int": (torch.int64, torch.uint8),
    "bool": (torch.bool,),
    "complex": (torch.complex64,),
    None: (torch.float64, torch.int8),
}
shapes = st.none() | st.lists(st.sampled_from(DIMS), max_size=4).map(tuple)
annotations = st.builds(Annotation, shapes, st.sampled_from(list(DTYPES)))


def annotated(program: str, parameters: dict[str, Annotation], checked: bool = True, style: Any = "jaxtyping") -> Any:
    rewritten = annotate(program, [Target("f", 0, parameters)], style)
    assert not rewritten.refusals
    scope: dict[str, Any] = {"__name__": __name__}
    exec(compile(rewritten.source, "program.py", "exec", dont_inherit=True), scope)
    return jaxtyping.jaxtyped(scope["f"], typechecker=beartype.beartype) if checked else scope["f"]


def size(dim: str | int | None) -> int:
    """How long an axis is; the unknown ones are 5."""
    if isinstance(dim, int):
        return dim
    expression = parse_expression(dim) if dim else None
    return (evaluate(expression, SIZES) if expression is not None else None) or 5


def tensor(annotation: Annotation, which: int = 0) -> Any:
    dims = annotation.dims if annotation.dims is not None else (2, 7)
    dtypes = DTYPES[annotation.dtype]
    return torch.zeros([size(dim) for dim in dims], dtype=dtypes[which % len(dtypes)])


@settings(max_examples=40)
@given(x=annotations, y=annotations, z=annotations)
def test_what_fits_is_accepted(x: Annotation, y: Annotation, z: Annotation) -> None:
    f = annotated("def f(x, y=None, *, z): return x\n", {"x": x, "y": y, "z": z})
    for which in range(2):
        f(tensor(x, which), tensor(y, which), z=tensor(z, which))
        f(z=tensor(z, which), x=tensor(x, which))


@pytest.mark.parametrize(
    ("x", "y", "wrong"),
    [
        (("b", 3), ("b",), ((2, 3), (3,))),
        (("b", 3), ("b",), ((2, 4), (2,))),
        (("b", 3), ("b",), ((2, 3, 1), (2,))),
        (("n", "2*n"), (), ((2, 5), ())),
        (("n",), ("2*n",), ((2,), (5,))),
        (("2*n",), ("1", "2 * n"), ((4,), (1, 6))),
        ((None, 3), None, ((4, 2), ())),
    ],
)
def test_what_does_not_fit_is_refused(x: Any, y: Any, wrong: Any) -> None:
    f = annotated("def f(x, y): return x\n", {"x": Annotation(x, "float"), "y": Annotation(y, "float")})
    with pytest.raises((jaxtyping.TypeCheckError, beartype.roar.BeartypeCallHintViolation)):
        f(*(torch.zeros(shape) for shape in wrong))


@pytest.mark.parametrize("head", ["", "from __future__ import annotations\n", "import torch\n", "import jaxtyping\n"])
@pytest.mark.parametrize("given", ["", ": 'torch.Tensor'", ": Optional[Tensor]"])
def test_every_beginning_of_a_file(head: str, given: str) -> None:
    imports = "from typing import Optional\nfrom torch import Tensor\nimport torch\n" if given else ""
    f = annotated(f"{head}{imports}def f(x{given}=None): return x\n", {"x": Annotation(("b", 3), "float")})
    assert f(torch.zeros(2, 3)).shape == (2, 3)
    assert f() is None
    with pytest.raises((jaxtyping.TypeCheckError, beartype.roar.BeartypeCallHintViolation)):
        f(torch.zeros(2, 4))


def test_torch_fx_reads_its_types() -> None:
    program = "def f(x, y): return x + y\n"
    f: Callable[..., Any] = annotated(
        program, {"x": Annotation(("b", 3)), "y": Annotation(None)}, checked=False, style="fx"
    )
    from torch.fx import symbolic_trace
    from torch.fx.tensor_type import Dyn, TensorType

    x, y, *_ = symbolic_trace(f).graph.nodes
    assert (x.type, y.type) == (TensorType([Dyn, 3]), Dyn)


@pytest.mark.parametrize("order", list(itertools.permutations("xyz")))
def test_the_order_of_what_is_asked_does_not_matter(order: tuple[str, ...]) -> None:
    asked = {"x": Annotation(("n",)), "y": Annotation(("2*n",)), "z": Annotation(("2*n", "m"))}
    program = "def f(x, y, z): ...\n"
    expected = annotate(program, [Target("f", 1, asked)], "jaxtyping").source
    assert annotate(program, [Target("f", 1, {name: asked[name] for name in order})], "jaxtyping").source == expected
