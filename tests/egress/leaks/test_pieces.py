"""Pieces: what is a leak by itself, what is counted, and when the pieces of one key are too many."""

from __future__ import annotations

import base64
import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.credentials.coverage import BYTES_MAX, NOTHING, Coverage
from ferryman.egress.leaks import SecretScanner
from ferryman.egress.leaks.fragments import compute_counted_length, compute_leak_length, count_uncommon
from ferryman.egress.leaks.pieces import SecretPart, SecretPieces
from ferryman.egress.leaks.skeleton import reduce_to_skeleton
from tests.canaries.canary import LETTERS, create_key
from tests.egress.plants import HEX, credential, outbound


def telling(name: str, length: int, alphabet: str = LETTERS) -> str:
    """Return a key of which every piece counts: of hundred pieces of random keys some read like a word or a row."""
    drawn = (create_key(f"{name} {number}", length, alphabet) for number in range(1_000))
    least = compute_counted_length(reduce_to_skeleton(alphabet))
    return next(
        value
        for value in drawn
        if all(
            count_uncommon(reduce_to_skeleton(value[start : start + least])) > least // 2 for start in range(length - least + 1)
        )
    )


SHORT = telling("sixteen characters", 16)
LONG = telling("thirty-four characters", 34)
DIGITS = telling("digits alone", 20, "0123456789")
HEXADECIMAL = telling("hexadecimal", 32, HEX)
SPELT = {
    "as it is": lambda piece: piece,
    "backwards": lambda piece: piece[::-1],
    "in rot13": lambda piece: codecs.encode(piece, "rot13"),
    "in base64": lambda piece: base64.b64encode(piece.encode()).decode(),
    "in hexadecimal": lambda piece: piece.encode().hex(),
    "with dashes": "-".join,
}


def apart(value: str) -> str:
    """Return a letter that neither goes on with a piece of `value` nor, turned by thirteen, with one that was turned."""
    used = {*value.lower(), *codecs.encode(value.lower(), "rot13")}
    return next((letter for letter in "qzxjvkwyubpfghmcadeilnorst0123456789" if letter not in used), "")


def send_calls(value: str, *calls: str) -> list[bool]:
    """Tell whether each of `calls` of one execution is refused, the pieces of those that are not being kept."""
    scanner, sent, verdicts, rim = SecretScanner([credential(value)]), NOTHING, [], apart(value)
    for text in calls:
        finding, pieces = scanner.scan_request(outbound(body={"note": f"{rim}, {text}, {rim}"}))
        name, after = pieces.add_to(sent)
        verdicts.append(finding is not None or name is not None)
        sent = sent if verdicts[-1] else after
    return verdicts


@pytest.mark.parametrize(("length", "least"), [(10, 10), (12, 12), (16, 12), (20, 12), (24, 12), (28, 14), (32, 16), (400, 16)])
def test_a_fragment_is_a_leak_from_half_the_length_of_the_secret(length: int, least: int) -> None:
    assert compute_leak_length(length) == least


@pytest.mark.parametrize("length", range(12, 16))
@pytest.mark.parametrize("spelling", SPELT)
def test_twelve_or_more_of_sixteen_characters_are_a_leak(length: int, spelling: str) -> None:
    for start in range(16 - length + 1):
        assert send_calls(SHORT, SPELT[spelling](SHORT[start : start + length])) == [True]


@pytest.mark.parametrize("length", range(1, 12))
def test_fewer_than_twelve_never_are_one_by_themselves(length: int) -> None:
    for start in range(16 - length + 1):
        piece = SHORT[start : start + length]
        assert send_calls(SHORT, piece, piece) == [False, False]


@pytest.mark.parametrize("spelling", SPELT)
def test_a_key_in_three_calls_is_stopped_at_the_call_that_takes_it_past_half(spelling: str) -> None:
    pieces = [SPELT[spelling](LONG[start : start + 11]) for start in (0, 11, 22)]
    assert send_calls(LONG, *pieces) == [False, True, True]


def test_a_key_in_calls_of_eight_characters_is_stopped_once_more_than_half_of_it_has_gone() -> None:
    assert send_calls(LONG, LONG[25:], LONG[:8], LONG[12:20]) == [False, False, True]
    assert send_calls(HEXADECIMAL, HEXADECIMAL[:8], HEXADECIMAL[8:16], HEXADECIMAL[16:24]) == [False, False, True]


@pytest.mark.parametrize("spelling", SPELT)
def test_pieces_of_eight_characters_are_counted_in_every_spelling(spelling: str) -> None:
    pieces = [f"{SPELT[spelling](LONG[start : start + 8])}" for start in (0, 8, 16)]
    assert send_calls(LONG, *pieces) == [False, False, True]
    long = "a body of more than is small, " * 400
    assert send_calls(LONG, *(f"{long}: {piece}, {long}" for piece in pieces)) == [False, False, True]


@pytest.mark.parametrize("spelling", SPELT)
def test_a_piece_that_reads_like_a_word_is_counted_from_eight_characters_on(spelling: str) -> None:
    key = "qjcGBUbKcU9UtEGZyPsi6nSa8ttF2mwsb"
    readable = key[12:20]
    assert count_uncommon(reduce_to_skeleton(readable)) == 1
    assert send_calls(key, *(SPELT[spelling](piece) for piece in (key[:8], key[24:32], readable))) == [False, False, True]


def test_two_halves_of_a_short_key_do_not_both_leave() -> None:
    assert send_calls(SHORT, SHORT[:8], SHORT[8:]) == [False, True]
    assert send_calls(DIGITS, DIGITS[:10], DIGITS[10:]) == [False, True]


def test_pieces_that_overlap_add_what_is_new_of_them() -> None:
    assert send_calls(SHORT, SHORT[:8], SHORT[3:11]) == [False, True]
    assert send_calls(LONG, LONG[:11], LONG[2:13], LONG[4:15], LONG[6:16]) == [False] * 4


def test_what_was_sent_before_adds_nothing_however_often_it_is_sent() -> None:
    assert send_calls(SHORT, *[SHORT[:11]] * 5, SHORT[2:9], SHORT[8:]) == [False] * 6 + [True]


def test_pieces_of_one_request_are_added_up_wherever_in_it_they_are() -> None:
    scanner = SecretScanner([credential(LONG)])
    request = outbound(
        url=f"https://api.news.test/{LONG[22:31]}",
        headers={"x-note": base64.b64encode(LONG[:9].encode()).decode()},
        body={"a": "well", "b": LONG[11:20].encode().hex()},
    )
    assert scanner.find_in_request(request) is not None


def test_a_piece_of_another_key_is_another_matter() -> None:
    other = create_key("another", 32)
    scanner = SecretScanner([credential(LONG, "A"), credential(other, "B")])
    finding, pieces = scanner.scan_request(outbound(body={"note": f"{LONG[:11]} {other[:11]}"}))
    assert finding is None
    name, sent = pieces.add_to(NOTHING)
    assert (name, len(sent.sent)) == (None, 2)


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("configuration-mountain-1", ["the configuration of a mountain", "mountain configuration 1"]),
        ("correct-horse-battery-staple", ["correct", "horse and staple", "battery of the horse"]),
        ("abcdefghijklmnop0123456789", ["abcdefghijk", "0123456789", "efghijklmno"]),
        ("aaaaaaaaaaaaaaaabcdefgh", ["aaaaaaaaaaa", "aaaabcd", "bcdefgh"]),
    ],
)
def test_words_and_rows_that_are_in_every_text_do_not_add_up(value: str, texts: list[str]) -> None:
    assert send_calls(value, *texts) == [False] * len(texts)


@given(st.lists(st.tuples(st.integers(0, 33), st.integers(6, 15)), max_size=12))
def test_however_it_is_cut_no_more_than_half_of_a_key_leaves_in_pieces_that_count(cuts: list[tuple[int, int]]) -> None:
    scanner, sent = SecretScanner([credential(LONG)]), NOTHING
    for start, length in cuts:
        _, pieces = scanner.scan_request(outbound(body={"note": f"{LONG[start : start + length]}"}))
        name, after = pieces.add_to(sent)
        sent = after if name is None else sent
    assert all(bits.bit_count() <= len(LONG) // 2 for bits in sent.sent.values())


@given(
    st.lists(
        st.dictionaries(st.text("abc", min_size=1, max_size=2), st.sets(st.tuples(st.integers(0, 9), st.integers(10, 16))))
    )
)
def test_the_order_in_which_pieces_come_does_not_matter(calls: list[dict[str, set[tuple[int, int]]]]) -> None:
    part = SecretPart("KEY", "digest", 1_000)
    forth, back = NOTHING, NOTHING
    for order in (calls, calls[::-1]):
        sent = NOTHING
        for call in order:
            for ranges in call.values():
                sent = SecretPieces({part: ranges}).add_to(sent)[1]
        forth, back = back, sent
    assert forth == back


def test_a_coverage_is_read_as_it_was_written() -> None:
    sent = Coverage({"a": 0b1011, "b": 1 << 4_095})
    assert Coverage.decode(sent.encode()) == sent


def test_a_coverage_that_outgrows_its_place_is_refused() -> None:
    with pytest.raises(ValueError, match=str(BYTES_MAX)):
        Coverage({f"{number:032}": 1 << 8_191 for number in range(40)}).encode()


def test_nothing_of_it_is_printed() -> None:
    assert "1011" not in repr(Coverage({"1011": 1011}))
    _, pieces = SecretScanner([credential(LONG)]).scan_request(outbound(body={"note": LONG[:11]}))
    assert LONG[:6].lower() not in repr(pieces).lower()
