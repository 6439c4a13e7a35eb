"""Token responses: which answers of a token endpoint hold a token, and what is read beside it."""

from __future__ import annotations

import json

import pytest

from ferryman.domain.credentials.credential import Secret
from ferryman.domain.credentials.oauth import (
    ERRORS,
    RESPONSE_BYTES_MAX,
    TokenResponse,
    TokenResponseError,
    read_token_response,
)
from ferryman.domain.http.request import InboundResponse

from .token_answers import ACCEPTED, LIFETIMES, NOW_S, OTHER, REFUSED, SECRET, TOKEN, make_answer, make_failure


def read(answer: InboundResponse, *, sent: tuple[str, ...] = (SECRET,)) -> TokenResponse:
    secrets = [Secret(value) for value in sent]
    return read_token_response(answer.status, answer.body, now_s=NOW_S, cut=answer.cut, sent=secrets)


@pytest.mark.parametrize("case", ACCEPTED)
def test_a_token_that_may_be_used_is_read(case: str) -> None:
    assert read(ACCEPTED[case]).access_token.reveal() == json.loads(ACCEPTED[case].body)["access_token"]


@pytest.mark.parametrize("case", REFUSED)
def test_an_answer_without_a_usable_token_is_refused_and_not_repeated(case: str) -> None:
    answer, why = REFUSED[case]
    with pytest.raises(TokenResponseError, match=why) as refused:
        read(answer)
    assert not any(secret in str(refused.value) for secret in (TOKEN, TOKEN[:15], SECRET, SECRET[:20], "X-Admin"))


@pytest.mark.parametrize("case", LIFETIMES)
def test_a_lifetime_is_a_number_of_seconds_or_not_stated(case: str) -> None:
    value, seconds = LIFETIMES[case]
    assert read(make_answer(expires_in=value)).expires_in_s == seconds


@pytest.mark.parametrize(("value", "seconds"), [(10**9 - 1, 10 * 366 * 86_400), (10**9, 0), (0.5, 0)])
def test_from_a_thousand_million_on_a_lifetime_is_a_time(value: float, seconds: int) -> None:
    assert read(make_answer(expires_in=value)).expires_in_s == seconds


def test_a_refresh_token_is_read_beside_the_token() -> None:
    refresh = read(make_answer(refresh_token=OTHER)).refresh_token
    assert refresh is not None
    assert refresh.reveal() == OTHER


@pytest.mark.parametrize("empty", [None, ""])
def test_an_empty_refresh_token_is_none(empty: str | None) -> None:
    assert read(make_answer(refresh_token=empty)).refresh_token is None


@pytest.mark.parametrize(
    ("scope", "scopes"),
    [
        *(("read write", ("read", "write")), ("read", ("read",)), ("read\twrite", ("read\twrite",))),
        *(("", None), (None, None), (["read"], None)),
    ],
)
def test_scopes_are_a_text_with_a_space_between_each_two(scope: object, scopes: tuple[str, ...] | None) -> None:
    assert read(make_answer(scope=scope)).scopes == scopes


@pytest.mark.parametrize("status", [200, 299])
def test_every_status_of_success_brings_a_token(status: int) -> None:
    assert read(make_failure(status, access_token=TOKEN)).access_token.reveal() == TOKEN


@pytest.mark.parametrize(
    ("status", "why"), [(199, "status 199"), (300, "a redirect"), (399, "a redirect"), (400, "status 400"), (500, "status 500")]
)
def test_every_other_status_is_refused_by_its_number_or_as_a_redirect(status: int, why: str) -> None:
    with pytest.raises(TokenResponseError, match=why):
        read(make_failure(status, access_token=TOKEN))


@pytest.mark.parametrize("error", sorted(ERRORS))
def test_an_error_of_the_standard_is_told_and_final_unless_the_server_may_recover(error: str) -> None:
    with pytest.raises(TokenResponseError, match=f"^the token endpoint answered {error}$") as refused:
        read(make_failure(400, error=error))
    assert refused.value.error == error
    assert refused.value.final is (error not in ("server_error", "temporarily_unavailable"))


def test_another_refusal_has_no_error_and_may_be_tried_again() -> None:
    with pytest.raises(TokenResponseError) as refused:
        read(make_failure(400, error="slow_down"))
    assert (refused.value.error, refused.value.final) == (None, False)


def test_an_answer_is_read_to_65536_bytes() -> None:
    answer = make_answer()
    padded = answer.body + b" " * (RESPONSE_BYTES_MAX - len(answer.body))
    assert read_token_response(200, padded, now_s=NOW_S).access_token.reveal() == TOKEN
    with pytest.raises(TokenResponseError, match="longer than 65536 bytes"):
        read_token_response(200, padded + b" ", now_s=NOW_S)


@pytest.mark.parametrize("sent", [(OTHER, TOKEN), (f"x{TOKEN}x",), (TOKEN[:16],)])
def test_no_secret_that_was_sent_comes_back_as_the_token(sent: tuple[str, ...]) -> None:
    with pytest.raises(TokenResponseError, match="gave back what it was sent"):
        read(make_answer(), sent=sent)


def test_a_sent_secret_of_fewer_than_16_characters_occurs_by_chance() -> None:
    assert read(make_answer(), sent=(TOKEN[:15],)).access_token.reveal() == TOKEN


def test_fields_found_elsewhere_replace_the_body() -> None:
    fields = {"access_token": TOKEN, "expires_in": 60}
    answer = read_token_response(200, b"no JSON", now_s=NOW_S, fields=fields)
    assert (answer.access_token.reveal(), answer.expires_in_s) == (TOKEN, 60)
