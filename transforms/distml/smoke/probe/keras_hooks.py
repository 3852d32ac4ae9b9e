"""TensorFlow."""
from __future__ import annotations
from typing import Dict
from .importing import Hook
from .recorder import Recorder
def hooks(recorder: Recorder) -> Dict[str, Hook]:
    """None yet."""
    return {}
