"""Files that rank 0 alone writes while another rank may look for them.

Between two collectives nothing says which rank comes first. What rank 0 writes there, and all ranks look for afterwards,
may be missing or half written for the others: they have to wait in between.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from distml.source.bindings import last_name
from distml.spmd.library import ACCELERATOR
from distml.spmd.trace import Site, Touch, Trace
from distml.spmd.values import Items, Known, Place, Unknown, Value, key

Given = list[Value]
Named = dict[str, Value]


class Race(NamedTuple):
    """What looks for a file, and what writes it: nothing has the ranks wait in between."""

    looks: Place
    writes: Place
    chain: tuple[Place, ...]
    """The calls that lead to what looks for it, since what wrote it."""
    anew: bool = False
    """Whether it is read first, and written anew while another rank may still read it."""


WRITES = {
    "torch.save": (1, "f"),
    "torch.jit.save": (1, "f"),
    "torch.onnx.export": (2, "f"),
    "onnx.save": (1, "f"),
    "numpy.save": (0, "file"),
    "numpy.savez": (0, "file"),
    "numpy.savez_compressed": (0, "file"),
    "numpy.savetxt": (0, "fname"),
    "scipy.sparse.save_npz": (0, "file"),
    "joblib.dump": (1, "filename"),
    "safetensors.torch.save_file": (1, "filename"),
    "torchvision.utils.save_image": (1, "fp"),
    "torchaudio.save": (0, "uri"),
    "soundfile.write": (0, "file"),
    "matplotlib.pyplot.savefig": (0, "fname"),
    "matplotlib.pyplot.imsave": (0, "fname"),
    "matplotlib.image.imsave": (0, "fname"),
    "skimage.io.imsave": (0, "fname"),
    "scipy.misc.imsave": (0, "name"),
    "keras.utils.save_img": (0, "path"),
    "keras.preprocessing.image.save_img": (0, "path"),
    "tensorflow.data.experimental.save": (1, "path"),
    "cv2.imwrite": (0, "filename"),
    "imageio.imwrite": (0, "uri"),
    "imageio.mimsave": (0, "uri"),
    "os.makedirs": (0, "name"),
    "os.mkdir": (0, "path"),
    "os.remove": (0, "path"),
    "os.unlink": (0, "path"),
    "os.rename": (1, "dst"),
    "os.replace": (1, "dst"),
    "shutil.rmtree": (0, "path"),
    "shutil.move": (1, "dst"),
    "shutil.copy": (1, "dst"),
    "shutil.copy2": (1, "dst"),
    "shutil.copyfile": (1, "dst"),
    "shutil.copytree": (1, "dst"),
}
"""What writes, makes or removes a file or a folder, and by which argument it is told which."""
_LOOKS = {
    "os.path.exists": (0, "path"),
    "os.path.lexists": (0, "path"),
    "os.path.isfile": (0, "path"),
    "os.path.isdir": (0, "s"),
    "os.path.getsize": (0, "filename"),
    "os.path.getmtime": (0, "filename"),
    "os.listdir": (0, "path"),
    "os.scandir": (0, "path"),
    "os.walk": (0, "top"),
    "glob.glob": (0, "pathname"),
    "glob.iglob": (0, "pathname"),
    "torch.load": (0, "f"),
    "torch.jit.load": (0, "f"),
    "onnx.load": (0, "f"),
    "onnxruntime.InferenceSession": (0, "path_or_bytes"),
    "numpy.load": (0, "file"),
    "numpy.loadtxt": (0, "fname"),
    "numpy.genfromtxt": (0, "fname"),
    "pandas.read_csv": (0, "filepath_or_buffer"),
    "pandas.read_json": (0, "path_or_buf"),
    "pandas.read_pickle": (0, "filepath_or_buffer"),
    "pandas.read_table": (0, "filepath_or_buffer"),
    "pandas.read_excel": (0, "io"),
    "pandas.read_parquet": (0, "path"),
    "joblib.load": (0, "filename"),
    "safetensors.torch.load_file": (0, "filename"),
    "PIL.Image.open": (0, "fp"),
    "cv2.imread": (0, "filename"),
    "imageio.imread": (0, "uri"),
    "torchaudio.load": (0, "uri"),
    "soundfile.read": (0, "file"),
    "torchvision.datasets.ImageFolder": (0, "root"),
    "matplotlib.pyplot.imread": (0, "fname"),
    "matplotlib.image.imread": (0, "fname"),
    "skimage.io.imread": (0, "fname"),
    "scipy.misc.imread": (0, "name"),
    "IPython.display.Image": (0, "filename"),
    "keras.models.load_model": (0, "filepath"),
    "horovod.keras.load_model": (0, "filepath"),
    "keras.utils.load_img": (0, "path"),
    "keras.preprocessing.image.load_img": (0, "path"),
    "keras.utils.image_dataset_from_directory": (0, "directory"),
    "keras.utils.text_dataset_from_directory": (0, "directory"),
    "keras.utils.audio_dataset_from_directory": (0, "directory"),
    "keras.preprocessing.image_dataset_from_directory": (0, "directory"),
    "keras.preprocessing.text_dataset_from_directory": (0, "directory"),
    "tensorflow.data.Dataset.list_files": (0, "file_pattern"),
    "tensorflow.data.Dataset.load": (0, "path"),
    "tensorflow.data.experimental.load": (0, "path"),
    "tensorflow.data.experimental.make_csv_dataset": (0, "file_pattern"),
    "tensorflow.data.experimental.CsvDataset": (0, "filenames"),
    "tensorflow.data.TextLineDataset": (0, "filenames"),
    "tensorflow.data.TFRecordDataset": (0, "filenames"),
    "tensorflow.train.latest_checkpoint": (0, "checkpoint_dir"),
    "tensorflow.train.get_checkpoint_state": (0, "checkpoint_dir"),
    "tensorflow.train.import_meta_graph": (0, "meta_graph_or_file"),
    "os.rename": (0, "src"),
    "os.replace": (0, "src"),
    "shutil.move": (0, "src"),
    "shutil.copy": (0, "src"),
    "shutil.copy2": (0, "src"),
    "shutil.copyfile": (0, "src"),
    "shutil.copytree": (0, "src"),
}
"""What looks for a file or a folder, or reads it."""
_OPENS = {"h5py.File": "name"} | dict.fromkeys(
    ("builtins.open", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open"), "file"
)
"""What opens a file to read or to write it, and the name of the argument that says which."""
_LISTS = frozenset(
    "listdir scandir walk glob iglob rglob iterdir ImageFolder list_files latest_checkpoint get_checkpoint_state "
    "flow_from_directory image_dataset_from_directory text_dataset_from_directory audio_dataset_from_directory".split()
)
"""What looks at all that a folder holds."""
_ASKS = _LISTS | frozenset(
    "exists lexists isfile isdir is_file is_dir getsize getmtime stat rename replace move copy copy2 copyfile copytree".split()
)
"""What asks whether something is there, or moves it, without reading it."""
_FOLDER, _QUOTE = "all of ", "'"
_HERE = frozenset({"'", "'.", "'./"})
_ANY, _LEAST = "any of ", 3
"""Marks several things that a call is told, of which any may be a file, and the fewest letters of its name."""
HEARD = frozenset(
    {"os.popen", *(f"subprocess.{each}" for each in "run check_output Popen getoutput getstatusoutput".split())}
)
"""What runs a command whose output a program reads: it may read any file that it is told."""
RUN = frozenset({"os.system", *(f"subprocess.{each}" for each in "run call check_call".split())})
"""What runs a command: it may read or write any file that it is told."""
_TRAINING = frozenset({"fit", "fit_generator"})
"""Methods that call back what may write files."""
_SPELLED = re.compile(r"(tensorflow\.)(?:keras\.|compat\.v1\.)|horovod\.tensorflow\.keras\.")
_PATH = re.compile(r"\(*pathlib\.\w*Path\(")
_SAME = re.compile(r"(?:pathlib\.\w*Path|builtins\.str|os\.fspath)\((?P<path>[^()]*)\)")
"""A path in other words."""
_FILLED = re.compile(r"\.format\(| Mod |\bf\(")
"""Where a text that names a file begins to be filled with values."""
_SAID = re.compile(r"'[^']*'")
_PATH_WRITES = frozenset("write_text write_bytes mkdir touch unlink rmdir".split())
_PATH_LOOKS = frozenset("exists is_file is_dir stat read_text read_bytes iterdir glob rglob".split())
_TRAINS = frozenset({"backward", "step", "all_reduce", "allreduce"})
"""The events of a step of training."""
_OWN = re.compile(r"tempfile\.(?!gettempdir)")
"""The paths of files that each process has for itself."""
_SAVES = frozenset(
    "to_csv to_json to_pickle to_parquet to_excel tofile save save_weights save_pretrained savefig".split()
)
"""Methods of objects of libraries that write a file that they are told."""
_LOADS = frozenset("load_weights restore flow_from_directory".split())
"""Those that read one."""
_NAMES = frozenset(
    name.rpartition(".")[2]
    for name in (*WRITES, *_LOOKS, *_OPENS, *_PATH_WRITES, *_PATH_LOOKS, *_SAVES, *_LOADS, *_TRAINING, *HEARD, *RUN)
) - {"run", "call"}
"""The last names of all that touches files, but for those that many objects have."""


_FILLS = (
    _NAMES
    - _TRAINING
    - frozenset("makedirs mkdir touch remove unlink rename replace rmtree rmdir move system check_call".split())
)
"""Without those of what makes no file with something in it."""
FILES = {name: where for name, where in WRITES.items() if name.rpartition(".")[2] in _FILLS}
"""What writes a whole file, and by which argument it is told which."""


def touches(node: ast.AST, names: frozenset[str] = _NAMES) -> bool:
    """Whether a node may be a call that touches files, by one of some names; `function(save)(path)` may be one of `save`."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func.args[0] if isinstance(node.func, ast.Call) and len(node.func.args) == 1 else node.func
    return last_name(called) in names


def by_function(name: str, given: Given, named: Named) -> list[tuple[str, bool]]:
    """The paths that a function of a library touches, each with whether it writes there."""
    name = _SPELLED.sub(_usual, name)
    if name in _OPENS:
        return _told(name, [(_argument(0, _OPENS[name], given, named), _to_write(_argument(1, "mode", given, named)))])
    if name in HEARD | RUN:
        return [(_any(given), writes) for writes in (False, True) if name in RUN or not writes]
    found = [
        (_argument(*table[name], given, named), writes)
        for table, writes in ((_LOOKS, False), (WRITES, True))
        if name in table
    ]
    return _told(name, found)


def _usual(found: re.Match[str]) -> str:
    """How the tables spell a module that has several names."""
    return "horovod.keras." if found[0].startswith("horovod") else "keras." if "keras" in found[0] else found[1]


def by_method(receiver: Unknown, name: str, given: Given, named: Named) -> list[tuple[str, bool]]:
    """The paths that a method of an object of a library touches, each with whether it writes there: an accelerator on rank 0."""
    if receiver.type == ACCELERATOR:
        return _told(name, [(_argument(1, "f", given, named), True)] if name == "save" else [])
    if _PATH.match(receiver.key):
        if name == "open":
            return _told(name, [(receiver, _to_write(_argument(0, "mode", given, named)))])
        return _told(name, [(receiver, name in _PATH_WRITES)] if name in _PATH_WRITES | _PATH_LOOKS else [])
    if name in _TRAINING:
        return [(_any([named["callbacks"]]), True)] if "callbacks" in named else []
    told = [*given, *(named[each] for each in ("filepath", "directory", "path", "fname") if each in named)]
    if not told or name not in _SAVES | _LOADS:
        return []
    return [(_any(told), name in _SAVES)] if len(told) > 1 else _told(name, [(told[0], name in _SAVES)])


def _any(values: list[Value]) -> str:
    """Several things that a call is told, as one text: those that containers hold as well."""
    inner = (each.members if isinstance(each, Items) else [each] for each in values)
    return _ANY + "\n".join(key(each) for part in inner for each in part)


def _to_write(mode: Value | None) -> bool:
    return isinstance(mode, Known) and isinstance(mode.value, str) and bool(set(mode.value) & set("wax+"))


def _argument(position: int, name: str, given: Given, named: Named) -> Value | None:
    return given[position] if position < len(given) else named.get(name)


def races(one: Trace, other: Trace) -> list[Race]:
    """What the second rank looks for where the first has written it since the last event, and the second has not.

    Or what it reads where the first goes on to write it anew before the next event.
    """
    looked = other.given | {each.site for each in other.touched if not each.writes}
    wrote = {(each.site, each.path) for each in other.touched if each.writes}
    alone: list[Touch] = []
    read: list[Touch] = []
    found: dict[Site, Race] = {}
    for touch in one.touched:
        if touch.writes and (touch.site, touch.path) not in wrote:
            alone.append(touch)
            before = (each for each in read if each.at == touch.at and each.path == touch.path)
            if (first := next(before, None)) is not None and touches(touch.place.node, _FILLS):
                found.setdefault(first.site, Race(first.place, touch.place, _since(first, touch), anew=True))
        elif not touch.writes and touch.site in looked:
            read += [touch] if not touches(touch.place.node, _ASKS) else []
            by = next((each for each in alone if each.at == touch.at and _same(each.path, touch)), None)
            if by is not None:
                found.setdefault(touch.site, Race(touch.place, by.place, _since(touch, by)))
                alone = []  # who waits here has waited for all of them
    return [*found.values()]


def _since(touch: Touch, by: Touch) -> tuple[Place, ...]:
    """The calls that lead to a touch, without those that lead to another too."""
    led = {at.node for at in by.chain}
    return tuple(each for each in touch.chain if each.node not in led)


def made_by_all(one: Trace, other: Trace) -> list[Place]:
    """What writes a file on both ranks where they have looked for it: the second finds it missing, or half written."""
    both = {(each.site, each.path, each.at) for each in other.touched}
    asked: set[tuple[str, int]] = set()
    found: dict[Site, Place] = {}
    for touch in one.touched:
        if not touch.writes:
            asked.add((touch.path, touch.at))
        elif (touch.path, touch.at) in asked and (touch.site, touch.path, touch.at) in both:
            if touches(touch.place.node, _FILLS) and not _OWN.search(touch.path):
                found.setdefault(touch.site, touch.place)
    return [*found.values()]


def written_by_all(one: Trace, other: Trace) -> list[Place]:
    """What writes one file on both ranks at once after they have trained: what is in it then is anybody's."""
    events = [each.name for each in one.events if each.name != "turns"]
    trained = next((number for number, name in enumerate(events) if name in _TRAINS), len(events))
    both = {(each.site, each.path, each.at) for each in other.touched if each.writes}
    found = [
        each for each in one.touched if each.writes and each.at > trained and (each.site, each.path, each.at) in both
    ]
    return [each.place for each in found if touches(each.place.node, _FILLS) and not _OWN.search(each.path)]


def _same(written: str, look: Touch) -> bool:
    """Whether a file that was written is the one that is looked for, or in the folder, or among what one of the two is told."""
    if look.path.startswith(_FOLDER):
        folder = look.path.removeprefix(_FOLDER)
        return folder in written or (folder in _HERE and "/" not in written)
    if not written.startswith(_ANY) and not look.path.startswith(_ANY):
        return _template(written) == _template(look.path)
    wrote, looked = (each.removeprefix(_ANY).splitlines() for each in (written, look.path))
    return any(_names(one, other) or _names(other, one) for one in wrote for other in looked)


def _names(item: str, path: str) -> bool:
    """Whether what a call is told is a path, a command that has it as a word, or a callback that is given it."""
    if _template(item) == _template(path):
        return True
    file = path.strip(_QUOTE)
    if item[:1] == _QUOTE == path[:1] and len(file) >= _LEAST:
        return re.search(rf"(?<![\w./]){re.escape(file)}(?![\w/])", item) is not None
    return ".callbacks." in item and any(f"{mark}{path}{end}" in item for mark in "( " for end in ",)")


def _template(path: str) -> str:
    """A path whatever is put into it: files of the same name under other numbers may be the same one."""
    filled = _FILLED.search(path)
    said = path[: filled.end()] + ", ".join(_SAID.findall(path[filled.end() :])) if filled is not None else ""
    return said if _QUOTE in said else path


def _told(name: str, paths: list[tuple[Value | None, bool]]) -> list[tuple[str, bool]]:
    """The paths that are given, told apart, each with whether it is written to."""
    return [(_path_of(name, path), writes) for path, writes in paths if path is not None]


def path_of(path: Value) -> str:
    """How a path is told apart from others."""
    return _SAME.sub(r"\g<path>", key(path))


def _sides(path: Value) -> list[Value]:
    """All that a path may be, where several ways met."""
    inner = path.sides if isinstance(path, Unknown) else ()
    return [each for part in inner for each in _sides(part)] or [path]


def _path_of(name: str, path: Value) -> str:
    """The same, where what looks at all that a folder holds is marked by that."""
    if isinstance(path, Unknown) and path.sides:
        return _ANY + "\n".join(map(path_of, _sides(path)))
    said = path_of(path)
    return f"{_FOLDER}{said.partition('*')[0].rstrip(_QUOTE)}" if name.rpartition(".")[2] in _LISTS else said
