"""Fragments: how much of a secret is a leak by itself, how much is counted, and what occurs by chance."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise

WHOLE = 16
"""A fragment of this many letters and digits in a row is a leak, even if it reads like a word, of a secret of any length."""

ALONE_MIN = 12  # a shorter fragment is never a leak by itself, even of a short secret
COUNTED_MIN = 6  # a shorter piece of any secret is not counted
STRIDE_FROM = 128
"""Of a longer secret pieces are counted from `ALONE_MIN` characters on: shorter ones would take too many patterns."""

UNCOMMON = 2  # uncommon pairs of characters in a counted piece; a piece that is two characters longer needs only one
_WORD_UNCOMMON_MAX = 4  # the most uncommon pairs of characters in two consecutive words of a language
_COMMON = {
    first + second
    for first, seconds in {
        "a": "bcdgilmnprstuy", "b": "aeilou", "c": "acehiklortu", "d": "aeios", "e": "acdefglmnpqrstvwx", "f": "aefiou",
        "g": "aeiru", "h": "aeio", "i": "abcdefglmnoprstvz", "k": "es", "l": "adeilostuy", "m": "aeimop", "n": "acdefginostv",
        "o": "bcdgilmnoprstuvw", "p": "aeiloprstu", "q": "u", "r": "acdegikmnorstuvy", "s": "acehiopstuy", "t": "acehiorstuy",
        "u": "belmnprst", "v": "aei", "w": "aio", "x": "pt", "y": "np", "z": "e",
    }.items()
    for second in seconds
}  # fmt: skip
"""The 200 pairs of letters that make up nine tenths of English, and a third of random letters."""

_HEXADECIMAL = re.compile(rb"[0-9a-f]*")


def compute_leak_length(length: int) -> int:
    """Return the least characters of a fragment that is a leak by itself, for a secret of `length` letters and digits."""
    return min(length, WHOLE, max(ALONE_MIN, -(-length // 2)))


def compute_counted_length(bare: bytes) -> int:
    """Return the least characters of a counted piece of the skeleton `bare`: more for a smaller alphabet."""
    if len(bare) > STRIDE_FROM:
        return ALONE_MIN
    if bare.isdigit():
        return 10
    return 8 if _HEXADECIMAL.fullmatch(bare) else COUNTED_MIN


def compute_leak_uncommon(bare: bytes) -> int:
    """Return how many uncommon pairs a fragment shorter than `WHOLE` of the secret `bare` needs, to differ from a word."""
    return _WORD_UNCOMMON_MAX + 1 if _reads_like_words(bare) else 1


def compute_counted_uncommon(bare: bytes) -> int:
    """Return how many uncommon pairs a piece of `compute_counted_length` characters needs: in a passphrase
    most of them, elsewhere `UNCOMMON`."""
    return (compute_counted_length(bare) - 1) // 2 + 1 if _reads_like_words(bare) else UNCOMMON


def _reads_like_words(bare: bytes) -> bool:
    """Tell whether a secret may be a passphrase: three fifths of its pairs are common, as of hardly any random secret."""
    return count_uncommon(bare) * 5 < (len(bare) - 1) * 2


def count_uncommon(fragment: bytes) -> int:
    """Count the pairs of characters that are not common, equal or consecutive, nor repeat the step before."""
    return UncommonPairs(fragment).count(0, len(fragment))


class UncommonPairs:
    """The uncommon pairs of characters in a skeleton, so that those of each of its fragments are counted at once."""

    def __init__(self, bare: bytes) -> None:
        text = bare.decode("ascii")
        steps = [second - first for first, second in pairwise(bare)]
        self._alone = [abs(step) > 1 and text[place : place + 2] not in _COMMON for place, step in enumerate(steps)]
        after = (alone and step != before for alone, step, before in zip(self._alone[1:], steps[1:], steps, strict=False))
        self._sums = [0, 0, *accumulate(after)]  # the first pair of a fragment follows no step

    def count(self, start: int, end: int) -> int:
        """Count those of the fragment from `start` up to `end`."""
        return self._alone[start] + self._sums[end - 1] - self._sums[start + 1] if end - start > 1 else 0
