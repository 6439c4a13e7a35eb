"""Fetched tokens: for how long one is used, which instance fetches it, and which former ones are kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.credentials.token import (
    FORMER_MAX,
    LIFETIME_S_MAX,
    MARGIN_S,
    Fetch,
    Token,
    TokenSlot,
    claim_fetch,
    compute_use_s,
    finish_fetch,
    release_fetch,
)
from ferryman.domain.stale import StaleError
from tests.builders import START

MOMENT = timedelta(microseconds=1)
DAY = timedelta(days=1)
UNTIL = START + timedelta(seconds=40)
FETCH = Fetch(name="f2", until=UNTIL)
TOKEN = Token(fetch="f1", ciphertext=b"c", expires_at=UNTIL)
STORED = TokenSlot(owner="o", task="t", token=TOKEN)
CLAIMED = TokenSlot(owner="o", task="t", fetch=FETCH)


@pytest.mark.parametrize(
    ("cache_ttl", "expires_in_s", "seconds"),
    [
        *((None, None, 2_970), (None, 600, 570), (100, 600, 70), (600, 100, 570), (None, 599.9, 569)),
        *((0, 600, 0), (None, 30, 0), (None, 31, 1), (None, -5, 0), (None, 10**30, 86_370), (86_401, None, 86_370)),
        *((None, float("nan"), 2_970), (float("nan"), 600, 570)),
    ],
)
def test_a_token_is_used_for_what_its_owner_states_or_its_endpoint_or_3000_seconds_less_a_margin(
    cache_ttl, expires_in_s, seconds
):
    assert compute_use_s(cache_ttl, expires_in_s) == seconds


SECONDS = st.none() | st.floats() | st.integers(-(10**12), 10**12)


@given(ttl=st.none() | st.integers(0, 10**9), told_s=SECONDS)
def test_no_token_is_used_longer_than_it_lives_less_the_margin(ttl: int | None, told_s: float | None) -> None:
    result = compute_use_s(ttl, told_s)
    assert 0 <= result <= LIFETIME_S_MAX - MARGIN_S
    lives = ttl if ttl is not None else told_s
    if lives is not None and lives == lives:  # what is not equal to itself is no number
        assert result <= max(0, lives - MARGIN_S)


@given(told_s=st.floats())
def test_what_the_owner_says_goes_before_what_the_endpoint_says(told_s: float) -> None:
    assert compute_use_s(500, told_s) == 500 - MARGIN_S


def test_a_token_is_used_until_it_expires():
    assert STORED.find_usable_token(stale=None, now=UNTIL - MOMENT) is TOKEN
    assert STORED.find_usable_token(stale=None, now=UNTIL) is None


def test_a_token_that_its_service_no_longer_accepts_is_not_used_and_a_newer_one_is():
    assert STORED.find_usable_token(stale="f1", now=START) is None
    assert STORED.find_usable_token(stale="f0", now=START) is TOKEN


def test_an_empty_slot_has_no_token():
    assert (CLAIMED.find_usable_token(stale=None, now=START), CLAIMED.tokens) == (None, ())


def test_a_fetch_is_under_way_until_its_instance_counts_as_dead():
    assert CLAIMED.is_claimed(UNTIL - MOMENT)
    assert not CLAIMED.is_claimed(UNTIL)
    assert not STORED.is_claimed(START)


def test_the_first_fetch_of_a_slot_is_claimed():
    assert claim_fetch(None, "o", "t", FETCH, stale=None, now=START) == CLAIMED


@pytest.mark.parametrize("slot", [STORED, CLAIMED])
def test_nothing_is_fetched_beside_a_usable_token_or_another_fetch(slot):
    assert claim_fetch(slot, "o", "t", Fetch(name="f3", until=UNTIL), stale=None, now=START) is slot


def test_the_fetch_of_an_instance_that_died_is_taken_over():
    again = Fetch(name="f3", until=UNTIL + DAY)
    assert claim_fetch(CLAIMED, "o", "t", again, stale=None, now=UNTIL) == replace(CLAIMED, fetch=again)


def test_a_token_that_is_no_longer_used_is_known_for_a_day_after_its_expiry():
    claimed = claim_fetch(STORED, "o", "other", FETCH, stale="f1", now=START)
    assert claimed == TokenSlot(owner="o", task="other", former=(TOKEN,), fetch=FETCH)
    assert claim_fetch(STORED, "o", "t", FETCH, stale=None, now=UNTIL + DAY - MOMENT).former == (TOKEN,)
    assert claim_fetch(STORED, "o", "t", FETCH, stale=None, now=UNTIL + DAY).former == ()


def test_of_the_former_tokens_the_newest_are_kept():
    former = tuple(replace(TOKEN, fetch=f"g{number}") for number in range(FORMER_MAX))
    claimed = claim_fetch(replace(STORED, former=former), "o", "t", FETCH, stale="f1", now=START)
    assert [token.fetch for token in claimed.former] == ["f1", "g0", "g1", "g2", "g3"]


def test_the_token_of_a_fetch_ends_it_and_keeps_the_former_ones():
    slot = replace(CLAIMED, former=(TOKEN,))
    new = replace(TOKEN, fetch="f2")
    assert finish_fetch(slot, new) == replace(STORED, token=new, former=(TOKEN,))


@pytest.mark.parametrize("slot", [None, STORED, CLAIMED])
def test_a_fetch_that_another_has_taken_over_stores_no_token(slot):
    with pytest.raises(StaleError, match=r"^another fetch has taken over$"):
        finish_fetch(slot, TOKEN)


def test_a_fetch_that_failed_frees_the_slot_for_another():
    slot = replace(CLAIMED, former=(TOKEN,))
    assert release_fetch(slot, "f2") == replace(slot, fetch=None)


@pytest.mark.parametrize("slot", [None, STORED, CLAIMED])
def test_a_fetch_that_another_has_taken_over_frees_nothing(slot):
    assert release_fetch(slot, "f1") is None
