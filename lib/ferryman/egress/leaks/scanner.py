"""The secret scanner: searches requests and responses for the credentials of one task (prevents exfiltration)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from ferryman.domain.credentials.credential import Credential
from ferryman.domain.http.request import OutboundRequest
from ferryman.egress.leaks import text_pieces
from ferryman.egress.leaks.fragments import WHOLE, count_uncommon
from ferryman.egress.leaks.inflate import InflationLimitError
from ferryman.egress.leaks.patterns import PLAIN_MIN, SecretPattern, generate_patterns, list_parts, list_secret_parts
from ferryman.egress.leaks.pieces import PieceFinder, PreparedSecret, SecretPart, SecretPieces
from ferryman.egress.leaks.skeleton import build_difference_list, find_occurrences, locate, reduce_to_skeleton
from ferryman.egress.leaks.views import SMALL, NestingLimitError, StepBudget, iterate_views, undo_all_escapes

FILLED_MAX = 65_536
EXACT_MIN = 4
KERNEL = 8
"""Characters of a kernel: a part of a pattern in the automaton, whose construction costs time for each character.

The distance of two kernels is so small that every part of the pattern that is a leak holds one; the characters around it are
compared then.
"""

ALIKE_MAX = 4  # equal kernels of one pattern that are compared: a value that repeats itself has them everywhere
BLOCK = 65_536  # bytes of a skeleton that are searched at a time: each match is an object, and hostile text has many
SPANS_MAX = 10_000  # a text with more credentials is redacted as a whole: no honest text has so many, and each takes memory
TOGETHER_FIRST, TOGETHER = 1_024, 16_384  # bytes of the skeletons that are searched together, at least: at first, and later
CHECKED_MAX, CHECKED_LENGTH_MAX = 16, 512
BETWEEN = b"."  # between skeletons: in no pattern
_ROT47 = bytes(33 + (code - 33 + 47) % 94 if 33 <= code < 127 else code for code in range(256))


@dataclass(frozen=True, slots=True)
class LeakFinding:
    """A credential was found: its name, and never where or how. `name` is None for a text that could not be scanned."""

    name: str | None


_Collected = dict[SecretPart, set[tuple[int, int]]]


class TextSpan(NamedTuple):
    """The place of a credential: half open, in characters of a text or bytes of a skeleton.

    `coded` tells that the characters next to it may be part of its encoding.
    """

    start: int
    end: int
    name: str
    coded: bool


class PreparedCredential(NamedTuple):
    """The forms of one credential's values, from which a scanner for several is put together."""

    patterns: list[tuple[str, SecretPattern, list[int]]]
    secrets: list[PreparedSecret]
    exact: list[tuple[str, str]]

    def __repr__(self) -> str:
        return f"PreparedCredential({len(self.patterns)} patterns)"


def prepare(credential: Credential) -> PreparedCredential:
    """Return the forms of `credential`: most of the time that a scanner takes to be built."""
    prepared = PreparedCredential([], [], [])
    name = credential.name
    for value in (secret.reveal() for secret in credential.secrets):
        prepared.patterns.extend((name, pattern, [*_iterate_kernels(pattern)]) for pattern in generate_patterns(value))
        prepared.secrets.extend(PreparedSecret(name, part) for part in list_secret_parts(value))
        prepared.exact.extend(
            (part, name) for part in list_parts(value) if len(part) >= EXACT_MIN and len(reduce_to_skeleton(part)) < PLAIN_MIN
        )
    return prepared


class CheckedTexts:
    """The last short texts in which a scanner found nothing: addresses and media types, which are the same call after call."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}

    def __contains__(self, text: str) -> bool:
        return text in self._texts

    def add(self, text: str) -> None:
        """Keep `text` unless it is long; forget the oldest of too many."""
        if len(text) <= CHECKED_LENGTH_MAX:
            self._texts[text] = None
            if len(self._texts) > CHECKED_MAX:
                del self._texts[next(iter(self._texts))]


class SecretScanner:
    """A scanner for all credentials of a task, used while they are open."""

    def __init__(self, credentials: Iterable[Credential] = (), *, prepared: Iterable[PreparedCredential] = ()) -> None:
        self._outer: StepBudget | None = None
        self.checked, self.checked_thoroughly = CheckedTexts(), CheckedTexts()
        self._prepared = [*prepared, *map(prepare, credentials)]
        self._exact = [pair for credential in self._prepared for pair in credential.exact]
        kernels: dict[bytes, list[tuple[SecretPattern, int, str]]] = {}
        known: set[SecretPattern] = set()
        for credential in self._prepared:
            for name, pattern, places in credential.patterns:
                if pattern not in known:
                    known.add(pattern)
                    for place in places:
                        kernels.setdefault(pattern.form[place : place + KERNEL], []).append((pattern, place, name))
        self._kernels = list(kernels.values())
        self._automaton = BytesAhoCorasick(kernels, implementation=Implementation.ContiguousNFA) if kernels else None

    def prepare_pieces(self) -> Iterator[None]:
        """Build what a request is searched for pieces with, an iteration for each credential."""
        for credential in self._prepared:
            for secret in credential.secrets:
                _ = secret.patterns
            yield
        _ = self._pieces

    def within(self, budget: StepBudget) -> SecretScanner:
        """Return this scanner for texts that are read within `budget`, together; what it raises is raised by any search."""
        limited = copy(self)
        limited._outer = budget
        return limited

    def allow(self, length: int, *, passes: int = 1) -> StepBudget:
        """Return the budget of a text of `length` characters that is scanned `passes` times."""
        return StepBudget(length, passes=passes, within=self._outer)

    def __bool__(self) -> bool:
        """Tell whether there is anything to scan for."""
        return self._automaton is not None or bool(self._exact)

    def __repr__(self) -> str:
        return f"Scanner({len({name for alike in self._kernels for _, _, name in alike})} credentials)"

    def find_in_request(self, outbound: OutboundRequest) -> LeakFinding | None:
        """Return the first credential of which a request holds the whole, or too many pieces."""
        return self.scan_request(outbound)[0]

    def scan_request(self, outbound: OutboundRequest) -> tuple[LeakFinding | None, SecretPieces]:
        """Scan everything that the model supplied for a request.

        Return the first credential found, or None, and the pieces of credentials in it, which are counted.
        """
        collected: _Collected = {}
        pieces = text_pieces.collect_request_pieces(outbound) if self else []
        finding = self.find_among(pieces, collected=collected, beside=(outbound.url,))
        if finding is None:
            self.checked.add(outbound.url)
        sent = SecretPieces(collected)
        if finding is None and sent.too_many is not None:
            finding = LeakFinding(sent.too_many)
        return finding, sent

    def find_piece(self, text: str) -> LeakFinding | None:
        """Return the first credential of which a short text holds the whole, or a piece that is long enough to be counted."""
        if text in self.checked_thoroughly:
            return None
        collected: _Collected = {}
        finding = self.find(text, thorough=True, collected=collected)
        finding = finding or next((LeakFinding(part.name) for part in collected), None)
        if finding is None:
            self.checked_thoroughly.add(text)
        return finding

    @cached_property
    def _pieces(self) -> PieceFinder:
        # only requests, and the headers of a response, are scanned for pieces
        return PieceFinder([secret for credential in self._prepared for secret in credential.secrets])

    def find_among(
        self,
        pieces: list[text_pieces.TextPiece],
        *,
        beside: tuple[str, ...] = (),
        budget: StepBudget | None = None,
        collected: _Collected | None = None,
    ) -> LeakFinding | None:
        """Return the first credential found in `pieces`, however it is split over them; pieces of one go into `collected`.

        `beside` are texts that hold the pieces, or a part of them, as they were written: small ones are read with them.
        """
        if not self:
            return None
        if len(pieces) > text_pieces.PIECES_MAX:
            return LeakFinding(None)
        ordered, values = text_pieces.join_pieces(pieces)
        budget = self.allow(len(ordered), passes=2) if budget is None else budget
        views: Iterator[str | bytes] = chain(text_pieces.iterate_arrangements(pieces), _iterate_disguises(ordered))
        if not ordered and not any(beside):
            return None
        if max(map(len, (ordered, *beside))) <= SMALL:
            decoded = iterate_views(*filter(None, (*beside, ordered, values)), budget=budget)
            return self._find_in_any(chain(decoded, views, [_shift(ordered)]), collected)
        for text in (*beside, text_pieces.group_by_kind(pieces)):
            if finding := self.find(text, budget=budget, collected=collected):
                return finding
        return self._find_in_any(chain((ordered, undo_all_escapes(values)), views, [_shift(ordered)]), collected)

    def find(
        self,
        text: str,
        *,
        thorough: bool = False,
        budget: StepBudget | None = None,
        small: int = SMALL,
        collected: _Collected | None = None,
    ) -> LeakFinding | None:
        """Return the first credential found in `text`, in any notation and nesting; one without a name once `budget` is spent.

        A text of up to `small` characters is decoded in more ways than a longer one.
        """
        if not self:
            return None
        budget = self._outer if budget is None else budget
        return self._find_in_any(iterate_views(text, thorough=thorough, budget=budget, small=small), collected)

    def _find_in_any(self, views: Iterable[str | bytes], collected: _Collected | None) -> LeakFinding | None:
        """Return the first credential found in one of `views`; one without a name where these end in a limit.

        Their skeletons are searched together, some at a time: nearly none holds anything, and a search costs more to begin
        than to go on. The first are few: what leaks mostly does so in one of them, and no other is decoded then.
        """
        waiting: list[tuple[str | bytes, bytes]] = []
        size, together = 0, TOGETHER_FIRST
        limited = None
        known: set[tuple[bytes, bool]] = set()
        try:
            for view in views:
                bare = reduce_to_skeleton(view)
                # most forms of a text differ in their separators only; a value that is searched for unchanged may have some
                if not self._exact:
                    if (bare, isinstance(view, str)) in known:
                        continue
                    known.add((bare, isinstance(view, str)))
                waiting.append((view, bare))
                size += len(bare)
                if size >= together:
                    if finding := self._search(waiting, collected):
                        return finding
                    waiting, size, together = [], 0, min(TOGETHER, 2 * together)
        except (NestingLimitError, InflationLimitError):
            limited = LeakFinding(None)
        return self._search(waiting, collected) or limited

    def _search(self, views: list[tuple[str | bytes, bytes]], collected: _Collected | None) -> LeakFinding | None:
        """Search views with their skeletons, one by one where any of them may hold something."""
        texts = BETWEEN.join([bare for view, bare in views if isinstance(view, str)])
        pieces = collected is not None and self._pieces.may_be_in(texts)
        if pieces or self._exact or self._holds_kernel(BETWEEN.join([bare for _, bare in views])):
            for view, bare in views:
                if finding := self._find_undecoded(view, bare, collected if pieces else None):
                    return finding
        return None

    def _holds_kernel(self, bare: bytes) -> bool:
        automaton = self._automaton
        return automaton is not None and any(
            automaton.find_matches_as_indexes(bare[first : first + BLOCK + KERNEL - 1]) for first in range(0, len(bare), BLOCK)
        )

    def find_spans(self, text: str) -> list[TextSpan]:
        """Return the places of credentials in `text` that need no decoding; at most `SPANS_MAX` + 1."""
        exact = (
            TextSpan(start, start + len(value), name, False)
            for value, name in self._exact
            for start in find_occurrences(text, value)
        )
        spans = list(islice(exact, SPANS_MAX + 1))
        hits: set[TextSpan] = set()
        for hit in self._iterate_hits(reduce_to_skeleton(text)):
            hits.add(hit)
            if len(spans) + len(hits) > SPANS_MAX:
                break
        if hits:
            places = locate(text, {index for hit in hits for index in (hit.start, hit.end - 1)})
            spans += [TextSpan(places[hit.start], places[hit.end - 1] + 1, hit.name, hit.coded) for hit in hits]
        return spans

    def _find_undecoded(self, view: str | bytes, bare: bytes, collected: _Collected | None = None) -> LeakFinding | None:
        for hit in self._iterate_hits(bare):
            return LeakFinding(hit.name)
        for value, name in self._exact:
            if (value in view) if isinstance(view, str) else (value.encode() in view):
                return LeakFinding(name)
        if collected is not None and isinstance(view, str):
            # text among bytes is a view of its own, and in noise pieces occur by chance
            self._pieces.collect(bare, collected)
        return None

    def _iterate_hits(self, bare: bytes) -> Iterator[TextSpan]:
        """Yield the places of secret patterns in a skeleton."""
        if self._automaton is None:
            return
        reached: dict[bytes, int] = {}
        for first in range(0, len(bare), BLOCK):
            block = bare[first : first + BLOCK + KERNEL - 1]
            for index, at, _ in self._automaton.find_matches_as_indexes(block, overlapping=True):
                start = first + at
                for pattern, place, name in self._kernels[index]:
                    if start + KERNEL <= reached.get(pattern.form, 0):
                        continue  # inside a hit of the same pattern, as in a value that repeats itself
                    hit_start = start - _count_equal_before(bare, start, pattern.form, place)
                    hit_end = start + KERNEL + _count_equal_after(bare, start + KERNEL, pattern.form, place + KERNEL)
                    if hit_end - hit_start >= pattern.least and _is_leak(pattern, bare, hit_start, hit_end):
                        reached[pattern.form] = hit_end
                        yield TextSpan(hit_start, hit_end, name, pattern.coded)


def _shift(text: str) -> bytes:
    """Return what is equal for each shift of the alphabet."""
    return build_difference_list(reduce_to_skeleton(text))


def _iterate_disguises(text: str) -> Iterator[bytes]:
    """Yield two cheap disguises undone: rotated ASCII (ROT47), and a filler after every few characters."""
    bare, plain = reduce_to_skeleton(text), text.encode("ascii", "ignore")
    yield plain.translate(_ROT47)
    # each is short, and to read one view costs more than its characters
    if len(text) <= FILLED_MAX:
        yield BETWEEN.join([bare[first::step] for step in (2, 3) for first in range(step)])
    if len(text) <= SMALL:
        yield BETWEEN.join([plain[first::2] for first in range(2)])
        yield BETWEEN.join([_without(bare, first, step) for step in (3, 4, 5) for first in range(step)])


def _is_leak(pattern: SecretPattern, bare: bytes, start: int, end: int) -> bool:
    """Tell whether this part of a skeleton is a leak, and not a word."""
    return end - start >= min(WHOLE, len(pattern.form)) or count_uncommon(bare[start:end]) >= pattern.telling


def _without(bare: bytes, first: int, step: int) -> bytearray:
    rest = bytearray(bare)
    del rest[first::step]
    return rest


def _iterate_kernels(pattern: SecretPattern) -> Iterator[int]:
    """Yield the places of the kernels of `pattern`: every part of it of `least` characters holds one."""
    last = len(pattern.form) - KERNEL
    distance = pattern.least - KERNEL + 1
    alike: Counter[bytes] = Counter()
    for place in range(min(last, distance - 1), last + 1, distance):
        kernel = pattern.form[place : place + KERNEL]
        alike[kernel] += 1
        if alike[kernel] <= ALIKE_MAX:
            yield place


def _count_equal_after(bare: bytes, end: int, form: bytes, from_: int) -> int:
    """Count the bytes from `end` on in `bare` that equal those from `from_` on in `form`."""
    most = min(len(form) - from_, len(bare) - end)
    return _find_longest(most, lambda count: bare.startswith(form[from_ : from_ + count], end))


def _count_equal_before(bare: bytes, start: int, form: bytes, to: int) -> int:
    """Count the bytes before `start` in `bare` that equal those before `to` in `form`."""
    return _find_longest(min(to, start), lambda count: bare.startswith(form[to - count : to], start - count))


def _find_longest(most: int, agree: Callable[[int], bool]) -> int:
    """Return the largest count up to `most` of bytes that `agree`; with a count, every smaller one agrees as well.

    A binary search: a value may be long, and all but one byte of it may be equal.
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
