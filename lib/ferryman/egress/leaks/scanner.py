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
from ferryman.egress.leaks.needles import PLAIN_MIN, needles, parts
from ferryman.egress.leaks.skeleton import positions, skeleton, steps
from ferryman.egress.leaks.views import TooDeep, views

FILLED_MAX = 65_536
EXACT_MIN = 4
KERNEL = 16
"""Of a longer needle only the middle is in the automaton, whose making costs by the character; the rest is compared then."""

_ROT47 = {code: 33 + (code - 33 + 47) % 94 for code in range(33, 127)}


@dataclass(frozen=True, slots=True)
class Finding:
    """A credential was found. Says which, and never where or how; `name` is None for what could not be looked through."""

    name: str | None


class Owner(NamedTuple):
    """Whose a needle is, and whether it is a coded form."""

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
        owners: dict[bytes, Owner] = {}
        for credential in credentials:
            value = credential.secret.reveal()
            owner = (Owner(credential.name, coded=False), Owner(credential.name, coded=True))
            for needle, coded in needles(value):
                owners.setdefault(needle, owner[coded])
            self._exact += [
                (part, credential.name) for part in parts(value) if len(part) >= EXACT_MIN and len(skeleton(part)) < PLAIN_MIN
            ]
        self._needles = [(needle, max(0, (len(needle) - KERNEL) // 2), owner) for needle, owner in owners.items()]
        kernels = [needle[start : start + KERNEL] for needle, start, _ in self._needles]
        self._automaton = BytesAhoCorasick(kernels, implementation=Implementation.NoncontiguousNFA) if kernels else None

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return self._automaton is not None or bool(self._exact)

    def __repr__(self) -> str:
        return f"Scanner({len({owner.name for _, _, owner in self._needles})} credentials)"

    def outbound(self, outbound: Outbound) -> Finding | None:
        """The first credential found in anything the model supplied for a request."""
        return self.among(walk.pieces(outbound)) if self else None

    def among(self, pieces: list[walk.Piece]) -> Finding | None:
        """The first credential found in `pieces`, however it is split over them."""
        if not self:
            return None
        for text in walk.joined(pieces):
            if finding := self.find(text):
                return finding
        for text in walk.rearranged(pieces):
            if name := self._shallow(text):
                return Finding(name)
        return self._disguised("\n".join(piece.text for piece in pieces))

    def find(self, text: str) -> Finding | None:
        """The first credential found in `text`, in any notation and nesting."""
        if not self:
            return None
        try:
            for view in views(text):
                if name := self._shallow(view):
                    return Finding(name)
        except TooDeep:
            return Finding(None)
        return None

    def spans(self, text: str) -> list[Span]:
        """Where credentials stand in `text` as it is, in the forms that need no decoding first."""
        found = [
            Span(start, start + len(value), name, False)
            for value, name in self._exact
            for start in redaction.occurrences(text, value)
        ]
        hits = list(self._hits(skeleton(text)))
        if hits:
            places = positions(text)
            found += [Span(places[first], places[last - 1] + 1, *owner) for first, last, owner in hits]
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

    def _shallow(self, view: str | bytes) -> str | None:
        for _, _, owner in self._hits(skeleton(view)):
            return owner.name
        for value, name in self._exact:
            if (value in view) if isinstance(view, str) else (value.encode() in view):
                return name
        return None

    def _hits(self, bare: bytes) -> Iterator[tuple[int, int, Owner]]:
        """The needles in a skeleton, each with where it begins and ends."""
        if self._automaton is None:
            return
        for index, place, _ in self._automaton.find_matches_as_indexes(bare, overlapping=True):
            needle, kernel, owner = self._needles[index]
            first = place - kernel
            if first >= 0 and bare.startswith(needle, first):
                yield first, first + len(needle), owner

    def _disguised(self, text: str) -> Finding | None:
        """Three cheap looks beyond decoding: a rotated ASCII, a shifted alphabet, and a filler after every character or two."""
        bare = skeleton(text)
        for _, _, owner in self._hits(steps(bare)):
            return Finding(owner.name)
        tries: list[Callable[[], str | bytes]] = [lambda: text.translate(_ROT47)]
        if len(text) <= FILLED_MAX:
            tries += [lambda step=step, first=first: bare[first::step] for step in (2, 3) for first in range(step)]  # type: ignore[misc]  # bound per turn
        for attempt in tries:
            if name := self._shallow(attempt()):
                return Finding(name)
        return None
