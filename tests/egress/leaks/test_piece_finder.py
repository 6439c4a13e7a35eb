"""The finder of pieces: exactly which positions of a secret part a text holds, in each spelling, and what is not counted."""

from __future__ import annotations

import codecs
import random
from collections.abc import Callable

import pytest

from ferryman.domain.credentials.coverage import NOTHING
from ferryman.egress.leaks.fragments import (
    ALONE_MIN,
    STRIDE_FROM,
    WHOLE,
    compute_counted_length,
    compute_leak_uncommon,
    count_uncommon,
)
from ferryman.egress.leaks.pieces import BLOCK, REPEATS_MAX, WIDENED_MAX, PieceFinder, PreparedSecret, SecretPart, SecretPieces
from tests.canaries.canary import create_key

SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "backwards": lambda piece: piece[::-1],
    "rot13": lambda piece: codecs.encode(piece, "rot13"),
    "rot13, backwards": lambda piece: codecs.encode(piece, "rot13")[::-1],
}


def draw(length: int, alphabet: str = "bcdfghjklmnpqrstvwxz2345678") -> str:
    """Return letters and digits of which no piece reads like a word."""
    dice = random.Random(length)
    while True:
        value = "".join(dice.choice(alphabet) for _ in range(length))
        if all(count_uncommon(value[start : start + 6].encode()) > 2 for start in range(length - 5)):
            return value


SHORT, LONG, VERY_LONG = draw(20), draw(STRIDE_FROM), draw(STRIDE_FROM + 1)
RIM = "9"  # neither in a drawn value nor in what it is turned to


def collect(text: str, *secrets: str) -> dict[str, set[tuple[int, int]]]:
    """Return the positions that `text` holds of each of `secrets`, by name."""
    ranges: dict[SecretPart, set[tuple[int, int]]] = {}
    PieceFinder([PreparedSecret(f"K{number}", secret) for number, secret in enumerate(secrets)]).collect(text.encode(), ranges)
    return {part.name: places for part, places in ranges.items()}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("length", [6, 7, 11, 20])
def test_a_piece_is_told_by_its_positions_in_the_secret(spelling: str, length: int) -> None:
    finder = PieceFinder([PreparedSecret("K", SHORT)])
    for start in range(len(SHORT) - length + 1):
        ranges: dict[SecretPart, set[tuple[int, int]]] = {}
        finder.collect(f"{RIM}{SPELLINGS[spelling](SHORT[start : start + length])}{RIM}".encode(), ranges)
        assert list(ranges.values()) == [{(start, start + length)}]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("secret", "least"), [(SHORT, 6), (LONG, 6), (VERY_LONG, ALONE_MIN)])
def test_a_piece_counts_from_its_least_length_on(secret: str, least: int, spelling: str) -> None:
    assert compute_counted_length(secret.encode()) == least
    for start in (0, 5, len(secret) - least):
        piece = SPELLINGS[spelling](secret[start : start + least])
        assert collect(f"{RIM}{piece}{RIM}", secret) == {"K0": {(start, start + least)}}
        assert collect(f"{RIM}{piece[1:]}{RIM}", secret) == {}


def test_a_piece_of_a_very_long_secret_counts_wherever_in_it_it_is() -> None:
    finder = PieceFinder([PreparedSecret("K", VERY_LONG)])
    for start in range(len(VERY_LONG) - ALONE_MIN + 1):
        ranges: dict[SecretPart, set[tuple[int, int]]] = {}
        finder.collect(f"{RIM}{VERY_LONG[start : start + ALONE_MIN]}{RIM}".encode(), ranges)
        assert list(ranges.values()) == [{(start, start + ALONE_MIN)}]


def test_a_part_is_told_by_its_name_its_length_and_a_digest_that_shows_nothing() -> None:
    ranges: dict[SecretPart, set[tuple[int, int]]] = {}
    secrets = [PreparedSecret("A", SHORT), PreparedSecret("B", SHORT.upper()), PreparedSecret("C", LONG)]
    PieceFinder(secrets).collect(f"{SHORT[:8]}{RIM}{LONG[:8]}".encode(), ranges)
    assert {(part.name, part.length, len(part.digest)) for part in ranges} == {("A", 20, 32), ("C", STRIDE_FROM, 32)}
    assert len({part.digest for part in ranges}) == 2


@pytest.mark.parametrize(("length", "counted"), [(ALONE_MIN - 1, {}), (ALONE_MIN, {"K0": {(0, 8)}})])
def test_a_secret_that_is_too_short_has_no_pieces(length: int, counted: dict[str, object]) -> None:
    assert collect(SHORT[:8] + RIM, SHORT[:length]) == counted
    assert collect(SHORT, "") == {}


def test_a_piece_is_extended_by_what_would_be_a_leak_and_no_further() -> None:
    assert collect(LONG, LONG) == {
        "K0": {(max(0, place - WHOLE), min(len(LONG), place + 6 + WHOLE)) for place in range(len(LONG) - 5)}
    }


@pytest.mark.parametrize("before", [0, BLOCK - 12, BLOCK - 8, BLOCK - 7, BLOCK - 1, BLOCK, 2 * BLOCK - 3])
@pytest.mark.parametrize("secret", [SHORT, VERY_LONG])
def test_a_piece_is_found_across_the_blocks_that_are_searched(before: int, secret: str) -> None:
    assert collect(RIM * before + secret[3:15] + RIM, secret) == {"K0": {(3, 15)}}


def test_after_many_matches_each_counts_with_its_own_length() -> None:
    matches = f"{SHORT[:6]}{RIM}" * WIDENED_MAX
    assert collect(matches[7:] + SHORT[8:16] + RIM, SHORT) == {"K0": {(0, 6), (8, 16), (9, 15), (10, 16)}}
    assert collect(matches + SHORT[8:16] + RIM, SHORT) == {"K0": {(0, 6), (8, 14), (9, 15), (10, 16)}}


def test_of_a_secret_that_repeats_itself_the_first_places_are_searched_for() -> None:
    unit = SHORT[:7]
    places = {start for pieces in collect(f"{RIM}{unit[:6]}{RIM}", unit * 8).values() for start, _ in pieces}
    assert places == {7 * number for number in range(REPEATS_MAX)}


def test_a_piece_like_a_word_counts_when_it_is_two_characters_longer() -> None:
    value = "therez8then" + SHORT[:9]
    assert count_uncommon(b"therez") == 1
    assert collect(f"{RIM}therez{RIM}", value) == {}
    assert collect(f"{RIM}therez8t{RIM}", value) == {"K0": {(0, 8)}}


@pytest.mark.parametrize(
    ("ranges", "name"),
    [
        ({(0, 10)}, None),
        ({(0, 11)}, None),  # more than half, in one piece that is no leak by itself
        ({(0, 12)}, "KEY"),
        ({(0, 6), (14, 18)}, None),
        ({(0, 6), (13, 18)}, "KEY"),
        ({(0, 8), (3, 11)}, "KEY"),
        ({(0, 11), (2, 9)}, None),
    ],
)
def test_more_than_half_in_several_pieces_is_too_much(ranges: set[tuple[int, int]], name: str | None) -> None:
    part = SecretPart("KEY", "digest", 20)
    too_many, sent = SecretPieces({part: ranges}).add_to(NOTHING)
    assert too_many == SecretPieces({part: ranges}).too_many == name
    covered = {place for start, end in ranges for place in range(start, end)}
    assert sent.sent["digest"] == sum(1 << place for place in covered)


def test_nothing_new_leaves_the_coverage_as_it_is() -> None:
    part = SecretPart("KEY", "digest", 40)
    _, sent = SecretPieces({part: {(2, 9)}}).add_to(NOTHING)
    assert sent.sent == {"digest": 0b111111100}
    assert SecretPieces({part: {(3, 8)}}).add_to(sent) == (None, sent)
    assert SecretPieces({part: {(3, 8)}}).add_to(sent)[1] is sent
    assert SecretPieces({}).add_to(NOTHING) == (None, NOTHING)


def test_every_part_of_a_request_is_added_up() -> None:
    first, second = SecretPart("A", "a", 40), SecretPart("B", "b", 12)
    _, sent = SecretPieces({first: {(0, 8)}}).add_to(NOTHING)
    name, sent = SecretPieces({first: {(0, 8)}, second: {(0, 3), (5, 9)}}).add_to(sent)
    assert (name, set(sent.sent)) == ("B", {"a", "b"})


@pytest.mark.parametrize(
    ("bare", "least"), [("correcthorsebatterystaple", 5), ("thenthenthenthq7x9k2wqq7", 5), (create_key("words or not", 24), 1)]
)
def test_a_fragment_of_a_passphrase_needs_more_uncommon_pairs(bare: str, least: int) -> None:
    assert compute_leak_uncommon(bare.lower().encode()) == least
