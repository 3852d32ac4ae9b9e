"""How each back end says what the ranks do together, and the import and names that takes."""

from __future__ import annotations

import ast

from distml.rewrites.horovod.aspects import together
from distml.rewrites.horovod.aspects.setup import helper
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
        return total.to(value.device)
    return total.cpu().numpy() if getattr(value, "ndim", 0) else total.tolist()
'''
_SUM = '''

def {name}(value):
    """The sum over all ranks, of a number or a tensor."""
    kept = value.detach() if {torch}.is_tensor(value) else {torch}.tensor(value, dtype={torch}.float64)
    total = kept.to("cuda" if {torch}.cuda.is_available() else "cpu", copy=True)
    {reduce}
    return total.to(value.device) if {torch}.is_tensor(value) else type(value)(total.item())
'''
_PARTS = (
    "parts = {dist}.allgather_object({value})",
    "parts = [None] * {dist}.get_world_size()\n    {dist}.all_gather_object(parts, {value})",
)
_JOINED = """\
if {torch}.is_tensor(value):
        return {torch}.cat([part.to(value.device) for part in parts])
    if hasattr(value, "dtype"):
        return {torch}.cat([{torch}.as_tensor(part) for part in parts]).numpy()"""
_SUMMED = ("total = {dist}.allreduce(total, op={dist}.Sum)", "{dist}.all_reduce(total)")
_REDUCED = ("total = {dist}.allreduce(total)", "{dist}.all_reduce(total)\n    total /= {dist}.get_world_size()")
_AVERAGE = '''

def {name}(optimizer):
    """Gradients become their means over all ranks, all of them in one operation."""
    gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
    if not gradients:
        return
    flat = {torch}.cat([gradient.reshape(-1) for gradient in gradients])
    {dist}.all_reduce(flat)
    flat /= {dist}.get_world_size()
    for gradient, mean in zip(gradients, flat.split([gradient.numel() for gradient in gradients])):
        gradient.copy_(mean.view_as(gradient))
'''
_BROADCAST = '''

def {name}(tensors):
    """Tensors become those of rank 0."""
    for tensor in tensors:
        {dist}.broadcast(tensor, src=0)
'''


class Spelling:
    """Writes the collectives of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @property
    def ddp(self) -> bool:
        """Whether it is torch.distributed that connects the ranks."""
        return self.plan.options.backend == "ddp"

    def agreed(self, node: ast.expr) -> str:
        """A template: what rank 0 finds an expression to be."""
        return self.first(node, "{}" if isinstance(node, ast.Compare) or _negated(node) else "bool({})")

    def any_rank(self, node: ast.expr) -> str:
        """A template: whether an expression holds on any rank."""
        if self.ddp:
            return f"{self._function(node, 'any_rank', _ANY)}({{}})"
        return f"any({self.plan.world(node).module}.allgather_object(bool({{}})))"

    def all_ranks(self, node: ast.expr) -> str:
        """A template: whether an expression holds on all ranks."""
        if self.ddp:
            return f"not {self._function(node, 'any_rank', _ANY)}(not ({{}}))"
        return f"all({self.plan.world(node).module}.allgather_object(bool({{}})))"

    def first(self, node: ast.AST, code: str) -> str:
        """What an expression, given as text, is on rank 0."""
        world = self.plan.world(node)
        if self.ddp:
            return f"{self._function(node, 'agreed', _AGREED)}({code})"
        return f"{world.module}.broadcast_object({code}, root_rank=0)"

    def mean(self, node: ast.expr) -> str:
        """A template: a number's mean over all ranks."""
        return self.mean_of(node, "{}")

    def mean_of(self, node: ast.AST, code: str) -> str:
        """The mean over all ranks of numbers, given as text."""
        return f"{self._function(node, 'mean_of_ranks', _MEAN)}({code})"

    def sum_of(self, node: ast.AST, code: str) -> str:
        """The sum over all ranks of a number, given as text."""
        return f"{self._function(node, 'sum_of_ranks', _SUM, _SUMMED)}({code})"

    def mean_of_each(self, node: ast.AST, code: str) -> str:
        """The mean over all ranks of each number in a container, given as text."""
        torch = self.plan.world(node).torch
        plain = f"each.detach().cpu() if {torch}.is_tensor(each) else each"
        tensor = f"if {torch}.is_tensor(each):\n            return found.to(each.device)\n        "
        return self._together(node, "mean_of_each", together.MEAN_OF_EACH, code, "numbers", plain=plain, tensor=tensor)

    def from_all(self, node: ast.AST, code: str) -> str:
        """What the lists or arrays of all ranks hold, given as text."""
        torch = self.plan.world(node).torch
        on_cpu = f"[each.cpu() if {torch}.is_tensor(each) else each for each in value]"
        held = f"{on_cpu} if isinstance(value, list) else value"
        return self._together(node, "from_all_ranks", together.FROM_ALL, code, held, joined=_JOINED.format(torch=torch))

    def sum_of_each(self, node: ast.AST, code: str) -> str:
        """The sum over all ranks of each count in a container, given as text."""
        return self._together(node, "sum_of_each", together.SUM_OF_EACH, code, "value")

    def extreme(self, node: ast.AST, code: str, choose: str) -> str:
        """The largest or smallest number of all ranks, of one given as text."""
        kind = {"max": "largest", "min": "smallest"}[choose]
        return self._together(node, f"{choose}_of_ranks", together.EXTREME, code, "value", kind=kind, choose=choose)

    def _together(self, node: ast.AST, name: str, text: str, code: str, value: str, **words: str) -> str:
        parts = _PARTS[self.ddp].format(dist=self.plan.world(node).module, value=value)
        return f"{helper(self.plan, node, name, text, parts=parts, **words)}({code})"

    def averaged(self, node: ast.AST, optimizer: str) -> str:
        """Statements: the gradients of an optimizer become their means over all ranks."""
        world = self.plan.world(node)
        if self.ddp:
            return f"{self._function(node, 'average_gradients', _AVERAGE)}({optimizer})"
        listed = f'for group in {optimizer}.param_groups for p in group["params"] if p.grad is not None'
        return f"{world.module}.grouped_allreduce_([p.grad {listed}])"

    def broadcast_model(self, node: ast.AST, model: str) -> str:
        """Statements: the weights and buffers of a model become those of rank 0."""
        world = self.plan.world(node)
        if self.ddp:
            return self._each(node, f"{model}.state_dict().values()")
        return f"{world.module}.broadcast_parameters({model}.state_dict(), root_rank=0)"

    def broadcast_buffers(self, node: ast.AST, model: str) -> str:
        """Statements: running statistics become those of rank 0."""
        world = self.plan.world(node)
        if self.ddp:
            return self._each(node, f"{model}.buffers()")
        return f"{world.module}.broadcast_parameters(dict({model}.named_buffers()), root_rank=0)"

    def broadcast_weights(self, node: ast.AST, optimizer: str) -> str:
        """Statements: what an optimizer changes becomes what it is on rank 0."""
        world = self.plan.world(node)
        if self.ddp:
            return self._each(node, f'[p.detach() for group in {optimizer}.param_groups for p in group["params"]]')
        listed = f'[p for group in {optimizer}.param_groups for p in group["params"]]'
        return f"{world.module}.broadcast_parameters({listed}, root_rank=0)"

    def _each(self, node: ast.AST, tensors: str) -> str:
        return f"{self._function(node, 'broadcast_all', _BROADCAST)}({tensors})"

    def broadcast_state(self, node: ast.expr, optimizer: str) -> str:
        """Statements: the state of an optimizer becomes that of rank 0."""
        return f"{optimizer}.load_state_dict({self.first(node, f'{optimizer}.state_dict()')})"

    def _function(self, node: ast.AST, name: str, code: str, reduced: tuple[str, str] = _REDUCED) -> str:
        """A small function that the file needs."""
        reduce = reduced[self.ddp].format(dist=self.plan.world(node).module)
        return helper(self.plan, node, name, code, reduce=reduce)


def _negated(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
