"""Contents: bytes decoded from the notations of a text, and the readable text, the text beyond ASCII and the streams in them.

Nearly all of them are noise. So those of all notations are read together: what none of them holds is looked for once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

from ferryman.egress.leaks import inflate
from ferryman.egress.leaks.non_ascii import find_non_ascii_texts
from ferryman.egress.leaks.shapes import find_spans
from ferryman.egress.leaks.text_spans import LEAST, TEXT_SHAPE, choose_least

_TEXT_MARK = b"p" * LEAST
_BETWEEN = b"\xf8"
"""Between contents that are read together: no byte of UTF-8, of a byte order mark or of the head of a stream."""


class Contents(NamedTuple):
    """What one notation is decoded to.

    `digits` are so many for so many bytes, where each part is decoded from one digit later than the one before. `least` is the
    length of a span of text; without it, that of `choose_least` for each of the parts.
    """

    parts: list[bytes]
    digits: tuple[int, int] | None = None
    least: int | None = None


def extract_texts(decoded: Iterable[Contents]) -> Iterator[str | bytes]:
    """Yield all contents, joined, and the readable text in them."""
    origins, parts = [], []
    for contents in decoded:
        for number, part in enumerate(contents.parts):
            if len(part) >= LEAST:
                origins.append((contents, number))
                parts.append(part)
    if not parts:
        return
    joined = _BETWEEN.join(parts)
    yield joined
    starts = [0, *accumulate(len(part) + 1 for part in parts)]
    yield from _join_spans(joined, starts, origins)
    heads = inflate.find_heads(joined)
    yield from find_non_ascii_texts(joined, starts, heads.marks)
    for index in sorted({bisect_right(starts, place) - 1 for _, place in heads.streams}):
        yield from decompress_all(inflate.open_streams(parts[index]))


def _join_spans(joined: bytes, starts: list[int], origins: list[tuple[Contents, int]]) -> Iterator[str]:
    """Yield the spans of readable text in the contents of each notation, a line each, in the order of their digits."""
    shape = joined.translate(TEXT_SHAPE)
    if _TEXT_MARK not in shape:
        return
    spans: dict[int, list[tuple[int, bytes]]] = {}
    for start, end in find_spans(shape, LEAST):
        index = bisect_right(starts, start) - 1
        contents, number = origins[index]
        if end - start >= (contents.least or choose_least(starts[index + 1] - starts[index] - 1)):
            place = start - starts[index]
            if contents.digits:
                place = number + place * contents.digits[0] // contents.digits[1]
            spans.setdefault(id(contents), []).append((place, joined[start:end]))
    for of_contents in spans.values():
        of_contents.sort()
        yield b"\n".join([span for _, span in of_contents]).decode()


def decompress_all(streams: Iterable[bytes]) -> Iterator[str | bytes]:
    """Yield decompressed `streams` as text, also nested ones; bytes above the limit are only scanned."""
    for content in streams:
        if len(content) > inflate.INFLATED_MAX:
            yield content
        else:
            yield content.decode("utf-8", "replace")
            yield from decompress_all(inflate.open_streams(content))
