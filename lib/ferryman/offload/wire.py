"""The protocol between this process and its workers: framed pickles on a socket pair, out of reach of other processes."""

from __future__ import annotations

import asyncio
import io
import pickle
import socket
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Secret
from ferryman.domain.problem import InvalidInputError

HEAD = struct.Struct(">QdQ")
"""How many bytes follow, the seconds of processor time for them, and the bytes of memory."""

CHUNK_BYTES = 262_144
BUILTINS = frozenset(("set", "frozenset", "bytearray", "range", "slice", "complex"))
"""The types of Python that are not written as themselves."""

_CROSSES: Mapping[type, Callable[[Any], tuple[Any, ...]]] = {
    Secret: lambda secret: (Secret, (secret.reveal(),)),  # nowhere else is a secret pickled
    CallRefusedError: lambda refused: (CallRefusedError, (refused.refusal,)),
    InvalidInputError: lambda invalid: (InvalidInputError, (invalid.problems,)),
    MappingProxyType: lambda mapping: (dict, (dict(mapping),)),
}


class _Pickler(pickle.Pickler):
    dispatch_table = _CROSSES


class _Unpickler(pickle.Unpickler):
    """Reads a worker's answer: nothing but values of ours can come of it."""

    def find_class(self, module: str, name: str) -> Any:
        ours = (
            module.startswith("ferryman.") or module in ("datetime", "decimal") or (module == "builtins" and name in BUILTINS)
        )
        found = super().find_class(module, name) if ours else None
        if not isinstance(found, type):
            raise pickle.UnpicklingError("a worker answered what is no value")
        return found


def dumps(value: Any) -> bytes:
    """Return `value` as bytes, secrets included. Raise what pickling raises."""
    written = io.BytesIO()
    _Pickler(written, protocol=5).dump(value)
    return written.getvalue()


def loads_answer(content: bytes) -> Any:
    """Return a worker's answer. Raise pickle.UnpicklingError for anything that is no value."""
    return _Unpickler(io.BytesIO(content)).load()


def frame_message(content: bytes, cpu_s: float = 0.0, memory_bytes: int = 0) -> tuple[bytes, ...]:
    """Return what is written for `content`, in one piece if it is small."""
    head = HEAD.pack(len(content), cpu_s, memory_bytes)
    return (head + content,) if len(content) <= CHUNK_BYTES else (head, content)


async def exchange(channel: socket.socket, job: bytes, *, cpu_s: float, memory_bytes: int) -> bytes | None:
    """Send a job and return its answer; None if the worker ended instead."""
    loop = asyncio.get_running_loop()
    try:
        for part in frame_message(job, cpu_s, memory_bytes):
            await loop.sock_sendall(channel, part)
        received = bytearray(await loop.sock_recv(channel, CHUNK_BYTES))
        while received and (len(received) < HEAD.size or len(received) < HEAD.size + HEAD.unpack_from(received)[0]):
            more = await loop.sock_recv(channel, CHUNK_BYTES)
            if not more:
                return None
            received += more
    except OSError:
        return None
    return bytes(memoryview(received)[HEAD.size :]) if received else None


def receive(channel: socket.socket) -> tuple[bytearray, float, int] | None:
    """Return the next job with its limits, on the worker's side; None at the end of the file."""
    head = _read_exactly(channel, HEAD.size)
    if head is None:
        return None
    size, cpu_s, memory_bytes = HEAD.unpack(head)
    content = _read_exactly(channel, size)
    return None if content is None else (content, cpu_s, memory_bytes)


def _read_exactly(channel: socket.socket, size: int) -> bytearray | None:
    content, filled = bytearray(size), 0
    view = memoryview(content)
    while filled < size:
        count = channel.recv_into(view[filled:])
        if not count:
            return None
        filled += count
    return content
