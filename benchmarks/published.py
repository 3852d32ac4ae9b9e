"""The tool published with "Gradual Tensor Shape Checking", as torch ships it, asked the same questions.

torch.fx.experimental.migrate_gradual_types turns a traced graph into constraints for z3. It gives each
input a number, in order from 1, by which further constraints can speak of it.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """An answer ("static", "none", or why there is none) and the seconds it took."""

    verdict: str
    seconds: float


def migrates(model: Any) -> str:
    """Whether there is any migration."""
    solver = _constrained(model)
    return "static" if _answer(solver) == "sat" else "none"


def static(
    model: Any, ranks: Mapping[int, int], sizes: Callable[[dict[int, list[Any]]], list[Any]] | None = None
) -> str:
    """Whether there is a static migration where each input has so many axes.

    `sizes` makes further constraints of the sizes of each input, which are z3's integers.
    """
    import z3
    from torch.fx.experimental.migrate_gradual_types.z3_types import D, tensor_type

    solver = _constrained(model)
    names: dict[int, list[Any]] = {}
    for number, rank in ranks.items():
        names[number] = [z3.Int(f"size_{number}_{axis}") for axis in range(rank)]
        make = getattr(tensor_type, f"tensor{rank}")
        solver.add(z3.Const(number, tensor_type) == make(*(D(1, n) for n in names[number])))
    solver.add(*(sizes(names) if sizes else ()))
    return {"sat": "static", "unsat": "none"}.get(_answer(solver), "unknown")


def _constrained(model: Any) -> Any:
    import torch.fx
    import z3
    from torch.fx.experimental.migrate_gradual_types.transform_to_z3 import transform_all_constraints

    solver = z3.Solver()
    solver.add(transform_all_constraints(torch.fx.symbolic_trace(model), counter=0))
    return solver


def _answer(solver: Any) -> str:
    return str(solver.check())


def limited(ask: Callable[[Any], str], model: Any, limit: float) -> Asked:
    """An answer about a model, from a process of its own, which is ended after so many seconds."""
    # Otherwise every process would import them, and count that.
    import torch.fx.experimental.migrate_gradual_types.transform_to_z3  # noqa: F401

    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work() -> None:
        begun = time.perf_counter()
        try:
            verdict = ask(model)
        except Exception as error:
            verdict = f"fails ({type(error).__name__})"
        sender.send((verdict, time.perf_counter() - begun))

    process = context.Process(target=work)
    begun = time.perf_counter()
    process.start()
    sender.close()
    try:
        if receiver.poll(limit):
            return Asked(*receiver.recv())
        return Asked(f"not in {limit:g} s", time.perf_counter() - begun)
    except EOFError:
        return Asked("ends without an answer", time.perf_counter() - begun)
    finally:
        process.kill()
        process.join()
