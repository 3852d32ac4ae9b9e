"""Calls a function right after a module was imported for the first time, so that the probe imports no framework itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from typing import Any

Hook = Callable[[Any], None]


class Wrapped(Loader):
    """A loader that runs the hooks of its module after the module."""

    def __init__(self, inner: Any, hooks: list[Hook], trouble: Callable[[str, BaseException], None]) -> None:
        self.inner = inner
        self.hooks = hooks
        self.trouble = trouble

    def create_module(self, spec: Any) -> Any:
        """As the module's own loader does."""
        return self.inner.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Run the module, then the hooks; what a hook trips over must not hurt the script."""
        module.__spec__.loader = module.__loader__ = self.inner
        self.inner.exec_module(module)
        _run(self.hooks, module, self.trouble)


class Finder(MetaPathFinder):
    """Wraps the loaders of the modules that have hooks."""

    def __init__(self, hooks: dict[str, list[Hook]], trouble: Callable[[str, BaseException], None]) -> None:
        self.hooks = hooks
        self.trouble = trouble

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any | None:
        """The spec that the other finders give, with its loader wrapped."""
        if name not in self.hooks:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self else None
            if spec is not None and spec.loader is not None:
                spec.loader = Wrapped(spec.loader, self.hooks[name], self.trouble)
                return spec
        return None


def install(hooks: dict[str, list[Hook]], trouble: Callable[[str, BaseException], None]) -> None:
    """From now on, run `hooks` by module name; at once those of modules that are imported already, inner ones first."""
    sys.meta_path.insert(0, Finder(hooks, trouble))
    for name in sorted(hooks, key=lambda name: -name.count(".")):
        if name in sys.modules:
            _run(hooks[name], sys.modules[name], trouble)


def _run(hooks: list[Hook], module: Any, trouble: Callable[[str, BaseException], None]) -> None:
    for hook in hooks:
        try:
            hook(module)
        except Exception as error:
            trouble(module.__name__, error)


def wrap(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Replace the attribute `name` of `owner` by what `make` makes of it; where there is none, nothing."""
    original = owner.__dict__.get(name) if isinstance(owner, type) else getattr(owner, name, None)
    if original is not None:
        setattr(owner, name, make(original))
