"""A pickled sequence, passed from one worker to another without unpickling in between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar, overload

from ferryman.offload import wire

Item = TypeVar("Item")


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
