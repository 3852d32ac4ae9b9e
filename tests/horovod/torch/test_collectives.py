"""Rewritten programs against a Horovod that only takes notes: what each rank would ask of the others, and when."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from horovod.torch.programs import CLIPPED, PROGRAMS, outcome, rewritten
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")


class Notes(types.ModuleType):
    """In the place of `horovod.torch`: one of two ranks."""

    def __init__(self, rank: int) -> None:
        super().__init__("horovod.torch")
        self.calls: list[str] = []
        self.rates: list[float] = []
        self.number = rank

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        values = {"rank": self.number, "local_rank": self.number, "size": 2}
        if name in values:
            return lambda: values[name]
        given = (lambda value: [value, value]) if name == "allgather_object" else (lambda value: value)
        return lambda value=None, *_, **__: (self.calls.append(name), given(value))[1]

    def DistributedOptimizer(self, optimizer: Any, named_parameters: Any = None) -> Any:
        """Notes when gradients are averaged: once for each step."""
        names = {id(value) for _, value in named_parameters}
        assert names == {id(value) for group in optimizer.param_groups for value in group["params"]}
        self.rates += [group["lr"] for group in optimizer.param_groups]
        step, averaged, own = optimizer.step, [False], [True]

        def synchronize() -> None:
            averaged[0] = True
            self.calls.append("gradients")

        def stepped(_: Any, *args: Any) -> Any:
            if own[0]:
                synchronize()
            assert averaged[0], "a step with gradients of one rank"
            averaged[0] = False
            return step(*args)

        @contextlib.contextmanager
        def skipped() -> Iterator[None]:
            own[0] = False
            yield
            own[0] = True

        optimizer.synchronize, optimizer.skip_synchronize = synchronize, skipped
        optimizer.step = types.MethodType(stepped, optimizer)  # schedules of PyTorch look for a method
        zero = optimizer.zero_grad
        optimizer.zero_grad = lambda: zero()
        return optimizer


def run(text: str, rank: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Notes, dict[str, Any]]:
    """Run a rewritten program as one rank of two."""
    notes, package = Notes(rank), types.ModuleType("horovod")
    package.torch = notes  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "horovod", package)
    monkeypatch.setitem(sys.modules, "horovod.torch", notes)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, "script.py", "exec"), names)
    return notes, names


@pytest.mark.parametrize("name", PROGRAMS)
def test_ranks_ask_the_same_of_each_other(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = rewritten(PROGRAMS[name])
    (first, _), (second, _) = (run(text, rank, monkeypatch) for rank in (0, 1))
    assert first.calls == second.calls
    assert first.calls[:2] == ["init", "broadcast_parameters"]
    assert len(first.calls) > 6


def test_one_average_for_each_step_and_scaled_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    notes, names = run(rewritten(CLIPPED), 1, monkeypatch)
    assert notes.rates == [0.1]
    assert notes.calls.count("gradients") == 3 * len(names["loader"]) == 3 * 6
    assert notes.calls.count("allreduce") == notes.calls.count("allgather_object") == 3


def test_ranks_read_disjoint_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    samplers = [run(rewritten(CLIPPED), rank, monkeypatch)[1]["loader"].sampler for rank in (0, 1)]
    halves = [set(iter(sampler)) for sampler in samplers]
    assert halves[0] | halves[1] == set(range(96))
    assert not halves[0] & halves[1]
    rows = [run(rewritten(PROGRAMS["accumulated"]), rank, monkeypatch)[1]["x"] for rank in (0, 1)]
    assert torch.equal(torch.cat(rows), run(PROGRAMS["accumulated"], 0, monkeypatch)[1]["x"])


@pytest.mark.parametrize(("backend", "code"), [("horovod", "HVD201"), ("ddp", "HVD201"), ("accelerate", "HVD202")])
@pytest.mark.parametrize("name", PROGRAMS)
def test_twice_is_once(name: str, backend: Any, code: str) -> None:
    again = outcome(rewritten(PROGRAMS[name], backend), backend)
    assert not again.files
    assert {each.code for each in again.plan.refusals} == {code}


LINES = st.lists(
    st.sampled_from(["# a comment", "unused = [1,2 ,3]", "", "names = {'a':1}", "if x is None : pass"]), max_size=4
)


@settings(max_examples=5)
@given(LINES, LINES)
def test_other_lines_stay_as_they_are(above: list[str], below: list[str]) -> None:
    program = CLIPPED.replace("best = 1e9\n", "\n".join([*above, "best = 1e9", *below, ""]))
    lines = rewritten(program).splitlines()
    for line in (*above, *below, "best = 1e9", "        loss.backward()"):
        assert line in lines
