"""Sockets: how the processes of a run ask each other, and what each says of a failure."""

from __future__ import annotations

import asyncio
import pickle
import struct
from collections.abc import Awaitable, Callable
from typing import Any

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.files.object import ObjectChangedError
from ferryman.domain.stale import StaleError
from ferryman.ports.errors import RejectedError, UnavailableError


async def ask(socket: str, message: Any) -> Any:
    """Return what the process at `socket` answers, or raise what it raised; `UnavailableError` where it does not answer."""
    try:
        reader, writer = await asyncio.open_unix_connection(socket)
        try:
            await _send(writer, message)
            answer = await _receive(reader)
        finally:
            writer.close()
    except (OSError, asyncio.IncompleteReadError):
        raise UnavailableError("the function did not answer") from None
    if isinstance(answer, Exception):
        raise answer
    return answer


async def answer_always(socket: str, answer: Callable[[Any], Awaitable[Any]]) -> None:
    """Answer everybody who asks at `socket`, until the process is killed."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reply: Any
        try:
            reply = await answer(await _receive(reader))
        except (StaleError, UnavailableError, ObjectChangedError) as error:
            reply = type(error)(str(error))
        except CallRefusedError as refused:
            reply = RejectedError(refused.refusal.message)
        except Exception as error:  # noqa: BLE001 - as a function answers 500
            reply = UnavailableError(f"the function answered 500 ({type(error).__name__})")
        try:
            await _send(writer, reply)
            writer.close()
        except OSError:
            return  # who asked is gone

    server = await asyncio.start_unix_server(handle, socket)
    await server.serve_forever()


async def _send(writer: asyncio.StreamWriter, what: Any) -> None:
    packed = pickle.dumps(what)
    writer.write(struct.pack("!I", len(packed)) + packed)
    await writer.drain()


async def _receive(reader: asyncio.StreamReader) -> Any:
    (length,) = struct.unpack("!I", await reader.readexactly(4))
    return pickle.loads(await reader.readexactly(length))  # written by our own other half
