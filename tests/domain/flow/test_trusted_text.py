"""Trusted texts: a value occurs in them whole, and is never put together from several places."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ferryman.domain.flow.tokens import TEXT_CHARACTERS_MAX
from ferryman.domain.flow.trusted import VALUE_CHARACTERS_MIN, index_text
from tests.linear import find_growth

SIZES = [2**12, 2**13, 2**14]
WORDS = st.text("abcdxyz", min_size=2, max_size=8)
PROMPT = (
    "Pay £1,050 to 'Bob' and (Eve's friend) at <ann.lee@mail.test>, see www.site.test/News. Delete file ID '13' in room 14."
)


def finds(text: str, value: object, *names: str) -> bool:
    return index_text("prompt", text).find(value, names) is not None


@pytest.mark.parametrize("value", ["friend", "Eve's friend", "ann.lee@mail.test", "Ann.Lee@mail.test", "www.site.test/News"])
def test_a_value_occurs_as_a_whole_token_or_as_tokens_in_a_row(value):
    assert finds(PROMPT, value)


@pytest.mark.parametrize(
    "value", ["rien", "friends", "lee@mail.test", "mail.test", "site.test", "www.site.test", "www.site.test/news", "Pay friend"]
)
def test_a_part_of_a_token_is_none_and_neither_are_tokens_from_several_places(value):
    assert not finds(PROMPT, value)


def test_a_short_value_occurs_only_where_its_argument_is_named():
    assert finds(PROMPT, "Bob", "to")
    assert not finds(PROMPT, "Bob")
    assert not finds(PROMPT, "Bob", "from")


@pytest.mark.parametrize("text", ["lunch with Bob", "with 'Bob'", "user: Bob", "the user is Bob", "to @Bob"])
def test_quotes_and_signs_may_be_between_a_name_and_its_value(text):
    assert finds(text, "Bob", "to", "with", "user")


def test_a_short_key_occurs_only_where_it_is_named_as_one():
    assert finds(PROMPT, "13", "file", "id")
    assert not finds(PROMPT, "14", "file", "id")


@pytest.mark.parametrize("amount", [1050, 1050.0])
def test_an_amount_occurs_however_it_is_written(amount):
    assert finds(PROMPT, amount)


@pytest.mark.parametrize("text", ["in 5 days", "5 of them", "on 2024-05-05", "5% more"])
def test_a_short_number_is_no_amount_by_chance(text):
    assert not finds(text, 5, "amount")


@pytest.mark.parametrize("text", ["send $5", "a total of 5", "5 euros", "5.00 too much", "amount: 5"])
def test_a_short_number_is_an_amount_where_the_text_says_so(text):
    assert finds(text, 5, "amount", "of")


def test_a_number_that_is_a_key_is_no_amount():
    assert index_text("prompt", "refund $7").find(7, ("id",), is_key=True) is None


def test_a_name_is_compared_without_case_and_an_identifier_with_it():
    assert finds("the family reunion", "Family Reunion")
    assert not finds("the file Report_1.txt", "report_1.txt")


@pytest.mark.parametrize("value", ["mаil@bank.test", "ｍail@bank.test", "mail@bank.test\u200b", "mail\u202e@bank.test"])
def test_a_look_alike_is_another_value(value):
    assert not finds("write to mail@bank.test", value)


def test_composed_and_decomposed_letters_are_the_same():
    assert finds("dinner at Caf\u00e9 Bleu", "Cafe\u0301 Bleu")


def test_a_sentence_that_follows_an_address_without_a_space_is_no_part_of_it():
    assert finds("It is on www.site.test.They said so", "www.site.test")


@pytest.mark.parametrize(
    "text", ["to:ann@mail.test", "ann@mail.test,bob@mail.test", "name=ann@mail.test;x", '["ann@mail.test"]']
)
def test_a_list_without_spaces_has_its_values(text):
    assert finds(text, "ann@mail.test")


def test_what_comes_after_the_limit_is_not_there():
    assert not finds(" " * TEXT_CHARACTERS_MAX + "friend", "friend")


def test_a_word_that_the_limit_cuts_is_not_there():
    assert not finds(" " * (TEXT_CHARACTERS_MAX - 4) + "friendly", "frie")


def test_a_match_says_where_it_is():
    match = index_text("prompt", PROMPT).find("friend")
    assert match is not None
    assert (match.source, PROMPT[match.start : match.end]) == ("prompt", "friend")


@given(st.lists(WORDS, min_size=1, max_size=12), st.data())
def test_every_row_of_words_of_a_text_occurs(words, data):
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    value = " ".join(words[first : last + 1])
    assume(len(value) >= VALUE_CHARACTERS_MIN)
    assert finds(" ".join(words), value)


@given(st.lists(WORDS, max_size=12), st.lists(WORDS, min_size=1, max_size=3))
def test_nothing_is_put_together(words, parts):
    rows = {tuple(words[start : start + len(parts)]) for start in range(len(words))}
    assert finds(" ".join(words), " ".join(parts)) <= (tuple(parts) in rows)


@given(st.text(), st.text())
def test_a_value_that_occurs_is_in_the_text_letter_by_letter(text, value):
    match = index_text("prompt", text).find(value)
    if match is not None:
        fragment = "".join(text[match.start : match.end].split())
        assert "".join(value.split()).casefold().strip() in fragment.casefold() or not value.isascii()


@pytest.mark.parametrize("unit", ["a", "1,", "a@b.", "'", ":=", "1 "])
def test_indexing_takes_linear_time(unit):
    growth = find_growth(lambda text: index_text("prompt", text), lambda size: unit * (size // len(unit)), SIZES)
    assert growth is None, str(growth)


def test_finding_takes_linear_time():
    growth = find_growth(lambda text: text.find("a " * 500 + "b"), lambda size: index_text("prompt", "a " * (size // 2)), SIZES)
    assert growth is None, str(growth)
