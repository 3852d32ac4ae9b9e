"""Starts a script under the probe: `python PROBE_FOLDER SCRIPT ARGS...`, with the plan in DISTML_SMOKE_PLAN."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

NAME = "distml_smoke_probe"


def load() -> Any:
    """The probe's runner, under a name of its own, so that no module of the script is shadowed."""
    folder = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        NAME, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
    return importlib.import_module(NAME + ".runner")


if __name__ == "__main__":
    load().main(sys.argv[1:])
