"""The three ways to write the shape of a parameter.

jaxtyping: `x: Float[Tensor, "b 3 h w"]`, with names for what is equal. torch.fx: `x: TensorType([Dyn, 3, Dyn, Dyn])`, as
its gradual type checker reads it, which has no names. A comment: `# distml: x: float[b, 3, h, w]`, which changes nothing
at run time and which distml reads.
"""

from __future__ import annotations

from distml.rewrites.axes import jaxtyping_axes
from distml.rewrites.existing import Room
from distml.rewrites.imports import Imports
from distml.rewrites.model import Annotation
from distml.rewrites.refused import Refused

# An integer tensor may be unsigned: `Int` of jaxtyping is signed only, `Integer` is both.
_DTYPES = {"float": "Float", "int": "Integer", "bool": "Bool", "complex": "Complex", None: "Shaped"}


def jaxtyping(annotation: Annotation, room: Room, imports: Imports) -> str:
    """`Float[Tensor, "b 3 h w"]`, with `| None` where the parameter may be None."""
    head = room.head or imports.name("jaxtyping", _DTYPES[annotation.dtype])
    array = room.array or imports.name("torch", "Tensor")
    return f'{head}[{array}, "{jaxtyping_axes(annotation)}"]' + (" | None" if room.optional else "")


def fx(annotation: Annotation, room: Room, imports: Imports) -> str:
    """`TensorType([Dyn, 3, Dyn, Dyn])`, or `Dyn` where the number of axes is not known. Raises `Refused` for None."""
    if room.optional:
        raise Refused("optional", "TensorType has no way to allow None")
    if annotation.dims is None:
        return imports.name("torch.fx.tensor_type", "Dyn")
    sizes = [str(d) if isinstance(d, int) else imports.name("torch.fx.tensor_type", "Dyn") for d in annotation.dims]
    return f"{imports.name('torch.fx.tensor_type', 'TensorType')}([{', '.join(sizes)}])"


def comment(name: str, annotation: Annotation, room: Room) -> str:
    """`# distml: x: float[b, 3, h, w]`, as `source/annotations_comments` reads it."""
    dims: tuple[str | int | None, ...] = ("...",) if annotation.dims is None else annotation.dims
    sizes = ", ".join("_" if dim is None else str(dim) for dim in dims)
    return f"# distml: {name}: {annotation.dtype or ''}[{sizes}]" + (" | None" if room.optional else "")
