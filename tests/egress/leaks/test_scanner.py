"""The scanner itself: what of a key it finds, where, and what it takes for a word. Each test makes its own scanner."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Callable
from itertools import pairwise

import pytest

from ferryman.egress.leaks.fragments import count_uncommon
from ferryman.egress.leaks.patterns import SecretPattern
from ferryman.egress.leaks.scanner import (
    ALIKE_MAX,
    BLOCK,
    FILLED_MAX,
    KERNEL,
    SPANS_MAX,
    LeakFinding,
    SecretScanner,
    TextSpan,
    _iterate_kernels,
)
from ferryman.egress.leaks.text_pieces import PIECES_MAX, TextPiece
from ferryman.egress.leaks.views import SMALL, StepBudget
from tests.canaries.canary import create_key
from tests.egress.plants import credential

KEY, LONG = create_key("scanner", 24), create_key("scanner, long", 80)
EXACT = "p@55-w.d!"  # six letters and digits: too few for a pattern


def scan(*values: str) -> SecretScanner:
    return SecretScanner([credential(value, f"K{number}") for number, value in enumerate(values)])


def find(text: str, *values: str) -> str | None:
    finding = scan(*values).find(text)
    return finding and finding.name


def find_among(text: str, value: str) -> str | None:
    finding = scan(value).find_among([TextPiece("body", "body", text)])
    return finding and finding.name


def test_a_scanner_has_something_to_scan_for_or_not() -> None:
    assert [bool(scan()), bool(scan("abc")), bool(scan(EXACT)), bool(scan(KEY))] == [False, False, True, True]
    assert scan().find(KEY) is None
    assert scan().find_among([TextPiece("body", "body", KEY)]) is None


def test_it_shows_how_many_credentials_it_has_and_none_of_them() -> None:
    assert repr(scan(KEY, LONG)) == "Scanner(2 credentials)"


@pytest.mark.parametrize(("length", "least"), [(24, 12), (30, 15), (32, 16), (80, 16)])
@pytest.mark.parametrize("spelling", ["{}", "backwards", "rot13"])
def test_every_fragment_of_half_a_key_or_sixteen_characters_is_found(length: int, least: int, spelling: str) -> None:
    scanner = scan(LONG[:length])
    for start in range(length - least + 1):
        fragment = LONG[start : start + least]
        if spelling == "backwards":
            fragment = fragment[::-1]
        elif spelling == "rot13":
            fragment = codecs.encode(fragment, "rot13")
        finding = scanner.find_spans(f"__{fragment}__")
        assert [(span.name, span.coded) for span in finding][:1] == [("K0", False)]
        assert (min(span.start for span in finding), max(span.end for span in finding)) == (2, 2 + least)


def test_a_fragment_of_less_than_half_is_not_found() -> None:
    assert {len(scan(LONG).find_spans(LONG[start : start + 15])) for start in range(65)} == {0}


def make_words(words: str) -> str:
    """Return a key of 24 characters that begins with these twelve letters."""
    return words + "q7x9k2w4j8z5"


def test_a_fragment_like_a_word_is_a_leak_with_one_pair_that_no_word_has() -> None:
    assert (count_uncommon(b"thenthenthen"), count_uncommon(b"thenthenthez")) == (0, 1)
    assert scan(make_words("thenthenthen")).find_spans("a thenthenthen") == []
    assert scan(make_words("thenthenthez")).find_spans("a thenthenthez") == [TextSpan(2, 14, "K0", coded=False)]


def test_sixteen_characters_of_a_passphrase_are_a_leak_and_fifteen_are_words() -> None:
    phrase = "thereisnothingintherainhere"
    assert find(f"a {phrase[:16]}.", phrase) == "K0"
    assert find(f"a {phrase[:15]}.", phrase) is None


def test_the_place_of_a_key_is_told_in_characters_of_the_text() -> None:
    text = f"é {KEY[:10]}-{KEY[10:]}. é"
    assert set(scan(KEY).find_spans(text)) == {TextSpan(2, len(text) - 3, "K0", coded=False)}
    coded = KEY.encode().hex()
    assert {(span.start, span.end, span.coded) for span in scan(KEY).find_spans(f"see {coded}")} == {(4, 4 + 48, True)}


def test_a_key_is_found_across_the_blocks_that_are_searched() -> None:
    scanner = scan(KEY)
    for start in (0, BLOCK - 24, BLOCK - 12, BLOCK - KERNEL, BLOCK - 1, BLOCK, 2 * BLOCK - 5):
        assert {(span.start, span.end) for span in scanner.find_spans("~" * 3 + "z" * start + KEY)} == {
            (3 + start, 3 + start + 24)
        }


def test_every_key_of_a_text_is_told_by_its_name() -> None:
    spans = scan(KEY, LONG, EXACT).find_spans(f"{LONG} {EXACT} {KEY}")
    assert {span.name for span in spans} == {"K0", "K1", "K2"}


@pytest.mark.parametrize(("value", "text", "expected"), [("pa55", "a pa55 b", True), ("p55", "a p55 b", False)])
def test_a_short_value_is_found_unchanged_from_four_characters_on(value: str, text: str, *, expected: bool) -> None:
    assert find(text, value) == ("K0" if expected else None)
    assert scan(value).find_spans(text) == ([TextSpan(2, 6, "K0", coded=False)] if expected else [])
    assert find(text.upper(), value) is None


def test_a_short_password_is_found_without_its_user() -> None:
    assert find("see p@55!", "me:p@55!") == "K0"
    assert find("see me", "me:p@55!") is None


def test_a_short_value_is_found_among_decoded_bytes() -> None:
    assert find(f"see {('~~ ' + EXACT + ' ~~').encode().hex()}", EXACT) == "K0"


@pytest.mark.parametrize("value", [EXACT, KEY])
def test_of_more_credentials_than_are_located_one_more_is_told(value: str) -> None:
    scanner = scan(value)
    assert len(scanner.find_spans(f"{value} " * SPANS_MAX)) == SPANS_MAX
    assert len(scanner.find_spans(f"{value} " * (SPANS_MAX + 5))) == SPANS_MAX + 1


def test_more_pieces_than_are_scanned_are_a_finding_without_a_name() -> None:
    assert scan(KEY).find_among([TextPiece("a", "a", "")] * (PIECES_MAX + 1)) == LeakFinding(None)


def test_a_budget_that_is_given_is_the_one_that_is_spent() -> None:
    budget = StepBudget(100)
    before = budget.remaining
    scan(KEY).find_among([TextPiece("a", "a", "some words")], budget=budget)
    assert budget.remaining < before
    budget.remaining = 0
    assert scan(KEY).find_among([TextPiece("a", "a", "some words")], budget=budget) == LeakFinding(None)
    assert scan(KEY).find("some words", budget=budget) == LeakFinding(None)


@pytest.mark.parametrize("shift", [1, 12, 25])
def test_a_key_in_a_shifted_alphabet_is_found(shift: int) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    table = str.maketrans(letters, letters[shift:] + letters[:shift])
    assert find_among(KEY.lower().translate(table), KEY) == "K0"


@pytest.mark.parametrize("write", [str.lower, str.upper], ids=["small", "capital"])
def test_half_a_key_in_base32_is_found_where_it_has_no_digit(write: Callable[[str], str]) -> None:
    written = base64.b32encode(b"2TwS3tEi6Nro8BYb").decode().rstrip("=")
    assert written.isalpha()
    assert find_among(write(written), "2TwS3tEi6Nro8BYb89RzZAMD2VXwFbuK") == "K0"


def test_a_key_as_a_number_in_base_36_is_found_where_it_has_no_digit() -> None:
    assert find_among("dpfvuqredrbgzphfozdexjsydlbdpor", "uW7PgRKmxsFKMksB5crK") == "K0"


def test_a_text_counts_as_small_up_to_the_length_that_is_given() -> None:
    value = "89RzZAMD2VXwFbuK2zMbDs7D"  # each third of it has a digit in base32
    words = " ".join(base64.b32encode(value[start : start + 8].encode()).decode().rstrip("=") for start in (0, 8, 16))
    assert scan(value).find(words) == LeakFinding("K0")
    assert scan(value).find(words, small=len(words)) == LeakFinding("K0")
    assert scan(value).find(words, small=0) is None


def rotate_47(text: str) -> str:
    return "".join(chr(33 + (ord(character) - 33 + 47) % 94) if 33 <= ord(character) < 127 else character for character in text)


def test_a_key_in_rotated_ascii_is_found_between_spaces_and_other_characters() -> None:
    assert find_among(rotate_47(KEY), KEY) == "K0"
    assert find_among(f"é {rotate_47(KEY)} é", KEY) == "K0"


def fill(value: str, step: int, first: int) -> str:
    """Return `value` in every so many characters of a text, after `first` others."""
    return "x" * first + ("x" * (step - 1)).join(value)


def insert(value: str, step: int, first: int) -> str:
    """Return `value` with a filler at every so many characters of the text, from `first` on."""
    characters = list(value)
    for place in range(first, len(value) * step // (step - 1), step):
        characters.insert(place, "x")
    return "".join(characters)


@pytest.mark.parametrize(("step", "first"), [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
@pytest.mark.parametrize("length", [0, SMALL + 1, FILLED_MAX])
def test_a_key_in_every_second_or_third_character_is_found(step: int, first: int, length: int) -> None:
    assert find_among(fill(KEY, step, first).ljust(length, "~"), KEY) == "K0"


def test_fillers_are_left_out_of_a_text_up_to_some_length() -> None:
    assert find_among(fill(KEY, 2, 0).ljust(FILLED_MAX + 1, "~"), KEY) is None


@pytest.mark.parametrize(("step", "first"), [(step, first) for step in (3, 4, 5) for first in range(step)])
def test_a_key_with_a_filler_after_every_few_characters_is_found_in_a_small_text(step: int, first: int) -> None:
    text = insert(KEY, step, first)
    assert find_among(text.ljust(SMALL, "~"), KEY) == "K0"
    assert find_among(text.ljust(SMALL + 1, "~"), KEY) is None


@pytest.mark.parametrize("first", [0, 1])
def test_a_key_between_signs_that_count_as_characters_is_found_in_a_small_text(first: int) -> None:
    text = "-" * first + "".join(f"{letter}{filler}" for letter, filler in zip(KEY, "q--q-qq--qq-q-q--qqq--q-", strict=True))
    assert find_among(text, KEY) == "K0"


def list_places(length: int, least: int) -> list[int]:
    return list(_iterate_kernels(SecretPattern(LONG.lower().encode()[:length], least, coded=False)))


@pytest.mark.parametrize(("length", "least"), [(10, 10), (12, 12), (24, 12), (32, 16), (80, 16), (80, 80)])
def test_kernels_are_as_far_apart_as_every_part_allows_that_is_a_leak(length: int, least: int) -> None:
    places = list_places(length, least)
    assert all(
        any(start <= place and place + KERNEL <= start + least for place in places) for start in range(length - least + 1)
    )
    assert {after - before for before, after in pairwise(places)} <= {least - KERNEL + 1}


def test_of_a_value_that_repeats_itself_some_kernels_are_searched_for() -> None:
    assert list(_iterate_kernels(SecretPattern(b"a" * 200, 16, coded=False))) == [8, 17, 26, 35][:ALIKE_MAX]
    assert find("a" * 40, "a" * 200) == "K0"
