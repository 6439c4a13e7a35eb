"""Words: texts whose words are decoded one by one, spelt, or numbered."""

from __future__ import annotations

import base64

import pytest

from ferryman.egress.leaks.words import DIFFERENT_MIN, WORD_MAX, join_words, read_spelled


def read(text: str, *, small: bool = True) -> dict[str, bool]:
    return dict(join_words(text, small=small))


def encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("first c2VjcmV0 then d29yZHM and", "secretwords"),  # base64 of either length
        ("first c2VjcmV0MQ then d29yZHMy and", "secret1words2"),
        ("see 736563726574, then 776f726473", "secretwords"),
        ("see 736563726574 then 776F726473 end", "secretwords"),
    ],
)
@pytest.mark.parametrize("small", [True, False])
def test_encoded_words_are_decoded_and_joined(text: str, joined: str, *, small: bool) -> None:
    assert joined in "\n".join(read(text, small=small))


def test_words_for_urls_and_of_letters_alone_are_decoded_in_a_small_text() -> None:
    assert any("???>>>" in joined for joined in read("Pz8_Pj4- Pz8_Pj4-"))
    assert any("???>>>" in joined for joined in read("see Pz8/Pj4+ there"))
    assert not any("???>>>" in joined for joined in read("Pz8_Pj4- Pz8_Pj4-", small=False))


def test_words_of_base32_are_decoded_in_a_small_text() -> None:
    text = " or ".join(base64.b32encode(part.encode()).decode() for part in ("first", "other12345"))
    assert "firstother12345" in read(text)
    assert "firstother12345" in read(text.lower())
    assert "firstother12345" not in read(text, small=False)


def test_other_words_stay_where_they_are() -> None:
    assert "say secret there now" in read(f"say {encode('secret')} there now")
    assert "say secret there now" in read(f"say {b'secret'.hex()} there now")


def test_words_of_a_language_stay_beside_the_decoded_ones() -> None:
    assert "remember secret therefore" in read(f"remember {encode('secret')} therefore")
    assert "REMEMBER1 secret ABCDEFG" in read(f"REMEMBER1 {encode('secret')} ABCDEFG")


def test_a_word_that_is_too_long_is_not_decoded_alone() -> None:
    fits, long = "secrets!" * 6, "secrets!" * 6 + "sec"
    assert (len(encode(fits)), len(encode(long))) == (WORD_MAX, WORD_MAX + 4)
    assert f"see {fits}" in read(f"see {encode(fits)}")
    assert not any(long in joined for joined in read(f"see {encode(long)}"))


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("part2=word&part1=secret", "secretword"),
        ("part10: word, part9: secret", "secretword"),
        ("a[2]=word a(1)='secret'", "secretword"),
        ('{"2": "word", "1": "secret"}', "secretword"),
        ("second = word; first = secret", "secretword"),
        ("Two: word, ONE: secret", "secretword"),
        ("x2=word y1=other x1=secret", "secretword"),
        ("part2=wörd part1=secret", "secretwrd"),
        (f"b2={encode('words')} b1={encode('secret')}", "secretwords"),
    ],
)
def test_numbered_parts_are_joined_in_the_order_of_their_numbers(text: str, joined: str) -> None:
    assert joined in read(text)


@pytest.mark.parametrize("text", ["part1=secret", "part1 secret, part2 word", "first=secret", "c2VjcmV", ""])
def test_a_text_without_two_numbered_parts_is_not_joined(text: str) -> None:
    assert not any("secret" in joined.replace(text, "") for joined in read(text))


def test_what_is_joined_is_decoded_further_in_a_small_text_and_where_it_is_long_enough() -> None:
    text = f"part2={'b' * 8} part1={'a' * 8}"
    assert read(text)["a" * 8 + "b" * 8] is True
    assert read(text, small=False)["a" * 8 + "b" * 8] is False
    assert read("part2=bbb part1=aaa")["aaabbb"] is False
    assert "aabbb" not in read("part2=bbb part1=aa")


SPELT = {
    "alpha bravo charlie": "abc",
    "Alfa, Juliett; WHISKY": "ajw",
    "x-ray yankee zulu": "xyz",
    "capital alpha dash small bravo underscore one": "ab1",
    "one two niner oh fower fife": "129045",
    "alpha word bravo four": "awordb4",
}


@pytest.mark.parametrize("text", SPELT)
def test_letters_and_digits_in_words_are_read(text: str) -> None:
    assert next(read_spelled(text.encode(), least=1)) == (SPELT[text].encode(), False)


def test_other_words_are_left_out_and_single_characters_and_digits_stay() -> None:
    _, alone, *_ = read_spelled(b"alpha word q bravo 42", least=1)
    assert alone == (b"aqb42", False)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("twenty one", "21"),
        ("twenty-one thirty", "21 30"),
        ("one hundred and fifteen", "115"),
        ("one hundred fifty two", "152"),
        ("nine hundred and ninety nine", "999"),
        ("one two three", "1 2 3"),
        ("ten one", "10 1"),
        ("twenty ten", "20 10"),
        ("twenty word one", "20 1"),
        ("twenty and one", "21"),
        ("two hundred zero", "200 0"),
        ("twenty one hundred", "20 100"),
        ("hundred one", "1"),
        ("ten hundred", "10"),
        ("nineteen ninety nine", "19 99"),
    ],
)
def test_numbers_in_words_are_read(text: str, numbers: str) -> None:
    *_, joined, apart, _ = read_spelled(text.encode(), least=1)
    assert (joined, apart) == ((numbers.replace(" ", "").encode(), True), (numbers.encode(), True))


def test_numbers_are_read_as_codes_of_characters_too() -> None:
    *_, codes = read_spelled(b"one hundred twenty seven one hundred twenty eight", least=1)
    assert codes == (b"127 120 8", True)


def test_fewer_different_words_than_asked_for_are_not_read() -> None:
    assert list(read_spelled(b"alpha bravo alpha bravo alpha", least=DIFFERENT_MIN)) == []
    assert list(read_spelled(b"alphabet bravos charlies", least=1)) == []
    assert len(list(read_spelled(b"alpha bravo charlie", least=DIFFERENT_MIN))) == 5
