"""The protocol between this process and its workers: framed pickles on a socket pair that no other process can reach.

And what is pickled once, and passed from one worker to another without unpickling in between.
"""

from __future__ import annotations

import asyncio
import io
import pickle
import socket
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar, cast

from ferryman.domain.calls.part import PartKind
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Secret
from ferryman.domain.problem import InvalidInputError

HEAD = struct.Struct(">QdQ")
"""The header of a message: its bytes, and for a job its limits in seconds of processor time and bytes of memory.

In the header of an answer stand the seconds of processor time that its worker has used since it was started.
"""

CHUNK_BYTES = 262_144
BUILTINS = frozenset(("set", "frozenset", "bytearray", "range", "slice", "complex"))
"""Types of Python that pickle writes by name."""

_REDUCERS: Mapping[type, Callable[[Any], tuple[Any, ...]]] = {
    Secret: lambda secret: (Secret, (secret.reveal(),)),  # nowhere else is a secret pickled
    CallRefusedError: lambda refused: (CallRefusedError, (refused.refusal,)),
    InvalidInputError: lambda invalid: (InvalidInputError, (invalid.problems,)),
    MappingProxyType: lambda mapping: (dict, (dict(mapping),)),
}


_TYPES: dict[tuple[str, str], type] = {}  # those that answers held: no more than there are in this library


class _Pickler(pickle.Pickler):
    dispatch_table = _REDUCERS


class _EnumPickler(_Pickler):
    """Writes members of enums by their values: some releases of Python (3.11.2) write `getattr`, which no answer may hold."""

    def reducer_override(self, value: Any) -> Any:
        return (type(value), (value.value,)) if isinstance(value, Enum) else NotImplemented


_PICKLER = _EnumPickler if PartKind.TEXT.__reduce_ex__(5)[0] is getattr else _Pickler


class _Unpickler(pickle.Unpickler):
    """Reads a worker's answer, which can hold only our own types (insecure deserialization)."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _TYPES:
            ours = module.startswith("ferryman.") or module in ("datetime", "decimal")
            kind = super().find_class(module, name) if ours or (module == "builtins" and name in BUILTINS) else None
            if not isinstance(kind, type):
                raise pickle.UnpicklingError("a worker answered with a type that is not allowed")
            _TYPES[module, name] = kind
        return _TYPES[module, name]


def dumps(value: Any) -> bytes:
    """Return `value` as bytes, secrets included. Raise the errors of pickle."""
    stream = io.BytesIO()
    _PICKLER(stream, protocol=5).dump(value)
    return stream.getvalue()


def loads_answer(content: bytes) -> Any:
    """Return a worker's answer. Raise pickle.UnpicklingError for any other type."""
    return _Unpickler(io.BytesIO(content)).load()


def frame_message(content: bytes, cpu_s: float = 0.0, memory_bytes: int = 0) -> tuple[bytes, ...]:
    """Return the message of `content`, in one piece if it is small."""
    head = HEAD.pack(len(content), cpu_s, memory_bytes)
    return (head + content,) if len(content) <= CHUNK_BYTES else (head, content)


async def exchange(channel: socket.socket, job: bytes, *, cpu_s: float, memory_bytes: int) -> tuple[bytes, float] | None:
    """Send a job; return its answer, and the worker's seconds of processor time. None if the worker ended instead."""
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
    return (bytes(memoryview(received)[HEAD.size :]), HEAD.unpack_from(received)[1]) if received else None


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


Item = TypeVar("Item")
Value = TypeVar("Value")

PACKED_MAX = 2
forgotten: list[Clearable] = []
"""What this worker keeps of its jobs, and clears before it works for another owner."""

_unpacked: dict[bytes, Any] = {}
"""The last packed arguments of this worker, and their values: the jobs of one call follow each other."""


class Clearable(Protocol):
    """What can forget all that it holds."""

    def clear(self) -> None:
        """Forget it."""


class PackedSequence(Sequence[Item], Generic[Item]):
    """A sequence whose items are unpickled when they are used: some thousands of them would block the event loop."""

    __slots__ = ("_content", "_count")

    def __init__(self, items: Iterable[Item]) -> None:
        values = [*items]
        self._content, self._count = dumps(values), len(values)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return self._items()[index]

    def __iter__(self) -> Any:
        return iter(self._items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._items() == [*other]

    def __repr__(self) -> str:
        return f"PackedSequence({self._count} items)"

    def _items(self) -> list[Item]:
        items: list[Item] = loads_answer(self._content)
        return items


class _PackedArgument:
    """A value that is pickled once, and unpickled once by a worker whose jobs with it follow each other."""

    def __init__(self, value: object) -> None:
        self._content = dumps(value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack, (self._content,)


forgotten.append(_unpacked)


Store = TypeVar("Store", bound=Clearable)


def forget_between_owners(store: Store) -> Store:
    """Return `store`, which a worker clears before its first job for another owner."""
    forgotten.append(store)
    return store


def forget() -> None:
    """Clear all that this worker keeps of its jobs."""
    for store in forgotten:
        store.clear()


def pack_argument(value: Value) -> Value:
    """Return `value` as an argument for several jobs, of no other use: their function gets the value itself."""
    return cast(Value, _PackedArgument(value))


def _unpack(content: bytes) -> Any:
    value = _unpacked.pop(content, None) or pickle.loads(content)  # noqa: S301 - written by the process that started this one
    _unpacked[content] = value
    if len(_unpacked) > PACKED_MAX:
        del _unpacked[next(iter(_unpacked))]
    return value
