"""Grants: when a token is renewed, by which instance, and what its service's answer changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.credentials import grant
from ferryman.domain.credentials.credential import Grant, GrantStatus, Refreshing, SealedCredential, Secret
from ferryman.domain.credentials.oauth import TokenResponse
from tests.builders import START, build_label
from tests.canaries.canary import create_key

ACCESS, OLD, NEW = (Secret(create_key(f"{which} token of a grant")) for which in ("access", "old refresh", "new refresh"))
GRANT = Grant(
    token_url="https://login.test/token", client_id="c", refresh_token=OLD, scopes=("read", "write"), expires_at=START
)
SEALED = SealedCredential(
    label=build_label(), ciphertext=b"", key_version=1, created_at=START, updated_at=START, grant=GrantStatus(scopes=("read",))
)


def expiring(in_s: float | None) -> Grant:
    expires = None if in_s is None else START + timedelta(seconds=in_s)
    return replace(GRANT, expires_at=expires)


@pytest.mark.parametrize(
    ("in_s", "due", "usable"), [(61, False, True), (60, True, True), (0, True, False), (-1, True, False), (None, False, True)]
)
def test_a_token_is_renewed_in_its_last_minute_and_used_to_its_end(in_s: float | None, due: bool, usable: bool) -> None:
    assert (grant.is_due(expiring(in_s), START), grant.is_usable(expiring(in_s), START)) == (due, usable)


def test_a_renewal_is_claimed_by_one_until_the_claim_has_run_out() -> None:
    claimed = grant.claim_renewal(SEALED, "a", START)
    assert claimed is not None
    assert grant.claim_renewal(claimed, "b", START + grant.LEASE - timedelta(microseconds=1)) is None
    again = grant.claim_renewal(claimed, "b", START + grant.LEASE)
    assert again is not None
    assert again.grant is not None
    assert again.grant.refreshing is not None
    assert again.grant.refreshing.holder == "b"
    assert grant.release_renewal(again) == SEALED


def test_a_claim_outlasts_the_request_it_is_for() -> None:
    assert grant.LEASE.total_seconds() > grant.REFRESH_SECONDS


def test_a_token_without_a_grant_is_not_renewed() -> None:
    assert (grant.is_due(None, START), grant.is_usable(None, START)) == (False, True)
    assert grant.claim_renewal(replace(SEALED, grant=None), "a", START) is None


def test_a_claim_is_its_holder_s_for_twelve_seconds_and_changes_nothing_else() -> None:
    refreshing = Refreshing(holder="a", until=START + timedelta(seconds=12))
    expected = replace(SEALED, grant=GrantStatus(scopes=("read",), refreshing=refreshing))
    assert grant.claim_renewal(SEALED, "a", START) == expected


def test_a_claim_may_be_released_with_the_word_that_a_person_has_to_connect_again() -> None:
    claimed = grant.claim_renewal(SEALED, "a", START)
    assert claimed is not None
    assert grant.release_renewal(claimed, reconnect=True) == replace(
        SEALED, grant=GrantStatus(scopes=("read",), reconnect=True)
    )


def test_of_a_grant_its_scopes_and_its_expiry_are_shown() -> None:
    assert grant.get_grant_status(GRANT) == GrantStatus(scopes=("read", "write"), token_expires_at=START)


def test_an_answer_brings_a_new_refresh_token_and_a_new_expiry() -> None:
    answer = TokenResponse(access_token=ACCESS, refresh_token=NEW, expires_in_s=600)
    assert grant.apply_response(GRANT, answer, START) == replace(
        GRANT, refresh_token=NEW, expires_at=START + timedelta(minutes=10)
    )


def test_an_answer_that_says_only_a_token_keeps_refresh_token_and_scopes_and_does_not_expire() -> None:
    assert grant.apply_response(GRANT, TokenResponse(access_token=ACCESS), START) == replace(GRANT, expires_at=None)


def test_a_token_of_no_seconds_expires_at_once() -> None:
    assert grant.apply_response(GRANT, TokenResponse(access_token=ACCESS, expires_in_s=0), START) == GRANT


@pytest.mark.parametrize(
    ("scopes", "expected"), [(("write", "read"), ("read", "write")), (("read", "admin"), ("read",)), ((), ()), (("",), ())]
)
def test_of_the_scopes_of_an_answer_those_of_the_grant_are_kept(scopes: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert grant.apply_response(GRANT, TokenResponse(access_token=ACCESS, scopes=scopes), START).scopes == expected
