"""Secret pieces, too short to be a leak alone, counted by position in a request and an execution (slow exfiltration)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from ferryman.domain.credentials.coverage import NOTHING, Coverage
from ferryman.egress.leaks import fragments
from ferryman.egress.leaks.skeleton import reduce_to_skeleton, rotate_letters

PATTERN = 8
"""Characters of the patterns of a long secret, whose distance is so small that every piece that counts holds one."""

LONGEST = 12  # the longest pattern
BLOCK = 65_536  # bytes of a skeleton that are searched at a time: each match is an object, and hostile text has many
REPEATS_MAX = 4  # Of a pattern that a secret repeats, only the first so many places are searched for
WIDENED_MAX = 1_024
"""Matches in a text that are extended as far as they go on; each further one counts with its own length only."""


class SecretPart(NamedTuple):
    """A secret part: its credential, a digest that names it, and the number of its letters and digits."""

    name: str
    digest: str
    length: int


class _Pattern(NamedTuple):
    part: SecretPart
    least: int
    form: bytes
    backwards: bool
    place: int
    length: int

    def __repr__(self) -> str:
        return f"_Pattern({self.part.name})"


@dataclass(frozen=True, slots=True)
class SecretPieces:
    """The pieces found in one request: half-open ranges of positions, by secret part. Nothing of a secret itself."""

    ranges: Mapping[SecretPart, set[tuple[int, int]]] = field(default_factory=dict, repr=False)

    def add_to(self, earlier: Coverage) -> tuple[str | None, Coverage]:
        """Return the credential of which too much has been sent, or None, and the coverage with these pieces added.

        Too much is more than half of a secret part, unless it is one single piece of fewer than `ALONE_MIN` characters.
        Pieces that were sent before add nothing.
        """
        sent = dict(earlier.sent)
        for part, ranges in self.ranges.items():
            before = sent.get(part.digest, 0)
            after = before
            for start, end in ranges:
                after |= _bits(start, end)
            if after == before:
                continue
            sent[part.digest] = after
            count = after.bit_count()
            single = count < fragments.ALONE_MIN and any(_bits(start, end) == after for start, end in ranges)
            if count * 2 > part.length and not single:
                return part.name, Coverage(sent)
        return None, Coverage(sent) if sent != earlier.sent else earlier

    @property
    def too_many(self) -> str | None:
        """The credential of which these pieces alone are too much."""
        return self.add_to(NOTHING)[0]


class PreparedSecret:
    """A secret part of a credential, as a skeleton, and the patterns of its pieces, which are made when they are used."""

    def __init__(self, name: str, secret: str) -> None:
        self.name, self.bare = name, reduce_to_skeleton(secret)

    def __repr__(self) -> str:
        return f"PreparedSecret({self.name})"

    @cached_property
    def patterns(self) -> list[_Pattern]:
        """The patterns; none where it is too short for pieces to be counted."""
        return [*_generate_patterns(self.name, self.bare)] if len(self.bare) >= fragments.ALONE_MIN else []


class PieceFinder:
    """Finds pieces of secret parts in skeletons."""

    def __init__(self, secrets: Iterable[PreparedSecret]) -> None:
        known: dict[bytes, PreparedSecret] = {}
        for secret in secrets:
            known.setdefault(secret.bare, secret)
        self._patterns = [pattern for secret in known.values() for pattern in secret.patterns]
        forms = [pattern.form[pattern.place : pattern.place + pattern.length] for pattern in self._patterns]
        self._automaton = BytesAhoCorasick(forms, implementation=Implementation.ContiguousNFA) if forms else None

    def may_be_in(self, bare: bytes) -> bool:
        """Tell whether any piece is in a skeleton."""
        automaton = self._automaton
        return automaton is not None and any(
            automaton.find_matches_as_indexes(bare[first : first + BLOCK + LONGEST - 1]) for first in range(0, len(bare), BLOCK)
        )

    def collect(self, bare: bytes, into: dict[SecretPart, set[tuple[int, int]]]) -> None:
        """Add the pieces in the skeleton `bare` to `into`."""
        if self._automaton is None:
            return
        number = 0
        for first in range(0, len(bare), BLOCK):
            block = bare[first : first + BLOCK + LONGEST - 1]
            for index, at, _ in self._automaton.find_matches_as_indexes(block, overlapping=True):
                part, least, form, backwards, place, length = self._patterns[index]
                start, end = place, place + length
                number += 1
                if number <= WIDENED_MAX:
                    start, end = _extend(bare, first + at, form, place, length)
                if end - start >= least:
                    into.setdefault(part, set()).add((len(form) - end, len(form) - start) if backwards else (start, end))


def _generate_patterns(name: str, bare: bytes) -> Iterable[_Pattern]:
    part = SecretPart(name, hashlib.blake2b(bare, digest_size=16).hexdigest(), len(bare))
    least, telling = fragments.compute_counted_length(bare), fragments.compute_counted_uncommon(bare)
    long = len(bare) > fragments.STRIDE_FROM
    # a piece that reads like a part of a word counts when it is a little longer; in a passphrase it never does
    kinds = [(PATTERN, telling)] if long else [(least, telling), *([(least + 2, 1)] if telling == fragments.UNCOMMON else [])]
    stride = least - PATTERN + 1 if long else 1
    pairs = fragments.UncommonPairs(bare)
    forms: dict[bytes, bool] = {}
    for letters in (bare, rotate_letters(bare)):
        forms.setdefault(letters, False)
        forms.setdefault(letters[::-1], True)
    for form, backwards in forms.items():
        seen: Counter[bytes] = Counter()
        for place in range(0, len(form) - kinds[0][0] + 1, stride):
            seen[form[place : place + kinds[0][0]]] += 1
            if seen[form[place : place + kinds[0][0]]] > REPEATS_MAX:
                continue
            for length, uncommon in kinds:
                start = len(bare) - place - length if backwards else place
                if place + length <= len(form) and pairs.count(start, start + length) >= uncommon:
                    yield _Pattern(part, least, form, backwards, place, length)
                    break


def _extend(bare: bytes, start: int, form: bytes, place: int, length: int) -> tuple[int, int]:
    """Return the range of `form` that is around `start` of `bare`, where `length` characters from `place` on are.

    It is at most `WHOLE` characters longer on either side, which would be a leak.
    """
    offset = start - place
    first, least = place, max(0, place - fragments.WHOLE, -offset)
    while first > least and bare[offset + first - 1] == form[first - 1]:
        first -= 1
    last, most = place + length, min(len(form), place + length + fragments.WHOLE, len(bare) - offset)
    while last < most and bare[offset + last] == form[last]:
        last += 1
    return first, last


def _bits(start: int, end: int) -> int:
    return (1 << end) - (1 << start)
