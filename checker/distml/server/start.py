"""Starts the language server on standard input and output, and ends it."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import sys
from threading import Event
from typing import Any

from pygls.io_ import StdoutWriter, run_async

from distml.engine.config import ConfigError
from distml.engine.one import describe
from distml.report.printing import complain
from distml.server.features import register
from distml.server.serve import Server

LINE = 1 << 16  # bytes of a line of a message's head


class _Log(logging.Handler):
    """What pygls complains about, one line each on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage().partition("\n")[0]
        raised = record.exc_info[1] if record.exc_info else None
        complain(f"distml server: {message}" + ("" if raised is None else f": {describe(raised)}"))


def serve() -> int:
    """Serve until the client ends it or leaves; 1 where it left without saying so. Raises `ConfigError`."""
    mode = os.fstat(0).st_mode
    if sys.stdin is None or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        raise ConfigError("standard input is no pipe: this command is started by an editor, see docs/editors.md")
    logger = logging.getLogger("pygls")
    logger.addHandler(_Log(logging.WARNING))
    logger.propagate = False
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed must not come between messages
    try:
        asyncio.run(_converse(outgoing))
    except SystemExit as end:
        return int(end.code or 0)
    return 1


async def _converse(outgoing: Any) -> None:
    server = Server()
    register(server)
    reader = asyncio.StreamReader(LINE)
    pipe = os.fdopen(os.dup(0), "rb", 0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    server.protocol.set_writer(StdoutWriter(outgoing))
    try:
        await run_async(Event(), reader, server.protocol, error_handler=server.report_server_error)
    except asyncio.IncompleteReadError:
        return  # the client left in the middle of a message
    except ValueError as error:
        complain(f"distml server: this is no message of the protocol: {error}")
    finally:
        for document in server.documents.values():
            document.stop()
        transport.close()
        await server.checks.end()
