"""What a token endpoint answers is believed in nothing but what the standard names, and never repeated."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain import oauth
from ferryman.domain.credential import Secret

TOKEN = "access-4kQ9wE2rT7yU1iO3"
GOOD = {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600}


def read(body: Any, status: int = 200, **given: Any) -> oauth.Answer:
    return oauth.read(status, body if isinstance(body, bytes) else json.dumps(body).encode(), **given)


def test_a_token_is_read_with_its_lifetime_refresh_token_and_scopes() -> None:
    answer = read({**GOOD, "refresh_token": TOKEN[::-1], "scope": "read write"})
    assert answer.access_token.reveal() == TOKEN
    assert answer.refresh_token is not None
    assert answer.refresh_token.reveal() == TOKEN[::-1]
    assert (answer.expires_in_s, answer.scopes) == (3600, ("read", "write"))


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("3600", 3600),
        (59.9, 59),
        (0, 0),
        (-1, None),
        (True, None),
        ("soon", None),
        (None, None),
        (10**30, 10 * 366 * 24 * 3600),
    ],
)
def test_a_lifetime_is_a_number_of_seconds_or_not_said(said: Any, seconds: int | None) -> None:
    assert read({**GOOD, "expires_in": said}).expires_in_s == seconds


REFUSED: dict[str, tuple[Any, int, str]] = {
    "an error of the standard": ({"error": "invalid_grant", "error_description": TOKEN}, 400, "answered invalid_grant"),
    "an error with status 200": ({"error": "invalid_client"}, 200, "answered invalid_client"),
    "an error of its own": ({"error": TOKEN}, 400, "no error that the standard names"),
    "an error that is no text": ({"error": {"code": TOKEN}}, 500, "status 500"),
    "a token with status 400": (GOOD, 400, "status 400"),
    "a redirect": (b"", 302, "status 302"),
    "no JSON": (TOKEN.encode(), 200, "no JSON object"),
    "a list": ([TOKEN], 200, "no JSON object"),
    "deep JSON": (b"[" * 60_000, 200, "no JSON object"),
    "too much": (b" " * 65_537, 200, "too long"),
    "no token": ({"token_type": "bearer"}, 200, "no access token that can be kept"),
    "a short token": ({**GOOD, "access_token": "short"}, 200, "no access token that can be kept"),
    "a token with a line break": ({**GOOD, "access_token": TOKEN + "\r\nX: y"}, 200, "no access token that can be kept"),
    "a token of many kilobytes": ({**GOOD, "access_token": TOKEN * 400}, 200, "no access token that can be kept"),
    "a short refresh token": ({**GOOD, "refresh_token": "short"}, 200, "no refresh token that can be kept"),
    "another type of token": ({**GOOD, "token_type": "mac"}, 200, "no bearer token"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_anything_else_is_refused_in_words_of_ours(case: str) -> None:
    body, status, message = REFUSED[case]
    with pytest.raises(oauth.Unusable, match=message) as told:
        read(body, status)
    assert TOKEN not in str(told.value)


def test_an_answer_that_was_cut_is_refused() -> None:
    with pytest.raises(oauth.Unusable, match="too long"):
        read(GOOD, cut=True)


@pytest.mark.parametrize("error", ["invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope"])
def test_an_error_that_asking_again_cannot_help_is_final(error: str) -> None:
    with pytest.raises(oauth.Unusable) as told:
        read({"error": error}, 400)
    assert told.value.final


@pytest.mark.parametrize("error", ["server_error", "temporarily_unavailable", "slow_down"])
def test_an_error_that_passes_is_not_final(error: str) -> None:
    with pytest.raises(oauth.Unusable) as told:
        read({"error": error}, 503)
    assert not told.value.final


def test_what_was_sent_does_not_come_back_as_the_token() -> None:
    with pytest.raises(oauth.Unusable, match="gave back what it was sent"):
        read({**GOOD, "access_token": f"prefix-{TOKEN}"}, sent=[Secret(TOKEN)])


JSON = st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5).map(lambda value: json.dumps(value).encode())


@given(body=st.binary(max_size=200) | JSON)
def test_any_bytes_are_a_token_or_refused(body: bytes) -> None:
    with contextlib.suppress(oauth.Unusable):
        oauth.read(200, body)
