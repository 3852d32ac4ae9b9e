"""Gives every name that the user chose another one: variables, parameters, functions, classes, attributes of own classes.

A string is one name wherever it stands for something of the user's, in all modules of the program. It keeps its spelling
where the program reaches it by text (`getattr`, `__all__`), where a library calls by it, and where nobody can tell whose it
is. What a library owns stays: its attributes, the keywords of its calls, options of command lines and what they become.
"""

from __future__ import annotations

import ast
import builtins
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from distml.source.bindings import arguments
from distml.training.program import Program
from distml.training.unit import Unit
from distml.training.values import Callable, Class, Foreign, Instance, Module, Value

from renamed.text import Edits

MISLEADING = (
    "val_loader test_data train_loader wait patience best lr learning_rate opt optimizer epoch step batch acc loss tape "
    "validate train evaluate next_batch seed model checkpoint global_step max_steps is_training reuse gpu"
).split()
_BACK = re.compile(rf"(?:(?:{'|'.join(MISLEADING)})_)?zq(\d+)qz")
_BY_TEXT = frozenset({"getattr", "setattr", "hasattr", "delattr", "attrgetter", "methodcaller", "namedtuple"})
_OPEN = frozenset({"locals", "globals", "vars", "eval", "exec", "__import__"})
_GIVEN_BY_NAME = frozenset("training mask features labels mode params config inputs logs batch_size".split())
_SIGNATURES = frozenset("optimizer loss metrics x y validation_data epochs callbacks verbose steps_per_epoch".split())
_PROTOCOL = frozenset(
    """
    forward call build train_step test_step predict_step fit evaluate predict compile train eval step get_lr get_config
    from_config compute_loss compute_output_shape compute_mask add_loss add_metric add_weight state_dict load_state_dict
    zero_grad parameters named_parameters children modules to cpu cuda half float double apply register_buffer
    register_parameter train_on_batch reset_states update_state result metrics optimizer model training lr learning_rate
    iterations base_lrs last_epoch param_groups state defaults weight bias name dtype shape trainable variables
    trainable_variables trainable_weights weights layers losses inputs outputs built run start join setup prepare_data
    training_step validation_step configure_optimizers train_dataloader val_dataloader test_dataloader backward
    apply_gradients minimize validation_data params stopped_epoch stop_training extra_repr end begin before_run after_run
    after_create_session batch_size num_workers dataset sampler data targets transform target_transform root split classes
    save_weights load_weights save load summary
    class_to_idx samples loader extensions download raw_folder processed_folder collate_fn drop_last generator
    num_replicas rank seed epoch shuffle num_samples total_size daemon exitcode pid setUp tearDown encode decode
    """.split()
)


@dataclass
class Plan:
    """What becomes of each string, as a variable and as an attribute, and the places of each kind."""

    variables: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)


class Renamer:
    """Renames a program; `imports` aliases what is imported from libraries too, `misleading` gives names that suggest things."""

    def __init__(
        self,
        program: Program,
        editable: Iterable[str],
        *,
        imports: bool = False,
        misleading: int | None = None,
        plain: bool = True,
    ) -> None:
        self.program = program
        self.units = [unit for location, unit in program.units.items() if location in set(editable)]
        self.imports, self.plain = imports, plain
        self.chance = random.Random(misleading) if misleading is not None else None
        self.kept: set[str] = {"_", *dir(builtins)}
        self.kept_attributes: set[str] = set()
        self.bound: dict[str, None] = {}
        self.imported: set[str] = set()
        self.members: dict[str, None] = {}
        self._lineages: dict[ast.ClassDef, bool] = {}
        for unit in self.units:
            self._collect(unit)
        others = [unit for unit in program.units.values() if unit not in self.units]
        for unit in others:  # a name that a file which stays as it is uses must stay too
            names = {n for node in ast.walk(unit.tree) for n in _identifiers(node)}
            self.kept |= names
            self.kept_attributes |= names
        self._keep_attributes()
        self.names = self._fresh()

    # What is the user's

    def _collect(self, unit: Unit) -> None:
        open_to_text = False
        for node in ast.walk(unit.tree):
            if isinstance(node, ast.Name):
                open_to_text |= node.id in _OPEN
                self._note(node.id, node, unit, isinstance(node.ctx, ast.Load))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self._note(node.name, node, unit, False)
                if isinstance(node, ast.ClassDef):
                    self._members(node)
                else:
                    self._parameters(node)
            elif isinstance(node, ast.arg):
                self.bound[node.arg] = None
                self._note_by_text(node.annotation)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node, unit)
            elif isinstance(node, ast.Call):
                self._call(node, unit)
            elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping):
                self.kept |= {each for each in (getattr(node, "name", None), getattr(node, "rest", None)) if each}
            else:
                self._stored(node)
        if open_to_text:
            self._words(unit.tree)

    def _stored(self, node: ast.AST) -> None:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and self._instances(node.value):
                self.members[node.attr] = None
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(t, ast.Name) and t.id in ("__all__", "__slots__", "_fields_") for t in targets):
                self._words(node)
            if isinstance(node, ast.AnnAssign):
                self._note_by_text(node.annotation)

    def _note(self, name: str, node: ast.AST, unit: Unit, loads: bool) -> None:
        owner = unit.lexical.owner(name, unit.lexical.scope(node), writing=not loads)
        if owner is None:
            self.kept.add(name)
        elif isinstance(owner, ast.ClassDef):
            self.members[name] = None
        else:
            self.bound[name] = None

    def _note_by_text(self, node: ast.AST | None) -> None:
        if node is not None:
            self._words(node)

    def _words(self, node: ast.AST) -> None:
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                words = set(re.findall(r"\w+", each.value))
                self.kept |= words
                self.kept_attributes |= words

    def _members(self, node: ast.ClassDef) -> None:
        if not node.decorator_list and not any(isinstance(each, ast.AnnAssign) for each in node.body):
            return
        fields = {e.target.id for e in node.body if isinstance(e, ast.AnnAssign) and isinstance(e.target, ast.Name)}
        self.kept_attributes |= fields
        self.kept |= fields

    def _parameters(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        names = {each.arg for each in arguments(node)}
        above = self.program.parent(node)
        of_library = isinstance(above, ast.ClassDef) and self._foreign(above)
        if of_library or not self.program.calling(node):
            self.kept |= names & _GIVEN_BY_NAME
        if of_library and node.name in _PROTOCOL:  # what a library calls by keyword, it may call an override by
            self.kept |= names & _SIGNATURES

    def _import(self, node: ast.Import | ast.ImportFrom, unit: Unit) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name
            if alias.name == "*" or getattr(node, "module", "") == "__future__":
                continue
            if isinstance(node, ast.Import) and alias.asname is None and "." in alias.name:
                self.kept.add(alias.name.partition(".")[0])
                continue
            self.bound[bound] = None
            if self._library(node, alias, unit):
                self.imported.add(bound)

    def _library(self, node: ast.Import | ast.ImportFrom, alias: ast.alias, unit: Unit) -> bool:
        """Whether an import brings something of a library, or a module: its own name is no variable of the program."""
        if isinstance(node, ast.Import):
            return True
        values = self.program.module_of(unit, node.module or "", node.level)
        inside = [v for v in values if isinstance(v, Module)]
        found = [value for v in inside for value in self.program.exported(v, alias.name)]
        return not inside or any(isinstance(value, Module) for value in found)

    def _call(self, call: ast.Call, unit: Unit) -> None:
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if called in _BY_TEXT:
            self._words(call)
        if not call.keywords:
            return
        values = self.program.of(call.func)
        for keyword in call.keywords:
            if keyword.arg is None:
                for function in self._functions(values):
                    self.kept |= {each.arg for each in arguments(function)}
            elif self._takes(values, keyword.arg) is None:
                self.kept.add(keyword.arg)
                self.kept_attributes.add(keyword.arg)

    def _functions(self, values: Iterable[Value]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]:
        for value in values:
            if isinstance(value, Callable):
                yield value.node
            elif isinstance(value, Class | Instance):
                owner = value if isinstance(value, Class) else value.type
                name = ("__init__",) if isinstance(value, Class) else ("forward", "call", "__call__")
                for base in self.program.lineage(owner):
                    if isinstance(base, Class):
                        yield from (b for b in base.node.body if isinstance(b, ast.FunctionDef) and b.name in name)

    def _takes(self, values: frozenset[Value], keyword: str) -> bool | None:
        """Whether a keyword names a parameter of the user's (else of a library's); None where nobody can tell."""
        functions = list(self._functions(values))
        if functions and not any(isinstance(value, Foreign) for value in values):
            theirs = [keyword in {each.arg for each in arguments(f)} for f in functions]
            return True if all(theirs) else None
        sure = values and all(isinstance(v, Foreign) and not v.name.startswith("?") for v in values)
        return False if sure and not any("partial" in getattr(v, "name", "") for v in values) else None

    # Attributes

    def _instances(self, node: ast.expr) -> bool:
        return any(isinstance(value, Instance | Class) for value in self.program.of(node))

    def _foreign(self, node: ast.ClassDef) -> bool:
        if node not in self._lineages:
            self._lineages[node] = any(isinstance(base, Foreign) for base in self.program.lineage(Class(node)))
        return self._lineages[node]

    def _keep_attributes(self) -> None:
        foreign = any(
            isinstance(node, ast.ClassDef) and (node.bases and self._foreign(node))
            for unit in self.units
            for node in ast.walk(unit.tree)
        )
        if foreign:
            self.kept_attributes |= _PROTOCOL
            self.kept_attributes |= {each for each in self.members if each.startswith(("on_", "visit_", "do_", "log_"))}
        for unit in self.units:
            for node in ast.walk(unit.tree):
                if isinstance(node, ast.Attribute) and node.attr in self.members and self._whose(node) == "nobody":
                    self.kept_attributes.add(node.attr)

    def _whose(self, node: ast.Attribute) -> str:
        """Whose attribute this is: the user's class's, a module's, a library's, or nobody can tell."""
        values = self.program.of(node.value)
        if not values or any(isinstance(v, Foreign) and v.name.startswith("?") for v in values):
            return "nobody"
        kinds = {
            "class" if isinstance(v, Instance | Class) else "module" if isinstance(v, Module) else "library"
            for v in values
        }
        return kinds.pop() if len(kinds) == 1 else "nobody"

    # The names

    def _fresh(self) -> Plan:
        plan, number = Plan(), 0
        self.original: list[str] = []
        both = [*self.bound, *(each for each in self.members if each not in self.bound)]
        for name in both:
            if name.startswith("__") and name.endswith("__"):
                continue
            variable = name in self.bound and name not in self.kept and (self.imports or name not in self.imported)
            variable = variable and (self.plain or name in self.imported)
            member = name in self.members and name not in self.kept_attributes and self.plain
            if not (variable or member):
                continue
            word = f"{self.chance.choice(MISLEADING)}_" if self.chance else ""
            fresh = f"{word}zq{number}qz"
            self.original.append(name)
            number += 1
            if variable:
                plan.variables[name] = fresh
            if member:
                plan.attributes[name] = fresh
        return plan

    @property
    def share(self) -> tuple[int, int]:
        """How many of the user's names are changed, of how many."""
        every = {each for each in (*self.bound, *self.members) if each not in self.imported or self.imports}
        every = {each for each in every if not each.startswith("__")}
        return len(self.original), len(every)

    def back(self, text: str) -> str:
        """A text of the renamed program with the names as they were."""
        return _BACK.sub(lambda match: self.original[int(match[1])], text)

    # The text

    def renamed(self) -> Mapping[str, str]:
        """The text of each file under the new names, by location. Raises `ValueError` where a text says something else."""
        return {unit.source.location: self._rewritten(unit) for unit in self.units}

    def _rewritten(self, unit: Unit) -> str:
        edits = Edits(unit.source.text, unit.tree)
        for node in ast.walk(unit.tree):
            self._places(node, unit, edits)
        return edits.made()

    def _variable(self, name: str, node: ast.AST, unit: Unit, loads: bool) -> str | None:
        owner = unit.lexical.owner(name, unit.lexical.scope(node), writing=not loads)
        return (self.names.attributes if isinstance(owner, ast.ClassDef) else self.names.variables).get(name)

    def _places(self, node: ast.AST, unit: Unit, edits: Edits) -> None:
        variables = self.names.variables
        if isinstance(node, ast.Name):
            edits.identifier(node, "id", self._variable(node.id, node, unit, isinstance(node.ctx, ast.Load)))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            edits.definition(node, self._variable(node.name, node, unit, False))
        elif isinstance(node, ast.arg):
            edits.identifier(node, "arg", variables.get(node.arg))
        elif isinstance(node, ast.keyword) and node.arg:
            call = self.program.parent(node)
            if isinstance(call, ast.Call) and self._takes(self.program.of(call.func), node.arg):
                edits.identifier(node, "arg", variables.get(node.arg))
        elif isinstance(node, ast.Attribute):
            whose = self._whose(node)
            table = self.names.attributes if whose == "class" else variables if whose == "module" else {}
            edits.attribute(node, table.get(node.attr) if whose != "class" or self._owned(node) else None)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            edits.handler(node, variables.get(node.name))
        elif isinstance(node, ast.Global | ast.Nonlocal):
            edits.declared(node, variables)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                edits.alias(alias, self._library(node, alias, unit), variables)

    def _owned(self, node: ast.Attribute) -> bool:
        """Whether an attribute of an object of the user's is defined by the user: by any of its classes, or none of a library."""
        for value in self.program.of(node.value):
            owner = value.type if isinstance(value, Instance) else value if isinstance(value, Class) else None
            if owner is not None and self._foreign(owner.node) and not self._defines(owner, node.attr):
                return False
        return True

    def _defines(self, owner: Class, name: str) -> bool:
        store = self.program.store
        own = [base.node for base in self.program.lineage(owner) if isinstance(base, Class)]
        return any(
            store.read("attribute", each, name)
            or store.read("name", each, name)
            or name in self.program.unit(each).lexical.names(each)
            for each in own
        ) or any(
            isinstance(n, ast.Attribute) and n.attr == name and isinstance(n.ctx, ast.Store)
            for each in own
            for n in ast.walk(each)
        )


def _identifiers(node: ast.AST) -> Iterator[str]:
    for name in ("id", "attr", "arg", "name", "asname"):
        found = getattr(node, name, None)
        if isinstance(found, str):
            yield found
