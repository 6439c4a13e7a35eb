"""Signed requests: a token is good for the request that it was made for, for five minutes, and for no other."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.signed_request import RequestToken, SignedRequest, UnsignedRequestError, sign_request, verify_request

KEY, OTHER = b"k" * 32, b"o" * 32
NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
REQUEST = SignedRequest(method="POST", path="/mcp", mcp_method="tools/call", mcp_name="cron_add", body=b'{"id": 1}')
TOKEN = RequestToken(user="ann", workspace="ws_1", at=NOW, nonce="0" * 32)
SIGNED = sign_request(KEY, REQUEST, TOKEN)


def is_accepted(
    authorization: str | None = SIGNED,
    request: SignedRequest = REQUEST,
    *,
    keys: tuple[bytes, ...] = (KEY,),
    now: datetime = NOW,
) -> bool:
    """Tell whether the request is accepted."""
    try:
        verify_request(keys, authorization, request, now=now)
    except UnsignedRequestError:
        return False
    return True


def test_what_was_signed_is_accepted_with_what_it_says() -> None:
    assert verify_request([OTHER, KEY], SIGNED, REQUEST, now=NOW) == TOKEN


def test_the_payload_is_the_user_the_workspace_and_the_moment_in_base64() -> None:
    payload = SIGNED.removeprefix("Bearer ").partition(".")[0]
    text = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode()
    assert text == f"ann:ws_1:{int(NOW.timestamp())}:{'0' * 32}"


@pytest.mark.parametrize("seconds", [-300, 0, 300])
def test_a_token_is_good_five_minutes_either_way(seconds: int) -> None:
    assert is_accepted(now=NOW + timedelta(seconds=seconds))


@pytest.mark.parametrize("seconds", [-301, 301, 86_400])
def test_a_token_of_another_time_is_not(seconds: int) -> None:
    assert not is_accepted(now=NOW + timedelta(seconds=seconds))


CHANGES: dict[str, Callable[[SignedRequest], SignedRequest]] = {
    "method": lambda request: replace(request, method="PUT"),
    "path": lambda request: replace(request, path="/mcp?x=1"),
    "what is asked": lambda request: replace(request, mcp_method="tools/list"),
    "the tool": lambda request: replace(request, mcp_name="cron_remove"),
    "body": lambda request: replace(request, body=b'{"id": 2}'),
    "a header that moved into another": lambda request: replace(request, mcp_method="tools/callcron", mcp_name="_add"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_request_that_was_changed_is_not_accepted(change: str) -> None:
    assert not is_accepted(request=CHANGES[change](REQUEST))


@pytest.mark.parametrize(
    "changed", [replace(TOKEN, workspace="ws_2"), replace(TOKEN, user="bob"), replace(TOKEN, nonce="1" * 32)]
)
def test_the_payload_of_another_token_has_another_signature(changed: RequestToken) -> None:
    payload = sign_request(KEY, REQUEST, changed).partition(".")[0]
    assert not is_accepted(f"{payload}.{SIGNED.partition('.')[2]}")


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        SIGNED.removeprefix("Bearer "),
        SIGNED.replace("Bearer", "bearer"),
        f"{SIGNED} ",
        SIGNED.upper(),
        "x" * 9_999,
    ],
)
def test_a_header_of_another_form_is_not_accepted(authorization: str | None) -> None:
    assert not is_accepted(authorization)


def test_a_key_that_is_not_valid_any_longer_signs_nothing() -> None:
    assert not is_accepted(keys=(OTHER,))
    assert not is_accepted(keys=())


def test_a_short_key_neither_signs_nor_verifies() -> None:
    with pytest.raises(ValueError, match="at least 32 bytes"):
        sign_request(b"short", REQUEST, TOKEN)
    assert not is_accepted(keys=(b"short",))


def test_the_error_tells_nothing_of_the_token() -> None:
    with pytest.raises(UnsignedRequestError) as refused:
        verify_request([OTHER], SIGNED, REQUEST, now=NOW)
    assert str(refused.value) == "the token was not signed for this request"


@given(user=st.text(min_size=1, max_size=50), workspace=st.text(min_size=1, max_size=50))
def test_no_character_of_an_id_moves_it_into_another_part(user: str, workspace: str) -> None:
    token = replace(TOKEN, user=user, workspace=workspace)
    try:
        signed = sign_request(KEY, REQUEST, token)
    except UnicodeEncodeError:
        return  # no id has a lone surrogate
    assert verify_request([KEY], signed, REQUEST, now=NOW) == token


def test_no_bit_of_a_token_can_be_another() -> None:
    text = SIGNED.encode()
    flipped = (text[:at] + bytes([text[at] ^ 1 << bit]) + text[at + 1 :] for at in range(len(text)) for bit in range(7))
    assert not any(is_accepted(changed.decode("ascii")) for changed in flipped)
