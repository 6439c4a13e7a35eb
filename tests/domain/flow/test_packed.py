"""Packed numbers and texts: the same is found in them as in what they are made of."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.flow.numbers import index_numbers, list_numbers
from ferryman.domain.flow.packed import pack_numbers, unpack_numbers
from ferryman.domain.flow.tokens import join_forms, join_tokens, tokenize

words = st.lists(
    st.sampled_from(["-0", "0", "1,000", "1000.0", "$7", "7", "EUR", "12.50", "word", "(a)", "x@mail.test,", "Ähre"])
)


@given(st.lists(st.integers(min_value=0, max_value=2**32 - 1)))
def test_numbers_are_the_same_after_packing(numbers: list[int]) -> None:
    assert list(unpack_numbers(pack_numbers(numbers))) == numbers


@pytest.mark.parametrize(("number", "size"), [(65_535, 2), (65_536, 4)])
def test_small_numbers_take_two_bytes_each(number: int, size: int) -> None:
    assert len(pack_numbers([number] * 10)) == 1 + 10 * size


@given(words, st.sampled_from(["0", "-0", "7", "1E+3", "12.5", "8"]))
def test_a_number_is_where_it_was_listed(chosen: list[str], number: str) -> None:
    text, sought = " ".join(chosen), Decimal(number)
    tokens = list(tokenize(text))
    assert index_numbers(tokens, text).find(sought) == list_numbers(tokens, text).get(sought)


@given(words, st.data())
def test_tokens_are_where_they_were_read(chosen: list[str], data: st.DataObject) -> None:
    tokens = list(tokenize(" ".join(chosen)))
    if not tokens:
        return
    first = data.draw(st.integers(0, len(tokens) - 1))
    last = data.draw(st.integers(first, len(tokens) - 1))
    forms = [token.form for token in tokens]
    sought = forms[first : last + 1]
    where = next(index for index in range(len(forms)) if forms[index : index + len(sought)] == sought)
    expected = tokens[where].start, tokens[where + len(sought) - 1].end
    assert join_tokens(tokens).find(join_forms(sought)) == expected
