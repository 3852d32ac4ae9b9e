"""Where what is remembered across runs lies."""

from __future__ import annotations

import os


def default_folder() -> str:
    """`$DISTML_CACHE_DIR`, else `distml` in `$XDG_CACHE_HOME`, else in `~/.cache`."""
    given = os.environ.get("DISTML_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return given or os.path.join(base, "distml")
