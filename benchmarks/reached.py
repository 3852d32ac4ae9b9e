"""Runs the models of torchvision and transformers whose source has tests that were found dead, while these say what they are.

The libraries are imported and run by this process alone; distml's checks never do that.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import SourceFileLoader
from inspect import signature
from typing import Any

Place = tuple[str, int, int, bool]
"""The end of a file's path, the line and column of a test, and the answer that was found for it."""
IMAGES = (
    (2, 3, 224, 224),
    (1, 3, 64, 64),
    (0, 3, 224, 224),
    (2, 3, 299, 299),
    (2, 1, 224, 224),
    (3, 224, 224),
    (1, 3, 8, 7),
)
CLIPS = ((1, 3, 16, 112, 112), (2, 3, 16, 224, 224), (1, 3, 4, 32, 32), (3, 16, 112, 112))
TEXTS = ((2, 16), (1, 1), (0, 4), (1, 700), (16,))
OPERATORS = tuple(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor" for name in ("nms", "qnms"))
"""What torchvision declares in C++, for a torch that it was not built for; its models on the meta device need no more."""


def run_models(libraries: Sequence[str], dead: Sequence[tuple[str, int, int, bool]]) -> dict[Place, set[bool]]:
    """What each of these tests came to, over all models and inputs that were tried."""
    seen: dict[Place, set[bool]] = {(file, line, column, answer): set() for file, line, column, answer in dead}
    with_sources_that_tell(seen)
    import torch

    declared = torch.library.Library("torchvision", "DEF")
    for each in OPERATORS:
        tried(lambda: declared.define(each))  # noqa: B023
    homes = {
        each
        for file, *_ in dead
        for each in (file.removesuffix(".py"), file.rpartition("/")[0])
        if "/" in each and not each.endswith("models")
    }
    for library in libraries:
        built, ran = 0, 0
        for name, make, inputs in MODELS[library]():
            if not any(each in name.replace(".", "/") for each in homes):
                continue  # its source has no such test
            model = tried(make)
            built += model is not None
            ran += sum(tried(lambda: model(each)) is not None for each in inputs) if model is not None else 0  # noqa: B023
            print(f"{library} {name}", file=sys.stderr, flush=True)
        print(f"\n{library}: {built} models built, {ran} runs came to their end")
    return seen


def with_sources_that_tell(seen: dict[Place, set[bool]]) -> None:
    """Let files with such tests be compiled so that each test notes what it comes to."""
    compiled, described = SourceFileLoader.source_to_code, SourceFileLoader.path_stats

    def stats(self: Any, path: Any) -> Any:
        if any(str(path).endswith("/" + each[0]) for each in seen):
            raise OSError("compiled anew")  # else what was compiled before would be loaded
        return described(self, path)

    def telling(self: Any, data: Any, path: Any, *, _optimize: int = -1) -> Any:
        places = {each[1:3]: each for each in seen if str(path).endswith("/" + each[0])}
        if not places:
            return compiled(self, data, path, _optimize=_optimize)
        tree = ast.parse(data)
        for node in ast.walk(tree):
            if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
                place = places.get((node.lineno, node.col_offset + 1))
                if place is not None:
                    noted = ast.Call(ast.Name("distml_note_", ast.Load()), [node.test, ast.Constant(place)], [])
                    node.test = ast.copy_location(noted, node.test)
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    def note(value: Any, place: Place) -> bool:
        answer = bool(value)
        seen[place].add(answer)
        return answer

    import builtins

    builtins.__dict__["distml_note_"] = note
    SourceFileLoader.path_stats = stats  # type: ignore[method-assign,assignment]
    SourceFileLoader.source_to_code = telling  # type: ignore[method-assign,assignment]
    sys.dont_write_bytecode = True


def tried(call: Callable[[], Any]) -> Any:
    """What a call gives, None where it fails: many inputs are meant to be refused."""
    try:
        return call()
    except Exception:
        return None


def _torchvision() -> Iterator[tuple[str, Callable[[], Any], list[Any]]]:
    import torch
    import torchvision

    with_backbone = {
        name
        for name in torchvision.models.list_models()
        if "weights_backbone" in signature(torchvision.models.get_model_builder(name)).parameters
    }
    for name in torchvision.models.list_models():
        for training in (False, True):

            def make(name: str = name, training: bool = training) -> Any:
                parts = {"weights_backbone": None} if name in with_backbone else {}  # else its weights are loaded
                with torch.device("meta"):
                    return torchvision.models.get_model(name, weights=None, **parts).train(training)

            shapes = CLIPS if "3d" in name or "mvit" in name or name.startswith(("r2plus", "mc3", "s3d")) else IMAGES
            images = [torch.zeros(each, device="meta") for each in shapes]
            home = torchvision.models.get_model_builder(name).__module__
            yield f"{home} {name}", make, [*images, *([each] for each in images if each.ndim == 3)]


def _transformers() -> Iterator[tuple[str, Callable[[], Any], list[Any]]]:
    import torch
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    for name, configuration in CONFIG_MAPPING.items():
        for training in (False, True):

            def make(configuration: Any = configuration, training: bool = training) -> Any:
                with torch.device("meta"):
                    return transformers.AutoModel.from_config(configuration()).train(training)

            texts = [torch.zeros(each, dtype=torch.long, device="meta") for each in TEXTS]
            yield (
                f"{configuration.__module__} {name}",
                make,
                [*texts, *(torch.zeros(each, device="meta") for each in IMAGES[:4])],
            )


MODELS = {"torchvision": _torchvision, "transformers": _transformers}
