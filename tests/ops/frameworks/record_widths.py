"""What TensorFlow's functions make of arguments of each dtype: `python -m ops.frameworks.record_widths TENSORFLOW_RECORD`.

Calls of the record of TensorFlow with their tensors of other dtypes, and the dtype of what they gave, or that they raised;
and of the statements of `width_forms`, in their order, which raise. It runs where TensorFlow is.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from ops.frameworks.width_forms import HEAD, statements

DTYPES = ("float32", "float64", "int32", "int64", "float16")
CALLS_A_NAME = 1


def _dtyped(value: Any, dtypes: Iterator[str]) -> Any:
    """A description with the next dtype for each tensor of floats or integers."""
    if isinstance(value, list):
        return [_dtyped(each, dtypes) for each in value]
    if isinstance(value, dict) and "tensor" in value:
        known = value["kind"].rstrip("0123456789") in ("float", "int")
        return {**value, "kind": next(dtypes)} if known else value
    return value


def _real(value: Any) -> Any:
    import tensorflow as tf

    if isinstance(value, list):
        return [_real(each) for each in value]
    if isinstance(value, dict):
        return tf.cast(tf.ones(value["tensor"]), value["kind"]) if "tensor" in value else slice(*value.get("slice", ()))
    return value


def _gave(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_gave(each) for each in value]
    return getattr(getattr(value, "dtype", None), "name", None)


def calls(path: str) -> Iterator[dict[str, Any]]:
    """Each call with its tensors of one dtype, and of two."""
    import tensorflow as tf

    seen: dict[str, int] = {}
    with open(path, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            name = line["name"]
            if "gave" not in line or seen.get(name, 0) == CALLS_A_NAME or "slice" in json.dumps(line["args"]):
                continue
            seen[name] = seen.get(name, 0) + 1
            function: Any = tf
            for part in name.split(".")[1:]:
                function = getattr(function, part, None)
            for first, second in itertools.product(DTYPES, DTYPES[:3]):
                args = _dtyped(line["args"], itertools.chain([first], itertools.repeat(second)))
                try:
                    gave = _gave(function(*map(_real, args), **line["kwargs"]))
                except Exception:
                    gave = "raises"
                yield {"name": name, "args": args, "kwargs": line["kwargs"], "gave": gave}


def main() -> None:
    """Write both to standard output."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    said = dict.fromkeys(json.dumps(call) for call in calls(sys.argv[1]))
    raising = "".join(str(int(_raises(text))) for text in statements())
    print('{"raising": "', raising, '",\n"calls": [\n', ",\n".join(said), "\n]}", sep="")


def _raises(text: str) -> bool:
    try:
        exec(HEAD + text, {})
    except Exception:
        return True
    return False


if __name__ == "__main__":
    main()
