"""Text beyond ASCII, in UTF-8, UTF-16 and UTF-32, in bytes that are mostly noise."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ferryman.egress.leaks import inflate
from ferryman.egress.leaks.shapes import build_shape_table, find_spans
from ferryman.egress.leaks.skeleton import find_occurrences
from ferryman.egress.leaks.text_spans import find_text_spans
from ferryman.framing.escapes import replace_lookalikes

BEYOND_ASCII_LEAST = 20
FEW = 250  # bytes for each span that may be UTF-8, of which a content of few such spans has more: they are read one by one

# p: printable, l: leads a character of UTF-8, c: continues one, _: zero.
_SHAPE = build_shape_table(
    p=bytes((*b"\t\n\r", *range(0x20, 0x7F))), l=bytes(range(0xC2, 0xF5)), c=bytes(range(0x80, 0xC0)), _=b"\0"
)
_EITHER = bytes.maketrans(b"lc_", b"pp.")
_BEYOND_ASCII_MARK = b"p" * BEYOND_ASCII_LEAST
_ASCII = re.compile(r"[!-~]{8}")
READ_AS_ASCII = re.compile(
    "[!-~\u00a0-\u07c9\u0966-\u0f29\u1040-\u1099\u17e0-\u1819\u1946-\u226f\u2460-\u24ff\u2776-\u277e\u2a74-\u2a76\u2c7c-\u2c7d\u3000"
    "\u3200-\u33ff\ua620-\ua629\ua730-\uaa59\uabf0-\uabf9\ufb00-\uff5e\U00010000-\U0010ffff]{2,}"
)
"""Where look-alikes are replaced in text of UTF-16: each that becomes ASCII, or nothing, is in these ranges, and becomes fewer
characters than `_ASCII` wants. Most of the text that noise is read as is outside."""

_CODECS = dict(zip(inflate.MARKS, ("utf-16-le", "utf-16-be"), strict=True))
WIDE_LEAST = 6
_WIDE = (b"p_" * WIDE_LEAST, b"p___" * WIDE_LEAST)
_UTF8 = re.compile(rb"(?:[\t\n\r\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}){8,}+")


def find_non_ascii_texts(joined: bytes, starts: Sequence[int], marks: Iterable[int]) -> Iterator[str]:
    """Yield, for each of some contents, the text in UTF-8 beyond ASCII, in UTF-16 or in UTF-32 that is in it, a line each.

    The contents begin at `starts`, of which the last is that of another one, in `joined`; `marks` are the places of byte order
    marks in it.
    """
    shape = joined.translate(_SHAPE)
    texts: dict[int, list[str]] = {}
    for text, place in chain(_find_utf8(joined, shape), _find_marked(joined, starts, marks)):
        texts.setdefault(bisect_right(starts, place), []).append(text)
    wide = _WIDE if joined.count(0) >= WIDE_LEAST else ()
    for end in dict.fromkeys(bisect_right(starts, place) for sequence in wide for place in find_occurrences(shape, sequence)):
        content = joined[starts[end - 1] : starts[end] - 1].replace(b"\0", b"")
        texts.setdefault(end, []).extend(text.decode() for _, text in find_text_spans(content))
    for of_content in texts.values():
        yield "\n".join(of_content)


def _find_utf8(joined: bytes, shape: bytes) -> Iterator[tuple[str, int]]:
    """Yield each span of text in UTF-8 beyond ASCII, and its place."""
    either = shape.translate(_EITHER)
    if (likely := either.count(_BEYOND_ASCII_MARK)) == 0 or b"lc" not in shape:
        return
    if likely * FEW > len(shape):
        spans = find_spans(_join_shapes(shape), BEYOND_ASCII_LEAST)
    else:
        long = ((start, end) for start, end in find_spans(either, BEYOND_ASCII_LEAST) if b"lc" in shape[start:end])
        spans = (
            (first + start, first + end)
            for first, last in long
            for start, end in find_spans(_join_shapes(shape[first:last]), BEYOND_ASCII_LEAST)
        )
    for start, end in spans:
        if b"lc" in shape[start:end]:
            for text in _UTF8.findall(joined, start, end):
                if not text.isascii():
                    yield text.decode("utf-8", "ignore"), start


def _join_shapes(shape: bytes) -> bytes:
    """Return a shape whose characters of UTF-8 are all p; sequences that are not UTF-8 end a span, which removes most noise."""
    return shape.replace(b"lp", b".p").replace(b"pc", b"p.").translate(_EITHER)


def _find_marked(joined: bytes, starts: Sequence[int], marks: Iterable[int]) -> Iterator[tuple[str, int]]:
    """Yield the text in UTF-16 after byte order marks in each content, and the place of its mark.

    Read from the first mark of each order at an even place and at an odd one: four times at most, however many marks there are.
    What follows a later mark is in one of these texts, since a decoder that ignores faults skips an even number of bytes.
    """
    firsts: dict[tuple[int, bytes, int], int] = {}
    for start in marks:
        end = bisect_right(starts, start)
        firsts.setdefault((end, joined[start : start + 2], (start - starts[end - 1]) % 2), start)
    for (end, mark, _), start in firsts.items():
        text = joined[start + 2 : starts[end] - 1].decode(_CODECS[mark], "ignore")
        if _ASCII.search(replace_lookalikes("\n".join(READ_AS_ASCII.findall(text)))):
            yield text, start
