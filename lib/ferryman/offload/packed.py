"""Values that are pickled once: a sequence passed from worker to worker, and an argument of several jobs of one worker."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar, cast, overload

from ferryman.offload import wire

Item = TypeVar("Item")
Value = TypeVar("Value")

PACKED_MAX = 2
_unpacked: dict[bytes, Any] = {}
"""The last packed arguments of this worker, and their values: the jobs of one call follow each other."""


class PackedSequence(Sequence[Item], Generic[Item]):
    """A sequence whose items are unpickled when they are used: some thousands of them would block the event loop."""

    __slots__ = ("_content", "_count")

    def __init__(self, items: Iterable[Item]) -> None:
        values = [*items]
        self._content, self._count = wire.dumps(values), len(values)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._items()[index]

    def __iter__(self) -> Any:
        return iter(self._items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._items() == [*other]

    __hash__ = None  # type: ignore[assignment]  # as of any list

    def __repr__(self) -> str:
        return f"PackedSequence({self._count} items)"

    def __getstate__(self) -> tuple[bytes, int]:
        return self._content, self._count

    def __setstate__(self, state: tuple[bytes, int]) -> None:
        self._content, self._count = state

    def _items(self) -> list[Item]:
        items: list[Item] = wire.loads_answer(self._content)
        return items


class _PackedArgument:
    """A value that is pickled once, and unpickled once by a worker whose jobs with it follow each other."""

    def __init__(self, value: object) -> None:
        self._content = wire.dumps(value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack, (self._content,)


def pack_argument(value: Value) -> Value:
    """Return `value` as an argument for several jobs, of no other use: their function gets the value itself."""
    return cast(Value, _PackedArgument(value))


def _unpack(content: bytes) -> Any:
    value = _unpacked.pop(content, None) or pickle.loads(content)  # noqa: S301 - written by the process that started this one
    _unpacked[content] = value
    if len(_unpacked) > PACKED_MAX:
        del _unpacked[next(iter(_unpacked))]
    return value
