"""The secret scanner: searches what goes out and what comes back for the credentials of one task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from ferryman.domain.credentials.credential import Credential
from ferryman.domain.http.request import OutboundRequest
from ferryman.egress.leaks import walk
from ferryman.egress.leaks.budget import SMALL, NestingLimitError, StepBudget
from ferryman.egress.leaks.fragments import WHOLE, count_uncommon
from ferryman.egress.leaks.inflate import InflationLimitError
from ferryman.egress.leaks.patterns import PLAIN_MIN, SecretPattern, generate_patterns, list_parts, list_secret_parts
from ferryman.egress.leaks.pieces import PieceFinder, SecretPart, SecretPieces
from ferryman.egress.leaks.skeleton import build_difference_list, locate, reduce_to_skeleton
from ferryman.egress.leaks.views import iterate_views, undo_all_escapes

FILLED_MAX = 65_536
EXACT_MIN = 4
KERNEL = 8
"""Of a needle only so many characters at a time are in the automaton, whose making costs by the character. They stand so far
apart that whatever part of it is a leak holds one of them whole; what is around them is compared then."""

ALIKE_MAX = 4
"""Of kernels that are the same, so many of one needle are compared: a value that repeats itself has them everywhere."""

BLOCK = 65_536
"""So many bytes of a skeleton are searched at a time: each match is an object, and hostile text is full of them."""

SPANS_MAX = 10_000
"""A text with more credentials than this is redacted as a whole: no honest one has so many, and each takes memory."""

_ROT47 = bytes(33 + (code - 33 + 47) % 94 if 33 <= code < 127 else code for code in range(256))


@dataclass(frozen=True, slots=True)
class LeakFinding:
    """A credential was found. Says which, and never where or how; `name` is None for what could not be looked through."""

    name: str | None


_Collected = dict[SecretPart, set[tuple[int, int]]]


class Hit(NamedTuple):
    """Where in a skeleton a credential stands: half open, in bytes. `coded`: what borders on it may be part of its code."""

    start: int
    end: int
    name: str
    coded: bool


class TextSpan(NamedTuple):
    """Where a credential stands in a text: half open, in characters. `coded`: what borders on it may be part of its code."""

    start: int
    end: int
    name: str
    coded: bool


class SecretScanner:
    """Built once from all credentials of a task, for as long as they are open."""

    def __init__(self, credentials: Iterable[Credential]) -> None:
        self._secrets: list[tuple[str, str]] = []
        self._exact: list[tuple[str, str]] = []
        needles_: dict[SecretPattern, str] = {}
        for credential, value in ((each, secret.reveal()) for each in credentials for secret in each.secrets):
            for needle in generate_patterns(value):
                needles_.setdefault(needle, credential.name)
            self._secrets += [(credential.name, part) for part in list_secret_parts(value)]
            self._exact += [
                (part, credential.name)
                for part in list_parts(value)
                if len(part) >= EXACT_MIN and len(reduce_to_skeleton(part)) < PLAIN_MIN
            ]
        kernels: dict[bytes, list[tuple[SecretPattern, int, str]]] = {}
        for needle, name in needles_.items():
            for place in _places(needle):
                kernels.setdefault(needle.form[place : place + KERNEL], []).append((needle, place, name))
        self._kernels = list(kernels.values())
        self._automaton = BytesAhoCorasick(kernels, implementation=Implementation.ContiguousNFA) if kernels else None

    def __bool__(self) -> bool:
        """Tell whether there is anything to look for."""
        return self._automaton is not None or bool(self._exact)

    def __repr__(self) -> str:
        return f"Scanner({len({name for alike in self._kernels for _, _, name in alike})} credentials)"

    def outbound(self, outbound: OutboundRequest) -> LeakFinding | None:
        """Return the first credential found in anything the model supplied for a request, or of which it has pieces enough."""
        return self.request(outbound)[0]

    def request(self, outbound: OutboundRequest) -> tuple[LeakFinding | None, SecretPieces]:
        """Scan a request: the first credential found, or None and the pieces of credentials in it, to be counted."""
        found: _Collected = {}
        finding = self._among(walk.collect_request_pieces(outbound), found) if self else None
        pieces = SecretPieces(found)
        if finding is None and pieces.too_many is not None:
            finding = LeakFinding(pieces.too_many)
        return finding, pieces

    def among(self, pieces: list[walk.TextPiece], *, budget: StepBudget | None = None) -> LeakFinding | None:
        """Return the first credential found in `pieces`, however it is split over them."""
        return self._among(pieces, None, budget) if self else None

    def find(
        self, text: str, *, thorough: bool = False, budget: StepBudget | None = None, small: int = SMALL
    ) -> LeakFinding | None:
        """Return the first credential found in `text`, in any notation and nesting; one without a name where `budget` is spent.

        A text of up to `small` characters is looked at in more ways than a longer one.
        """
        return self._find(text, None, thorough=thorough, budget=budget, small=small) if self else None

    @cached_property
    def _pieces(self) -> PieceFinder:
        # only requests are looked through for them
        return PieceFinder(self._secrets)

    def _among(
        self, pieces: list[walk.TextPiece], found: _Collected | None, budget: StepBudget | None = None
    ) -> LeakFinding | None:
        if len(pieces) > walk.PIECES_MAX:
            return LeakFinding(None)
        ordered, values = walk.join_pieces(pieces)
        budget = StepBudget(len(ordered), passes=2) if budget is None else budget
        if len(ordered) <= SMALL:
            finding = self._find(ordered, found, budget=budget) or self._find(values, found, budget=budget)
        else:
            finding = (
                self._find(walk.group_by_kind(pieces), found, budget=budget)
                or self._plainly(ordered, found)
                or self._plainly(undo_all_escapes(values), found)
            )
        if finding:
            return finding
        for text in walk.iterate_arrangements(pieces):
            if finding := self._plainly(text, found):
                return finding
        return self._disguised(ordered)

    def _find(
        self,
        text: str,
        found: _Collected | None,
        *,
        thorough: bool = False,
        budget: StepBudget | None = None,
        small: int = SMALL,
    ) -> LeakFinding | None:
        try:
            for view in iterate_views(text, thorough=thorough, budget=budget, small=small):
                if name := self._shallow(view, found):
                    return LeakFinding(name)
        except (NestingLimitError, InflationLimitError):
            return LeakFinding(None)
        return None

    def spans(self, text: str) -> list[TextSpan]:
        """Return where credentials are in `text` as it is, in the forms that need no decoding first; at most `SPANS_MAX` +
        1."""
        exact = (
            TextSpan(start, start + len(value), name, False)
            for value, name in self._exact
            for start in find_occurrences(text, value)
        )
        found = list(islice(exact, SPANS_MAX + 1))
        hits: set[Hit] = set()
        for hit in self._hits(reduce_to_skeleton(text)):
            hits.add(hit)
            if len(found) + len(hits) > SPANS_MAX:
                break
        if hits:
            places = locate(text, {index for hit in hits for index in (hit.start, hit.end - 1)})
            found += [TextSpan(places[hit.start], places[hit.end - 1] + 1, hit.name, hit.coded) for hit in hits]
        return found

    def _plainly(self, text: str, found: _Collected | None) -> LeakFinding | None:
        name = self._shallow(text, found)
        return LeakFinding(name) if name else None

    def _shallow(self, view: str | bytes, found: _Collected | None = None) -> str | None:
        bare = reduce_to_skeleton(view)
        for hit in self._hits(bare):
            return hit.name
        for value, name in self._exact:
            if (value in view) if isinstance(view, str) else (value.encode() in view):
                return name
        if found is not None and isinstance(view, str):
            # what bytes say is among the texts too, and in what is noise pieces come about by chance
            self._pieces.collect(bare, found)
        return None

    def _hits(self, bare: bytes) -> Iterator[Hit]:
        """Yield where secret patterns are in a skeleton."""
        if self._automaton is None:
            return
        reached: dict[bytes, int] = {}
        for first in range(0, len(bare), BLOCK):
            block = bare[first : first + BLOCK + KERNEL - 1]
            for index, at, _ in self._automaton.find_matches_as_indexes(block, overlapping=True):
                start = first + at
                for needle, place, name in self._kernels[index]:
                    if start + KERNEL <= reached.get(needle.form, 0):
                        continue  # inside a hit of the same needle, as in a value that repeats itself
                    hit_start = start - _shared_before(bare, start, needle.form, place)
                    hit_end = start + KERNEL + _shared_after(bare, start + KERNEL, needle.form, place + KERNEL)
                    if hit_end - hit_start >= needle.least and _tells(needle, bare, hit_start, hit_end):
                        reached[needle.form] = hit_end
                        yield Hit(hit_start, hit_end, name, needle.coded)

    def _disguised(self, text: str) -> LeakFinding | None:
        """Return three cheap looks beyond decoding: a rotated ASCII, a shifted alphabet, and a filler after every character
        or two."""
        bare = reduce_to_skeleton(text)
        for hit in self._hits(build_difference_list(bare)):
            return LeakFinding(hit.name)
        plain = text.encode("ascii", "ignore")
        tries: list[Callable[[], bytes]] = [lambda: plain.translate(_ROT47)]
        if len(text) <= FILLED_MAX:
            tries += [lambda step=step, first=first: bare[first::step] for step in (2, 3) for first in range(step)]  # type: ignore[misc]  # bound per turn
        if len(text) <= SMALL:
            tries += [lambda first=first: plain[first::2] for first in range(2)]  # type: ignore[misc]  # bound per turn
            tries += [lambda step=step, first=first: _without(bare, first, step) for step in (3, 4, 5) for first in range(step)]  # type: ignore[misc]  # bound per turn
        for attempt in tries:
            if name := self._shallow(attempt()):
                return LeakFinding(name)
        return None


def find_occurrences(text: str, value: str) -> Iterator[int]:
    """Yield where `value` begins in `text`."""
    start = text.find(value)
    while start >= 0:
        yield start
        start = text.find(value, start + len(value))


def _tells(needle: SecretPattern, bare: bytes, start: int, end: int) -> bool:
    """Tell whether what stands there is a leak, and no word."""
    return end - start >= min(WHOLE, len(needle.form)) or count_uncommon(bare[start:end]) >= needle.telling


def _without(bare: bytes, first: int, step: int) -> bytes:
    left = bytearray(bare)
    del left[first::step]
    return bytes(left)


def _places(needle: SecretPattern) -> Iterator[int]:
    """Yield where the kernels of `needle` begin: every part of it of `least` characters holds one."""
    last = len(needle.form) - KERNEL
    apart = needle.least - KERNEL + 1
    alike: Counter[bytes] = Counter()
    for place in range(min(last, apart - 1), last + 1, apart):
        kernel = needle.form[place : place + KERNEL]
        alike[kernel] += 1
        if alike[kernel] <= ALIKE_MAX:
            yield place


def _shared_after(bare: bytes, end: int, form: bytes, from_: int) -> int:
    """Return how many bytes from `end` on in `bare` are those from `from_` on in `form`."""
    most = min(len(form) - from_, len(bare) - end)
    return _longest(most, lambda count: bare.startswith(form[from_ : from_ + count], end))


def _shared_before(bare: bytes, start: int, form: bytes, to: int) -> int:
    """Return how many bytes up to `start` in `bare` are those up to `to` in `form`."""
    return _longest(min(to, start), lambda count: bare.startswith(form[to - count : to], start - count))


def _longest(most: int, agree: Callable[[int], bool]) -> int:
    """Return the largest count up to `most` for which so many bytes `agree`; where they do, fewer agree as well.

    Found in as many steps as the count has binary digits: a value may be long, and all of it but a byte may be there.
    """
    if agree(most):
        return most
    least, beyond = 0, 1
    while beyond < most and agree(beyond):
        least, beyond = beyond, beyond * 2
    beyond = min(beyond, most)
    while beyond - least > 1:
        middle = (least + beyond) // 2
        least, beyond = (middle, beyond) if agree(middle) else (least, middle)
    return least
