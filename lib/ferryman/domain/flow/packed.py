"""Packed numbers: a text of a stranger may have very many tokens, and a Python number takes as much memory as several words."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Final

_SHORT: Final = "H"
_LONG: Final = "I"
_SHORT_MAX = 65_535


def pack_numbers(numbers: Sequence[int]) -> bytes:
    """Return numbers, none of them negative, in two bytes each, or in four where one is large."""
    code = _SHORT if max(numbers, default=0) <= _SHORT_MAX else _LONG
    return code.encode() + array(code, numbers).tobytes()


def unpack_numbers(packed: bytes) -> Sequence[int]:
    """Return a view of packed numbers: each is read where it is looked at."""
    view = memoryview(packed)[1:]
    return view.cast(_SHORT) if packed[:1] == _SHORT.encode() else view.cast(_LONG)
