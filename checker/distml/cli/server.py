"""`distml server`: findings and shapes in an editor, by the language server protocol on standard input and output."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from distml.engine.config import ConfigError
from distml.source.apart import can_fork

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

SUMMARY = "Serve an editor by the language server protocol: findings as you type, shapes, fixes."


def configure(parser: ArgumentParser) -> None:
    """Declare the arguments of `distml server`."""
    parser.add_argument("--stdio", action="store_true", help="talk on standard input and output, as it always does")


def run(_options: Namespace) -> int:
    """Serve; 0 where the client ended it, 1 where it left."""
    if find_spec("pygls") is None or find_spec("lsprotocol") is None:
        raise ConfigError("distml server needs pygls: pip install 'distml[server]'")
    if not can_fork():
        raise ConfigError("distml server needs a system that can fork: Linux, macOS or WSL")
    from distml.server.start import serve

    return serve()
