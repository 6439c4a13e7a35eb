"""The scanner: looks through what goes out and what comes back for the credentials of one task."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from ferryman.domain.credential import Credential
from ferryman.domain.http import Outbound
from ferryman.egress.leaks import redaction, walk
from ferryman.egress.leaks.needles import PLAIN_MIN, needles, parts
from ferryman.egress.leaks.skeleton import positions, skeleton
from ferryman.egress.leaks.views import TooDeep, views

FILLED_MAX = 65_536
EXACT_MIN = 4
_ROT47 = {code: 33 + (code - 33 + 47) % 94 for code in range(33, 127)}


@dataclass(frozen=True, slots=True)
class Finding:
    """A credential was found. Says which, and never where or how; `name` is None for what could not be looked through."""

    name: str | None


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
        owners: dict[bytes, tuple[str, bool]] = {}
        for credential in credentials:
            value = credential.secret.reveal()
            for needle, coded in needles(value):
                owners.setdefault(needle, (credential.name, coded))
            self._exact += [
                (part, credential.name) for part in parts(value) if len(part) >= EXACT_MIN and len(skeleton(part)) < PLAIN_MIN
            ]
        self._found = list(owners.values())
        self._automaton = BytesAhoCorasick(list(owners), implementation=Implementation.NoncontiguousNFA) if owners else None

    def __repr__(self) -> str:
        return f"Scanner({len({name for name, _ in self._found})} credentials)"

    def outbound(self, outbound: Outbound) -> Finding | None:
        """The first credential found in anything the model supplied for a request."""
        if self._automaton is None and not self._exact:
            return None
        pieces = walk.pieces(outbound)
        # The host's letter case is no choice of the model that would matter, everything else is looked at as written.
        for text in walk.joined(pieces):
            if finding := self.find(text):
                return finding
        for text in walk.rearranged(pieces):
            if name := self._shallow(text):
                return Finding(name)
        return self._disguised("\n".join(piece.text for piece in pieces))

    def find(self, text: str) -> Finding | None:
        """The first credential found in `text`, in any notation and nesting."""
        if self._automaton is None and not self._exact:
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
        hits = self._automaton.find_matches_as_indexes(skeleton(text), overlapping=True) if self._automaton else []
        if hits:
            places = positions(text)
            found += [Span(places[first], places[last - 1] + 1, *self._found[index]) for index, first, last in hits]
        return found

    def redact(self, text: str) -> str:
        """`text` with every credential in it replaced by `[redacted:NAME]`."""
        return redaction.redact(text, self)

    def redact_json(self, value: Any) -> Any:
        """A JSON value with every credential in its keys and texts replaced. What was split over several goes as a whole."""
        return redaction.redact_json(value, self)

    def _shallow(self, view: str | bytes) -> str | None:
        if self._automaton is not None:
            hits = self._automaton.find_matches_as_indexes(skeleton(view))
            if hits:
                return self._found[hits[0][0]][0]
        for value, name in self._exact:
            if (value in view) if isinstance(view, str) else (value.encode() in view):
                return name
        return None

    def _disguised(self, text: str) -> Finding | None:
        """Two cheap looks beyond decoding: a rotated ASCII, and a filler after every character or two."""
        tries: list[Callable[[], str | bytes]] = [lambda: text.translate(_ROT47)]
        if len(text) <= FILLED_MAX:
            bare = skeleton(text)
            tries += [lambda step=step, first=first: bare[first::step] for step in (2, 3) for first in range(step)]  # type: ignore[misc]  # bound per turn
        for attempt in tries:
            if name := self._shallow(attempt()):
                return Finding(name)
        return None
