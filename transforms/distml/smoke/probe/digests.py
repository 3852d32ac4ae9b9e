"""Short descriptions of arrays: weights by hash, norm and a few values, batches by a hash of each sample."""

from __future__ import annotations

import hashlib
import math
from typing import Any

SAMPLES = 32
ROW_BYTES = 1 << 16


def describe(name: str, array: Any) -> dict[str, Any]:
    """What two processes compare of a weight, and what tells how far apart two weights are."""
    flat = array.reshape(-1)
    every = max(1, len(flat) // SAMPLES)
    wide = flat.astype("float64")
    norm = math.sqrt(float((wide * wide).sum()))
    return {
        "name": name,
        "shape": [int(size) for size in array.shape],
        "sha": hashlib.sha1(array.tobytes()).hexdigest()[:16],
        "norm": norm,
        "values": [float(value) for value in flat[::every][:SAMPLES]],
    }


def rows(arrays: list[Any]) -> list[str]:
    """One hash a sample, over all arrays of the batch that have that many samples."""
    shaped = [array for array in arrays if getattr(array, "shape", ())]
    if not shaped:
        return []
    count = len(shaped[0])
    alike = [array for array in shaped if len(array) == count]
    return [_row([array[index] for array in alike]) for index in range(count)]


def _row(parts: list[Any]) -> str:
    digest = hashlib.sha1()
    for part in parts:
        content = part.tobytes() if hasattr(part, "tobytes") else repr(part).encode("utf-8", "backslashreplace")
        digest.update(content[:ROW_BYTES])
    return digest.hexdigest()[:12]
