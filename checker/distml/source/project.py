"""The files of a project and the imports between them.

`Project` finds the file behind an import the way Python would, among the files of the project only: the standard
library is unknown (`None`), and installed packages are asked for apart (`installed`). It remembers which paths decided
each answer, the absent ones too, so that a cached result can be told to be stale when one of them changes. One `Project`
serves any number of checked files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from distml.source.file import SourceFile
from distml.source.files import Disk, Files, Replaced
from distml.source.installed import Environment, Installed
from distml.source.libraries import TENSOR_LIBRARIES
from distml.source.notebook import limit_of
from distml.source.reading import DEFAULT_MAX_FILE_SIZE, UnreadableError
from distml.source.roots import Layout, layout, upward

MODELS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "models")
MODELLED = frozenset(
    """PIL _arrays _dispatch absl accelerate addict click configparser contextvars easydict fire hydra matplotlib ml_collections
    munch omegaconf pandas pathlib scipy sklearn thop torchinfo torchsummary typer""".split()
)
"""Libraries whose module is a short program in `source/models`, where the project has none."""
MODELLED_PARTS = frozenset(
    {"torchvision.datasets", "torchvision.pictures", "torchvision.transforms", "torchvision.transforms.v2"}
)
"""Modules of libraries that are followed where they are installed, but for these."""


MODELLED_WITHIN = frozenset(
    """huggingface_hub.dataclasses torchvision.extension torchvision.models.feature_extraction
    transformers.activations transformers.cache_utils
    transformers.configuration_utils transformers.generation transformers.integrations transformers.masking_utils
    transformers.modeling_layers transformers.models.auto.auto_factory transformers.models.auto.configuration_auto
    transformers.modeling_utils transformers.utils transformers.utils.auto_docstring transformers.utils.deprecation
    transformers.utils.generic transformers.utils.import_utils transformers.utils.output_capturing""".split()
)
"""Those of which the library's own code, too, gets the program that stands for them: much that its models stand on, and little
that says what sizes they have."""
EVERY_PART = MODELLED_PARTS | MODELLED_WITHIN


def is_model(source: SourceFile) -> bool:
    """Whether a file is a short program that stands for a library."""
    return source.location.startswith(MODELS + os.sep)


def stands_for(source: SourceFile) -> str:
    """The module of a library that such a program stands for."""
    path = os.path.relpath(source.location, MODELS).removesuffix(".py").removesuffix(f"{os.sep}__init__")
    return path.replace(os.sep, ".")


MAX_ABOVE = 8
"""Folders in which a data file is looked for: that of the program, and those above it."""
INSTALLED = -1
"""Stands for the level of an import that is answered by an installed package."""


class Project:
    """Opens files and resolves imports.

    `sources` are additional source roots; `unmarked` are folders that are projects for the files in them where no file
    such as `pyproject.toml` marks one; `overlay` holds contents that replace those on disk, by real path (an editor's
    unsaved buffer), `files` stands in for the disk, `environment` is where installed packages lie. `shown` says how
    messages show files, by real path; others are shown relative to `folder` where they lie below it.
    """

    def __init__(
        self,
        folder: str | None = None,
        *,
        sources: Iterable[str] = (),
        unmarked: Iterable[str] = (),
        max_file_size: int = DEFAULT_MAX_FILE_SIZE,
        overlay: Mapping[str, bytes] | None = None,
        shown: Mapping[str, str] | None = None,
        files: Files | None = None,
        environment: Environment | None = None,
    ) -> None:
        self._disk: Files = files or Disk(overlay or {})
        self.folder = self._disk.real(folder or os.getcwd())
        self._sources = tuple(self._real(source) for source in sources)
        self._unmarked = tuple(self._real(each) for each in unmarked)
        self._limit = max_file_size
        self._names = dict(shown or {})
        self._environment = Installed(environment or Environment())
        self._files: dict[str, SourceFile | None] = {}
        self._layouts: dict[str, tuple[Layout, frozenset[str]]] = {}
        self._answers: dict[tuple[str, str, int], SourceFile | None] = {}
        self._probed: dict[str, set[str]] = {}
        self._shared: dict[str, frozenset[str]] = {}
        self._uses: dict[str, set[str]] = {}
        self._probing: set[str] = set()
        self._installing = False

    def open(self, path: str) -> SourceFile:
        """The file to check at `path`, shown as given. Raises `UnreadableError` where it is not readable text."""
        location = self._real(path)
        known = self._files.get(location)
        if known is None or known.path != path or known.installed:
            self._probing = self._probed.setdefault(location, set())
            self._installing = False
            known = self._load(location, path)
            self._files[location] = known
        return known

    def replaced(self, contents: Mapping[str, bytes]) -> Project:
        """The same files with other contents for some of them, by real path; installed packages are left out."""
        made = Project(
            self.folder,
            sources=self._sources,
            unmarked=self._unmarked,
            max_file_size=self._limit,
            shown=self._names,
            files=Replaced(self._disk, contents),
        )
        same = {location: known for location, known in self._files.items() if location not in contents}
        made._files = {location: known for location, known in same.items() if known and not known.installed}
        return made

    def search(self, folders: Iterable[str]) -> None:
        """Look for modules in these folders too, as in additional source roots."""
        self._sources = tuple(dict.fromkeys([*self._sources, *map(self._real, folders)]))
        self._layouts.clear()
        self._answers.clear()

    def forget(self, location: str) -> bool:
        """Let go of a file that has another content now; False where other files were resolved to it, which read the old one."""
        if any(location in used for each, used in self._uses.items() if each != location):
            return False
        self._answers = {key: found for key, found in self._answers.items() if key[0] != location}
        for known in (self._files, self._probed, self._shared, self._uses):
            known.pop(location, None)
        return True

    def shown_as(self, path: str) -> SourceFile | None:
        """The file opened or imported so far that messages show as `path`."""
        return self._files.get(self._real(path))

    def resolve(self, importer: SourceFile, module: str, level: int = 0) -> SourceFile | None:
        """The file that `import module` (or `from ..module import`, with `level` dots) means in `importer`.

        `None` where that is not a file of the project, or one that cannot be read. A namespace package, which has no file,
        is answered with an empty `SourceFile` whose location is its folder.
        """
        find = (lambda: self._relative(importer, module, level)) if level else lambda: self._absolute(importer, module)
        return self._answer(importer, module, level, find, importer.installed)

    def installed(self, importer: SourceFile, module: str) -> SourceFile | None:
        """The module of an installed package that `import module` means in `importer`, where that package is followed."""
        parts = module.split(".")
        if not self.follows(parts[0]):
            return None
        roots = self._environment.roots(parts[0])
        found = lambda: self._first_file(roots, parts) or self._first_namespace(roots, parts)  # noqa: E731
        return self._answer(importer, module, INSTALLED, found, True)

    def follows(self, top: str) -> bool:
        """Whether a top-level module belongs to an installed package that is followed."""
        return top.isidentifier() and top not in sys.stdlib_module_names and self._environment.follows(top)

    def _answer(
        self, importer: SourceFile, module: str, level: int, find: Callable[[], SourceFile | None], installed: bool
    ) -> SourceFile | None:
        key = (importer.location, module, level)
        if key not in self._answers:
            self._probing = self._probed.setdefault(importer.location, set())
            self._installing = installed
            found = self._answers[key] = find()
            if found is not None:
                self._uses.setdefault(importer.location, set()).add(found.location)
        return self._answers[key]

    def submodule(self, source: SourceFile, name: str) -> SourceFile | None:
        """The module `name` inside the package `source`; `None` where `source` is no package or has no such module."""
        return self.resolve(source, name, level=1) if source.is_package else None

    def model(self, module: str) -> SourceFile | None:
        """The short program in `source/models` that stands for a library; `None` where there is none."""
        parts = module.split(".")
        stands = parts[0] in MODELLED or module in EVERY_PART
        return self._first_file((MODELS,), parts) if stands else None

    def data(self, base: SourceFile, readers: Iterable[SourceFile], path: str) -> bytes | None:
        """The content of the one file that `path` may mean for a program that begins at `base`, wherever it is run from; None
        where none fits or several do, or where a link leads out of the project. What `readers` come to depends on it.

        Raises `UnreadableError`.
        """
        folder = _folder(base)
        root = self.folder if (folder + os.sep).startswith(self.folder + os.sep) else folder
        inside = (each for each in upward(folder) if (each + os.sep).startswith(root + os.sep))
        candidates = [os.path.normpath(os.path.join(each, path)) for each in islice(inside, MAX_ABOVE)]
        for reader in readers:
            self._probed.setdefault(reader.location, set()).update(candidates)
        found = {self._disk.real(each) for each in candidates if self._disk.is_file(each)}
        location = found.pop() if len(found) == 1 else None
        if location is None or not location.startswith(root.rstrip(os.sep) + os.sep):
            return None
        return self._disk.read(location, path, self._limit)

    def consulted(self, source: SourceFile) -> dict[str, frozenset[str]]:
        """What is known of `source` depends on: every file reached from it through imports resolved so far (itself
        included), with the paths looked at to resolve that file's imports, whether something was found there or not.
        """
        found: dict[str, frozenset[str]] = {}
        waiting = [source.location]
        while waiting:
            location = waiting.pop()
            if location not in found:
                found[location] = self._frozen(location)
                waiting.extend(self._uses.get(location, ()))
        return found

    def _real(self, path: str) -> str:
        return self._disk.real(os.path.join(self.folder, path))

    def _frozen(self, location: str) -> frozenset[str]:
        """The paths looked at for one file; the same object until there are more."""
        probed = self._probed.get(location, set())
        known = self._shared.get(location)
        if known is None or len(known) != len(probed):
            known = self._shared[location] = frozenset(probed)
        return known

    def _absolute(self, importer: SourceFile, module: str) -> SourceFile | None:
        parts = module.split(".")
        if not all(part.isidentifier() for part in parts) or parts[0] in sys.builtin_module_names:
            return None
        place = self._layout(_folder(importer))
        if place.only is not None and parts[0] != place.only:
            return None
        if parts[0] in sys.stdlib_module_names:
            # Only a script's own folder comes before the standard library.
            return None if place.package else self._first_file(place.roots[:1], parts)
        found = self._first_file(place.roots, parts)
        if found is None and parts[0] not in TENSOR_LIBRARIES:
            found = self._first_namespace(place.roots, parts)
        return found

    def _relative(self, importer: SourceFile, module: str, level: int) -> SourceFile | None:
        folder = _folder(importer)
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        parts = module.split(".") if module else []
        if not all(part.isidentifier() for part in parts):
            return None
        return self._first_file((folder,), parts) or self._first_namespace((folder,), parts)

    def _first_file(self, roots: Iterable[str], parts: list[str]) -> SourceFile | None:
        for root in roots:
            base = os.path.join(root, *parts)
            candidates = [os.path.join(base, "__init__.py")]
            if parts:
                candidates.append(base + ".py")
            for candidate in candidates:
                if self._is_file(candidate):
                    return self._imported(candidate)
        return None

    def _first_namespace(self, roots: Iterable[str], parts: list[str]) -> SourceFile | None:
        for root in roots:
            base = os.path.join(root, *parts)
            if self._holds_modules(base):
                return self._imported(base)
        return None

    def _imported(self, path: str) -> SourceFile | None:
        location = self._disk.real(path)
        if location not in self._files:
            try:
                self._files[location] = self._load(location, self._shown(location))
            except UnreadableError:
                self._files[location] = None
        return self._files[location]

    def _load(self, location: str, shown: str) -> SourceFile:
        folder, name = os.path.split(location)
        if self._disk.is_folder(location):
            return SourceFile(
                shown,
                location,
                b"",
                module=self._layout(location).package or name,
                is_package=True,
                installed=self._installing,
            )
        data = self._disk.read(location, shown, limit_of(shown, self._limit))
        stem = name.removesuffix(".py").removesuffix(".pyi").removesuffix(".ipynb")
        package = self._layout(folder).package
        is_package = stem == "__init__"
        module = package if is_package else ".".join(filter(None, (package, stem)))
        return SourceFile(
            shown,
            location,
            data,
            module=module or stem,
            is_package=is_package,
            limit=self._limit,
            installed=self._installing,
        )

    def _shown(self, location: str) -> str:
        if location in self._names:
            return self._names[location]
        inside = location.startswith(self.folder + os.sep)
        return location[len(self.folder) + 1 :] if inside else location

    def _layout(self, folder: str) -> Layout:
        if folder not in self._layouts:
            outer, self._probing = self._probing, set()
            found = layout(folder, self._sources, self._exists, self._unmarked)
            self._layouts[folder] = (found, frozenset(self._probing))
            self._probing = outer
        found, probed = self._layouts[folder]
        self._probing |= probed
        return found

    def _exists(self, path: str) -> bool:
        self._probing.add(path)
        return self._disk.exists(path)

    def _is_file(self, path: str) -> bool:
        self._probing.add(path)
        return self._disk.is_file(path)

    def _holds_modules(self, folder: str) -> bool:
        """Whether a folder is a namespace package: it holds a module or a package, not only data."""
        self._probing.add(folder)
        return self._disk.holds_modules(folder)


def _folder(source: SourceFile) -> str:
    """The folder relative imports of a file start from."""
    if source.is_package and not source.location.endswith(("__init__.py", "__init__.pyi")):
        return source.location
    return os.path.dirname(source.location)
