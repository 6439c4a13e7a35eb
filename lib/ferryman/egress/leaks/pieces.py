"""Pieces: parts of secrets too short to be a leak by themselves, counted by position over a request and over an execution."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from ferryman.domain.credentials.coverage import NOTHING, Coverage
from ferryman.egress.leaks.fragments import (
    ALONE_MIN,
    STRIDE_FROM,
    UNCOMMON,
    WHOLE,
    compute_counted_length,
    compute_counted_uncommon,
    count_uncommon,
)
from ferryman.egress.leaks.skeleton import reduce_to_skeleton, rotate_letters

PATTERN = 8
"""Of a long secret only patterns of so many characters are looked for, so far apart that every piece that counts holds one."""

LONGEST = 12
"""No pattern is longer."""

BLOCK = 65_536
"""So many bytes of a skeleton are searched at a time: each match is an object, and hostile text is full of them."""

REPEATS_MAX = 4
"""A pattern that a secret repeats oftener than this is looked for at the first so many of its places only."""

WIDENED_MAX = 1_024
"""Of so many matches in a text it is seen how far they reach; of more, each counts as what was looked for and no more."""


class SecretPart(NamedTuple):
    """A secret part: the credential it belongs to, a digest that stands for it, how many letters and digits it has."""

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

    found: Mapping[SecretPart, set[tuple[int, int]]] = field(default_factory=dict, repr=False)

    def added_to(self, earlier: Coverage) -> tuple[str | None, Coverage]:
        """Return what has been sent with these pieces added, and the credential of which that is too much, or None.

        Too much is more than half of a secret part, unless all of it is one piece of fewer than `ALONE_MIN` characters.
        Pieces that were sent before add nothing.
        """
        sent = dict(earlier.sent)
        for part, ranges in self.found.items():
            before = sent.get(part.digest, 0)
            after = before
            for start, end in ranges:
                after |= _bits(start, end)
            if after == before:
                continue
            sent[part.digest] = after
            count = after.bit_count()
            single = count < ALONE_MIN and any(_bits(start, end) == after for start, end in ranges)
            if count * 2 > part.length and not single:
                return part.name, Coverage(sent)
        return None, Coverage(sent) if sent != earlier.sent else earlier

    @property
    def too_many(self) -> str | None:
        """The credential of which these pieces alone are too much."""
        return self.added_to(NOTHING)[0]


class PieceFinder:
    """Finds pieces of secret parts in skeletons. Takes pairs of a credential's name and a secret part of its value."""

    def __init__(self, secrets: Iterable[tuple[str, str]]) -> None:
        bares: dict[bytes, str] = {}
        for name, secret in secrets:
            bares.setdefault(reduce_to_skeleton(secret), name)
        self._patterns = [
            pattern for bare, name in bares.items() if len(bare) >= ALONE_MIN for pattern in _patterns(name, bare)
        ]
        forms = [each.form[each.place : each.place + each.length] for each in self._patterns]
        self._automaton = BytesAhoCorasick(forms, implementation=Implementation.ContiguousNFA) if forms else None

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
                    start, end = _extended(bare, first + at, form, place, length)
                if end - start >= least:
                    into.setdefault(part, set()).add((len(form) - end, len(form) - start) if backwards else (start, end))


def _patterns(name: str, bare: bytes) -> Iterable[_Pattern]:
    part = SecretPart(name, hashlib.blake2b(bare, digest_size=16).hexdigest(), len(bare))
    least, telling = compute_counted_length(bare), compute_counted_uncommon(bare)
    long = len(bare) > STRIDE_FROM
    # a piece that reads like a part of a word counts when it is a little longer; of a passphrase it never does
    kinds = [(PATTERN, telling)] if long else [(least, telling), *([(least + 2, 1)] if telling == UNCOMMON else [])]
    stride = least - PATTERN + 1 if long else 1
    forms: dict[bytes, bool] = {}
    for turned in (bare, rotate_letters(bare)):
        forms.setdefault(turned, False)
        forms.setdefault(turned[::-1], True)
    for form, backwards in forms.items():
        seen: Counter[bytes] = Counter()
        for place in range(0, len(form) - kinds[0][0] + 1, stride):
            seen[form[place : place + kinds[0][0]]] += 1
            if seen[form[place : place + kinds[0][0]]] > REPEATS_MAX:
                continue
            for length, uncommon in kinds:
                start = len(bare) - place - length if backwards else place
                if place + length <= len(form) and count_uncommon(bare[start : start + length]) >= uncommon:
                    yield _Pattern(part, least, form, backwards, place, length)
                    break


def _extended(bare: bytes, start: int, form: bytes, place: int, length: int) -> tuple[int, int]:
    """Return which part of `form` stands around `start` of `bare`, where `length` characters from `place` on do; up to
    `WHOLE` more on either side, which would be a leak."""
    offset = start - place
    first, least = place, max(0, place - WHOLE, -offset)
    while first > least and bare[offset + first - 1] == form[first - 1]:
        first -= 1
    last, most = place + length, min(len(form), place + length + WHOLE, len(bare) - offset)
    while last < most and bare[offset + last] == form[last]:
        last += 1
    return first, last


def _bits(start: int, end: int) -> int:
    return (1 << end) - (1 << start)
