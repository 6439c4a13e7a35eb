"""Fragments: how much of a secret is a leak by itself, how much is counted, and what anybody might have written by chance."""

from __future__ import annotations

import re

WHOLE = 16
"""A fragment of this many letters and digits in a row is a leak, whatever it reads like and however long the secret is."""

ALONE_MIN = 12
"""A shorter fragment than this never is one by itself, however short the secret is."""

COUNTED_MIN = 6
"""No shorter piece is counted, of whatever secret."""

STRIDE_FROM = 128
"""Of a longer secret pieces are counted from `ALONE_MIN` characters on: shorter ones would take too many patterns."""

UNCOMMON = 2
"""So many uncommon pairs of characters a counted piece needs; one that is two characters longer needs one only."""

_WORD_UNCOMMON_MAX = 4
"""So many uncommon pairs of characters may be in two words of a language that are written one after the other."""

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
"""The 200 pairs of letters of which nine tenths of English consists; of random letters, a third."""

_HEXADECIMAL = re.compile(rb"[0-9a-f]*")


def compute_leak_length(length: int) -> int:
    """Return from how many characters on a fragment of a secret of `length` letters and digits is a leak by itself."""
    return min(length, WHOLE, max(ALONE_MIN, -(-length // 2)))


def compute_counted_length(bare: bytes) -> int:
    """Return from how many characters on a piece of the skeleton `bare` is counted: the fewer there are to choose from, the
    more."""
    if len(bare) > STRIDE_FROM:
        return ALONE_MIN
    if bare.isdigit():
        return 10
    return 8 if _HEXADECIMAL.fullmatch(bare) else COUNTED_MIN


def compute_leak_uncommon(bare: bytes) -> int:
    """Return how many uncommon pairs a fragment shorter than `WHOLE` of the secret `bare` needs, so as not to be a word."""
    return _WORD_UNCOMMON_MAX + 1 if _reads_like_words(bare) else 1


def compute_counted_uncommon(bare: bytes) -> int:
    """Return how many uncommon pairs a piece of `compute_counted_length` characters needs: most of them in a passphrase,
    elsewhere `UNCOMMON`."""
    return (compute_counted_length(bare) - 1) // 2 + 1 if _reads_like_words(bare) else UNCOMMON


def _reads_like_words(bare: bytes) -> bool:
    """Tell whether a secret may be a passphrase: three fifths of its pairs of characters are common. Hardly any random one
    is."""
    return count_uncommon(bare) * 5 < (len(bare) - 1) * 2


def count_uncommon(fragment: bytes) -> int:
    """Count the neighbouring characters that are no common pair of letters, nor the same or consecutive, nor go on evenly."""
    text, before, count = fragment.decode("ascii"), 0, 0
    for start in range(len(text) - 1):
        step = ord(text[start + 1]) - ord(text[start])
        count += abs(step) > 1 and step != before and text[start : start + 2] not in _COMMON
        before = step
    return count
