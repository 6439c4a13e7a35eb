"""The scanner: looks through what goes out and what comes back for the credentials of one task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from ferryman.domain.credential import Credential
from ferryman.domain.http import Outbound
from ferryman.egress.leaks import redaction, walk
from ferryman.egress.leaks import said as spoken
from ferryman.egress.leaks.inflate import TooMuch
from ferryman.egress.leaks.needles import PLAIN_MIN, Needle, needles, parts
from ferryman.egress.leaks.skeleton import positions, skeleton, steps
from ferryman.egress.leaks.views import SMALL, TooDeep, unescaped, views

FILLED_MAX = 65_536
EXACT_MIN = 4
KERNEL = 8
"""Of a needle only so many characters at a time are in the automaton, whose making costs by the character. They stand so far
apart that whatever part of it is a leak holds one of them whole; what is around them is compared then."""

_ROT47 = bytes(33 + (code - 33 + 47) % 94 if 33 <= code < 127 else code for code in range(256))


@dataclass(frozen=True, slots=True)
class Finding:
    """A credential was found. Says which, and never where or how; `name` is None for what could not be looked through."""

    name: str | None


class Hit(NamedTuple):
    """Where in a skeleton a credential stands: half open, in bytes. `coded`: what borders on it may be part of its code."""

    start: int
    end: int
    name: str
    coded: bool


class Span(NamedTuple):
    """Where a credential stands in a text: half open, in characters. `coded`: what borders on it may be part of its code."""

    start: int
    end: int
    name: str
    coded: bool


class Scanner:
    """Built once from all credentials of a task, for as long as they are open."""

    def __init__(self, credentials: Iterable[Credential]) -> None:
        self._exact: list[tuple[str, str]] = []
        needles_: dict[Needle, str] = {}
        for credential, value in ((each, secret.reveal()) for each in credentials for secret in each.secrets):
            for needle in needles(value):
                needles_.setdefault(needle, credential.name)
            self._exact += [
                (part, credential.name) for part in parts(value) if len(part) >= EXACT_MIN and len(skeleton(part)) < PLAIN_MIN
            ]
        self._kernels = [(needle, place, name) for needle, name in needles_.items() for place in _places(needle)]
        kernels = [needle.form[place : place + KERNEL] for needle, place, _ in self._kernels]
        self._automaton = BytesAhoCorasick(kernels, implementation=Implementation.ContiguousNFA) if kernels else None

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return self._automaton is not None or bool(self._exact)

    def __repr__(self) -> str:
        return f"Scanner({len({name for _, _, name in self._kernels})} credentials)"

    def outbound(self, outbound: Outbound) -> Finding | None:
        """The first credential found in anything the model supplied for a request."""
        return self.among(walk.pieces(outbound)) if self else None

    def among(self, pieces: list[walk.Piece]) -> Finding | None:
        """The first credential found in `pieces`, however it is split over them."""
        if not self:
            return None
        ordered, values = walk.joined(pieces)
        if len(ordered) <= SMALL:
            finding = self.find(ordered) or self.find(values)
        else:
            finding = self.find(walk.apart(pieces)) or self._plainly(ordered) or self._plainly(unescaped(values))
        if finding:
            return finding
        for text in walk.rearranged(pieces):
            if finding := self._plainly(text):
                return finding
        return self._disguised(ordered)

    def find(self, text: str, *, thorough: bool = False) -> Finding | None:
        """The first credential found in `text`, in any notation and nesting."""
        if not self:
            return None
        try:
            for view in views(text, thorough=thorough):
                if name := self._shallow(view):
                    return Finding(name)
        except (TooDeep, TooMuch):
            return Finding(None)
        return None

    def spans(self, text: str) -> list[Span]:
        """Where credentials stand in `text` as it is, in the forms that need no decoding first."""
        found = [
            Span(start, start + len(value), name, False)
            for value, name in self._exact
            for start in redaction.occurrences(text, value)
        ]
        hits = set(self._hits(skeleton(text)))
        if hits:
            places = positions(text)
            found += [Span(places[hit.start], places[hit.end - 1] + 1, hit.name, hit.coded) for hit in hits]
        return found

    def redact(self, text: str) -> str:
        """`text` with every credential in it replaced by `[redacted:NAME]`."""
        return redaction.redact(text, self)

    def redact_json(self, value: Any) -> Any:
        """A JSON value with every credential in its keys and texts replaced. An object stays one, and so does a list."""
        return redaction.redact_json(value, self)

    def said(self, content: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What the model said, in the form that may come to rest: as many blocks, of the same types and fields."""
        return spoken.said(content, self)

    def _plainly(self, text: str) -> Finding | None:
        name = self._shallow(text)
        return Finding(name) if name else None

    def _shallow(self, view: str | bytes) -> str | None:
        for hit in self._hits(skeleton(view)):
            return hit.name
        for value, name in self._exact:
            if (value in view) if isinstance(view, str) else (value.encode() in view):
                return name
        return None

    def _hits(self, bare: bytes) -> Iterator[Hit]:
        """The needles in a skeleton."""
        if self._automaton is None:
            return
        for index, start, end in self._automaton.find_matches_as_indexes(bare, overlapping=True):
            needle, place, name = self._kernels[index]
            first = start - _shared_before(bare, start, needle.form, place)
            last = end + _shared_after(bare, end, needle.form, place + KERNEL)
            if last - first >= needle.least:
                yield Hit(first, last, name, needle.coded)

    def _disguised(self, text: str) -> Finding | None:
        """Three cheap looks beyond decoding: a rotated ASCII, a shifted alphabet, and a filler after every character or two."""
        bare = skeleton(text)
        for hit in self._hits(steps(bare)):
            return Finding(hit.name)
        plain = text.encode("ascii", "ignore")
        tries: list[Callable[[], bytes]] = [lambda: plain.translate(_ROT47)]
        if len(text) <= FILLED_MAX:
            tries += [lambda step=step, first=first: bare[first::step] for step in (2, 3) for first in range(step)]  # type: ignore[misc]  # bound per turn
        if len(text) <= SMALL:
            tries += [lambda first=first: plain[first::2] for first in range(2)]  # type: ignore[misc]  # bound per turn
            tries += [lambda step=step, first=first: _without(bare, first, step) for step in (3, 4, 5) for first in range(step)]  # type: ignore[misc]  # bound per turn
        for attempt in tries:
            if name := self._shallow(attempt()):
                return Finding(name)
        return None


def _without(bare: bytes, first: int, step: int) -> bytes:
    left = bytearray(bare)
    del left[first::step]
    return bytes(left)


def _places(needle: Needle) -> range:
    """Where the kernels of `needle` begin: every part of it of `least` characters holds one."""
    last = len(needle.form) - KERNEL
    apart = needle.least - KERNEL + 1
    return range(min(last, apart - 1), last + 1, apart)


def _shared_after(bare: bytes, end: int, form: bytes, from_: int) -> int:
    """How many bytes from `end` on in `bare` are those from `from_` on in `form`."""
    rest = form[from_:]
    return len(rest) if bare.startswith(rest, end) else _shared(rest, bare[end : end + len(rest)])


def _shared_before(bare: bytes, start: int, form: bytes, to: int) -> int:
    """How many bytes up to `start` in `bare` are those up to `to` in `form`."""
    rest = form[:to]
    return (
        to if start >= to and bare.startswith(rest, start - to) else _shared(rest[::-1], bare[max(0, start - to) : start][::-1])
    )


def _shared(one: bytes, other: bytes) -> int:
    for count, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return count
    return min(len(one), len(other))
