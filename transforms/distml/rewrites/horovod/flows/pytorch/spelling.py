"""How each back end says what the ranks do together, and the import and names that takes."""

from __future__ import annotations

import ast
from typing import NamedTuple

from distml.rewrites.horovod.aspects import together
from distml.rewrites.horovod.aspects.setup import helper
from distml.rewrites.horovod.options import Backend
from distml.rewrites.horovod.plan import Plan

_AGREED = '''

def {name}(value):
    """What rank 0 says."""
    values = [value]
    {dist}.broadcast_object_list(values, src=0)
    return values[0]
'''
_ANY = '''

def {name}(value):
    """Whether something is so on any rank."""
    found = {torch}.tensor(float(bool(value)), device="cuda" if {torch}.cuda.is_available() else "cpu")
    {dist}.all_reduce(found, op={dist}.ReduceOp.MAX)
    return found.item() > 0
'''
_MEAN = '''

def {name}(value):
    """The mean over all ranks, of a number, a tensor or an array, or of each number in a list."""
    kept = [float(each) for each in value] if isinstance(value, list) else value
    kept = kept.detach() if {torch}.is_tensor(kept) else kept
    device = "cuda" if {torch}.cuda.is_available() else "cpu"
    total = {torch}.as_tensor(kept, dtype={torch}.float64, device=device).clone()
    {reduce}
    if isinstance(value, list):
        return [each.new_tensor(mean) if {torch}.is_tensor(each) else mean for each, mean in zip(value, total.tolist())]
    if {torch}.is_tensor(value):
        return total.to(value if value.is_floating_point() else value.device)
    return total.cpu().numpy() if getattr(value, "ndim", 0) else total.tolist()
'''
_SUM = '''

def {name}(value):
    """The sum over all ranks, of a number, a tensor or an array."""
    kept = value.detach() if {torch}.is_tensor(value) else {torch}.tensor(value, dtype={torch}.float64)
    total = kept.to("cuda" if {torch}.cuda.is_available() else "cpu", copy=True)
    {reduce}
    if getattr(value, "ndim", 0) and not {torch}.is_tensor(value):
        return total.cpu().numpy().astype(value.dtype)
    return total.to(value.device) if {torch}.is_tensor(value) else type(value)(total.item())
'''
_JOINED = """\
if {lib}.is_tensor(value):
        return {lib}.cat([part.to(value.device) for part in parts])
    if hasattr(value, "dtype"):
        return {lib}.cat([{lib}.as_tensor(part) for part in parts]).numpy()"""
_AVERAGE = '''

def {name}(optimizer):
    """Gradients become their means over all ranks, all of them in one operation."""
    gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
    if not gradients:
        return
    flat = {torch}.cat([gradient.reshape(-1) for gradient in gradients])
    {reduce}
    for gradient, mean in zip(gradients, flat.split([gradient.numel() for gradient in gradients])):
        gradient.copy_(mean.view_as(gradient))
'''
_FILLED = '''

def {name}(optimizer):
    """A gradient that this rank lacks and another has, since a layer took no part here, is zero."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    {parts}
    for p, *used in zip(parameters, *parts):
        if p.grad is None and any(used):
            p.grad = {torch}.zeros_like(p)
'''
_BROADCAST = '''

def {name}(tensors):
    """Tensors become those of rank 0."""
    for tensor in tensors:
        {broadcast}
'''


class _Way(NamedTuple):
    """How a back end writes what the ranks do together: an expression or statement, and the small function that it calls.

    `{code}` stands for what it is done to, `{dist}` for the back end, `{function}` for the small function.
    """

    call: str
    name: str = ""
    function: str = ""
    words: tuple[tuple[str, str], ...] = ()


def _by_function(name: str, function: str, code: str = "{code}", **words: str) -> _Way:
    return _Way(f"{{function}}({code})", name, function, tuple(words.items()))


def _flat(reduce: str) -> _Way:
    return _by_function("average_gradients", _AVERAGE, reduce=reduce)


_GROUPS = 'for group in {code}.param_groups for p in group["params"]'
_WEIGHTS = f"[p {_GROUPS}]"
_DETACHED = f"[p.detach() {_GROUPS}]"


def _each(broadcast: str) -> dict[str, _Way]:
    """What rank 0 gives to all, tensor by tensor."""
    given = {"model": "{code}.state_dict().values()", "buffers": "{code}.buffers()", "weights": _DETACHED}
    return {
        what: _by_function("broadcast_all", _BROADCAST, tensors, broadcast=broadcast) for what, tensors in given.items()
    }


_WAYS: dict[Backend, dict[str, _Way]] = {
    "horovod": {
        "any": _Way("any({dist}.allgather_object(bool({code})))"),
        "all": _Way("all({dist}.allgather_object(bool({code})))"),
        "first": _Way("{dist}.broadcast_object({code}, root_rank=0)"),
        "parts": _Way("parts = {dist}.allgather_object({code})"),
        "sum": _by_function("sum_of_ranks", _SUM, reduce="total = {dist}.allreduce(total, op={dist}.Sum)"),
        "mean": _by_function("mean_of_ranks", _MEAN, reduce="total = {dist}.allreduce(total)"),
        "gradients": _Way(f"{{dist}}.grouped_allreduce_([p.grad {_GROUPS} if p.grad is not None])"),
        "model": _Way("{dist}.broadcast_parameters({code}.state_dict(), root_rank=0)"),
        "buffers": _Way("{dist}.broadcast_parameters(dict({code}.named_buffers()), root_rank=0)"),
        "weights": _Way(f"{{dist}}.broadcast_parameters({_WEIGHTS}, root_rank=0)"),
    },
    "ddp": {
        "any": _by_function("any_rank", _ANY),
        "all": _Way("not {function}(not ({code}))", "any_rank", _ANY),
        "first": _by_function("agreed", _AGREED),
        "parts": _Way("parts = [None] * {dist}.get_world_size()\n    {dist}.all_gather_object(parts, {code})"),
        "sum": _by_function("sum_of_ranks", _SUM, reduce="{dist}.all_reduce(total)"),
        "mean": _by_function(
            "mean_of_ranks", _MEAN, reduce="{dist}.all_reduce(total)\n    total /= {dist}.get_world_size()"
        ),
        "gradients": _flat("{dist}.all_reduce(flat)\n    flat /= {dist}.get_world_size()"),
        **_each("{dist}.broadcast(tensor, src=0)"),
    },
    "accelerate": {
        "any": _Way("any({gather_object}([bool({code})]))"),
        "all": _Way("all({gather_object}([bool({code})]))"),
        "first": _Way("{broadcast_object_list}([{code}])[0]"),
        "parts": _Way("parts = {gather_object}([{code}])"),
        "sum": _by_function("sum_of_ranks", _SUM, reduce='total = {dist}.reduce(total, reduction="sum")'),
        "mean": _by_function("mean_of_ranks", _MEAN, reduce='total = {dist}.reduce(total, reduction="mean")'),
        "gradients": _flat('flat = {dist}.reduce(flat.to({dist}.device), reduction="mean")'),
        **_each("tensor.copy_({broadcast}(tensor.to({dist}.device)))"),
    },
}
_UTILITIES = ("gather_object", "broadcast_object_list", "broadcast")
"""The functions of `accelerate.utils` that a way may name."""


class Spelling(together.Spelling):
    """Writes the collectives of one plan."""

    tensors = together.Tensors("each.detach().cpu()", "each.cpu()", "found.to(each.device)", _JOINED)

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._ways = _WAYS[plan.options.backend]

    def agreed(self, node: ast.expr) -> str:
        """A template: what rank 0 finds an expression to be."""
        return self.first(node, "{}" if isinstance(node, ast.Compare) or _negated(node) else "bool({})")

    def any_rank(self, node: ast.expr) -> str:
        """A template: whether an expression holds on any rank."""
        return self._written("any", node, "{}")

    def all_ranks(self, node: ast.expr) -> str:
        """A template: whether an expression holds on all ranks."""
        return self._written("all", node, "{}")

    def first(self, node: ast.AST, code: str) -> str:
        """What an expression, given as text, is on rank 0."""
        return self._written("first", node, code)

    def mean(self, node: ast.expr) -> str:
        """A template: a number's mean over all ranks."""
        return self.mean_of(node, "{}")

    def mean_of(self, node: ast.AST, code: str) -> str:
        """The mean over all ranks of numbers, given as text."""
        return self._written("mean", node, code)

    def sum_of(self, node: ast.AST, code: str) -> str:
        """The sum over all ranks of a number, given as text."""
        return self._written("sum", node, code)

    def library(self, node: ast.AST) -> str:
        """What a file calls PyTorch."""
        return self.plan.world(node).torch

    def parts(self, node: ast.AST, value: str) -> str:
        """The statement by which `parts` becomes a list with what each rank has for `value`."""
        return self._written("parts", node, value)

    def averaged(self, node: ast.AST, optimizer: str, apart: bool) -> str:
        """Statements: the gradients of an optimizer become their means over all ranks; `apart`: a rank may lack some of them."""
        held = "[p.grad is not None for p in parameters]"
        filled = self.combined(node, "fill_gradients", _FILLED, optimizer, held) + "\n" if apart else ""
        return filled + self._written("gradients", node, optimizer)

    def broadcast_model(self, node: ast.AST, model: str) -> str:
        """Statements: the weights and buffers of a model become those of rank 0."""
        return self._written("model", node, model)

    def broadcast_buffers(self, node: ast.AST, model: str) -> str:
        """Statements: running statistics become those of rank 0."""
        return self._written("buffers", node, model)

    def broadcast_weights(self, node: ast.AST, optimizer: str) -> str:
        """Statements: what an optimizer changes becomes what it is on rank 0."""
        return self._written("weights", node, optimizer)

    def broadcast_state(self, node: ast.expr, optimizer: str) -> str:
        """Statements: the state of an optimizer becomes that of rank 0."""
        return f"{optimizer}.load_state_dict({self.first(node, f'{optimizer}.state_dict()')})"

    def _written(self, what: str, node: ast.AST, code: str) -> str:
        """What the ranks do together, written for the file of `node`, with the function and the imports that takes."""
        way = self._ways[what]
        holes = way.call + "".join(text for _, text in way.words)
        known = {each: self.utility(node, each) for each in _UTILITIES if f"{{{each}}}" in holes}
        known["dist"] = self.plan.world(node).module
        words = {word: text.format(**known) for word, text in way.words}
        function = helper(self.plan, node, way.name, way.function, **words) if way.name else ""
        return way.call.format(code=code, function=function, **known)

    def utility(self, node: ast.AST, name: str) -> str:
        """How a file calls a function of `accelerate.utils`, which it may have to import."""
        unit = self.plan.program.unit(node)
        key = (unit.source.location, f"accelerate.utils.{name}")
        if key not in self.plan.spelled:
            self.plan.world(node)
            self.plan.spelled[key] = self.plan.patch(unit.tree).free(name)
        return self.plan.spelled[key]


def _negated(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
