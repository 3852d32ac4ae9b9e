"""Weights that nothing broadcasts: those of models that no optimizer changes, and copies made before training.

What rank 0 gives to the others are the weights that are trained. A target network, a teacher, the first state of an average
and whatever else is taken of weights before that must be the same on all ranks from the beginning.
"""

from __future__ import annotations

import ast
import re

from distml.rewrites.horovod.aspects.purposes import Walk
from distml.rewrites.horovod.aspects.uniform import Uniform
from distml.rewrites.horovod.flows.pytorch.seeds import drawn
from distml.rewrites.horovod.flows.pytorch.study import Study
from distml.training.callsites import called
from distml.training.syntax import method_name, targets_of
from distml.training.values import Class

_MODEL = re.compile(r"torch\.nn\.(?!utils\.|init\.|functional\.)(\w+\.)*[A-Z]\w*\(\)")
_SELF = re.compile(rf"{_MODEL.pattern}\.(apply|cuda|cpu|to|train|eval|half|float|double|requires_grad_)")
"""Methods that give the model itself."""
_WEIGHTS = re.compile(
    rf"{_MODEL.pattern}(\.\w+)*\.(weight|bias|((named_)?(parameters|buffers)|state_dict)\(\)(\.(values|items)\(\))?(\[\])*)"
    r"(\.data|\.detach\(\))*"
)
"""Paths of weights that change with those of the model."""
_KEEPING = frozenset("clone tolist numpy deepcopy cat stack parameters_to_vector".split())
"""Calls that take from weights what stays when they change."""
_INTO = frozenset({"copy_", "load_state_dict"})
"""Methods that take it from what they are given."""
_RANDOM = re.compile(
    r"torch\.nn\.(modules\.\w+\.)?(parameter\.Parameter|Parameter|Lazy\w+|\w*Linear|Conv\w+|Embedding\w*|RNN|LSTM|GRU|\w+Cell|Transformer\w*"
    r"|MultiheadAttention)"
)
"""What is made with weights that are drawn."""


class Copies:
    """Tells where weights are drawn or taken that no rank gives to the others."""

    def __init__(self, study: Study) -> None:
        self.study, self.program = study, study.program
        self.makers, self.uniform = {maker for step in study.steps for maker in step.makers}, Uniform(study.program)

    def any(self) -> bool:
        """Whether there are such."""
        return any(
            (self._kept(call) or self._untrained(call)) and self.study.before.holds(call) for call in self.program.calls
        )

    def _kept(self, call: ast.Call) -> bool:
        """Whether a call keeps what weights are, or what a model makes of something with them."""
        names = self.program.names
        if any(_MODEL.fullmatch(name) for name in names(call.func)):
            return True
        name = called(call, self.program)
        if name not in _KEEPING | _INTO or (name == "load_state_dict" and self._from_file(call)):
            return False
        owner = [call.func.value] if isinstance(call.func, ast.Attribute) and name not in _INTO else []
        found = (each for part in (*owner, *call.args) for each in self.program.sources(part))
        return any(_WEIGHTS.fullmatch(name) or _MODEL.fullmatch(name) for each in found for name in names(each))

    def _untrained(self, call: ast.Call) -> bool:
        """Whether a call makes a model with weights that goes to no optimizer."""
        made = self.program.classes(call)
        if self.program.matches(call.func, _SELF) or not any(_draws(each, self.study) for each in made):
            return False
        lines = {base for each in made for base in self.program.own_bases(each)}
        if any(lines & set(self.program.ancestors(maker)) for maker in self.makers) or self._filled(
            call
        ):  # its own optimizer
            return False
        walk = _Given(self.program)
        walk.follow(call, ())
        return not any(node in self.makers for node, _ in walk.seen)

    def _from_file(self, call: ast.Call) -> bool:
        """Whether a model is given all of its weights by what a file says to all ranks."""
        return len(call.args) == 1 and not call.keywords and self.uniform.holds(call.args[0])

    def _filled(self, made: ast.Call) -> bool:
        """Whether the model that a call makes is filled from a file under its name."""
        names = {ast.unparse(each) for each in targets_of(self.program.statement(made))}
        function = self.program.function(made)
        calls = (
            each for each in self.program.calls if method_name(each) == "load_state_dict" and self._from_file(each)
        )
        return any(
            ast.unparse(each.func.value) in names and self.program.function(each) is function  # type: ignore[attr-defined]
            for each in calls
        )


class _Given(Walk):
    """Where a model goes: into other models, and with its parameters into optimizers."""

    def _given(self, node: ast.AST, call: ast.Call, stack: tuple[ast.Call, ...]) -> None:
        super()._given(node, call, stack)
        if any(isinstance(value, Class) for value in self.program.of(call.func)):
            self._to([call], stack)

    def _called(self, call: ast.Call, stack: tuple[ast.Call, ...]) -> None:
        if not self.program.matches(call.func, _MODEL):
            self._to([call], stack)


def _draws(owner: Class, study: Study) -> bool:
    """Whether objects of a class are models whose weights are drawn where they are made."""
    own = study.program.own_bases(owner)
    return study.is_model(owner) and any(drawn(study, each, _RANDOM, 2) for each in own)
