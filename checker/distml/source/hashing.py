"""What identifies a content."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # without OpenSSL, which `hashlib` loads: that takes longer than all hashes of a run
except ImportError:
    from hashlib import blake2b


def content_hash(data: bytes) -> str:
    """A short hash of a content: 32 hexadecimal digits."""
    return blake2b(data, digest_size=16).hexdigest()
