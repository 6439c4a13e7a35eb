"""What is read of a token endpoint's answer, where it is found, and for how long a token of it is used."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Grant
from ferryman.domain.credentials.grant import apply_response
from ferryman.domain.credentials.oauth import RESPONSE_BYTES_MAX, TokenResponse, TokenResponseError, read_token_response
from ferryman.domain.credentials.token import LIFETIME_S, LIFETIME_S_MAX, MARGIN_S, compute_use_s
from ferryman.domain.http.request import InboundResponse
from ferryman.domain.tools.declared import Auth, Exchange, Extract, TokenExchange
from ferryman.inmemory.clock import START
from ferryman.tools.tokens.access import obtain_access
from ferryman.tools.tokens.client import find_fields
from tests.plain_gate import build_response

from .harness import OAUTH, Harness, need, token

NOW_S = 1_795_000_000.0
TOKEN = token(1)
LOGIN = Exchange(url="https://login.service.test/")
DEEP = Extract(token_path="$.session.keys[0]", expires_path="$.session.ttl")
TEXT = Extract(response_format="text")


def read(answer: InboundResponse, extract: Extract | None = None) -> TokenResponse:
    fields = None if extract is None else find_fields(answer.body, extract)
    return read_token_response(answer.status, answer.body, now_s=NOW_S, fields=fields)


def answer_with(**answer: Any) -> InboundResponse:
    return build_response(json.dumps({"access_token": TOKEN, **answer}))


@pytest.mark.parametrize(
    ("answer", "extract"),
    [
        (answer_with(), None),
        (build_response(json.dumps({"session": {"keys": [TOKEN]}})), DEEP),
        (build_response(f" {TOKEN}\n"), TEXT),
        (build_response(json.dumps(TOKEN)), Extract()),
    ],
)
def test_a_token_is_found_where_the_declaration_says(answer: InboundResponse, extract: Extract | None) -> None:
    assert read(answer, extract).access_token.reveal() == TOKEN


def test_a_login_says_in_its_own_words_how_long_its_token_lives() -> None:
    assert read(build_response(json.dumps({"session": {"keys": [TOKEN], "ttl": "600"}})), DEEP).expires_in_s == 600


def test_a_token_is_read_with_its_lifetime_refresh_token_and_scopes() -> None:
    answer = read(answer_with(expires_in=3600, refresh_token=TOKEN[::-1], scope="read write"))
    assert answer.refresh_token is not None
    assert answer.refresh_token.reveal() == TOKEN[::-1]
    assert (answer.expires_in_s, answer.scopes) == (3600, ("read", "write"))


@pytest.mark.parametrize("scope", [None, "", ["a"], 1])
def test_scopes_that_are_none_are_not_said(scope: Any) -> None:
    assert read(answer_with(scope=scope)).scopes is None


@pytest.mark.parametrize("scope", ["read admin", "read  admin", "read\nwrite read", "read " + "x" * 5_000])
def test_of_the_scopes_of_an_answer_only_those_that_were_asked_for_are_kept(scope: str) -> None:
    grant = Grant(token_url=LOGIN.url, client_id="c", scopes=("read", "write"))
    assert apply_response(grant, read(answer_with(scope=scope)), START).scopes == ("read",)


@pytest.mark.parametrize(
    ("error", "final"),
    [
        *((error, True) for error in ("invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope")),
        *((error, False) for error in ("server_error", "temporarily_unavailable", "slow_down")),
    ],
)
def test_an_error_is_final_where_asking_again_cannot_help(error: str, final: bool) -> None:
    with pytest.raises(TokenResponseError) as failed:
        read(build_response(json.dumps({"error": error}), 400))
    assert failed.value.final == final


JSON = st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5).map(lambda value: json.dumps(value).encode())


@given(body=st.binary(max_size=200) | JSON)
def test_whatever_the_answer_is_there_is_a_token_or_a_refusal(body: bytes) -> None:
    for extract in (None, TEXT, DEEP):
        with contextlib.suppress(TokenResponseError):
            value = read(build_response(body), extract).access_token.reveal()
            assert len(value) >= 16
            assert value.isascii()


LOGIN_REFUSED: dict[str, tuple[InboundResponse, Extract, str]] = {
    "nothing at its place": (answer_with(), DEEP, "no access token where one is expected"),
    "no JSON": (build_response(f"token={TOKEN}"), DEEP, "no access token where one is expected"),
    "a path that is none": (answer_with(), Extract(token_path="$[?"), "no access token where one is expected"),
    "a text of two": (build_response(f"{TOKEN} {TOKEN}"), TEXT, "visible ASCII"),
    "a failure": (build_response(TOKEN, 401), TEXT, "status 401"),
    "an error of the standard": (build_response('{"error": "invalid_client"}', 401), DEEP, "answered invalid_client"),
    "a redirect": (build_response(TOKEN, 303), TEXT, "redirect"),
}


@pytest.mark.parametrize("case", LOGIN_REFUSED)
async def test_a_login_is_held_to_the_same_rules(harness: Harness, case: str) -> None:
    answer, extract, why = LOGIN_REFUSED[case]
    harness.login.answer = lambda _: answer
    with pytest.raises(CallRefusedError, match=why) as refused:
        await obtain_access(harness.instance(), need(TokenExchange(request=LOGIN, extract=extract)), within_s=30)
    assert (refused.value.refusal.reason, refused.value.refusal.blocked) == ("token_not_fetched", True)
    assert TOKEN not in refused.value.refusal.message


async def test_an_answer_is_read_to_its_bound_and_no_further(harness: Harness) -> None:
    harness.login.answer = lambda _: answer_with(padding="x" * RESPONSE_BYTES_MAX)
    with pytest.raises(CallRefusedError, match="longer than 65536"):
        await obtain_access(harness.instance(), need(), within_s=30)


@pytest.mark.parametrize(
    ("auth", "answer", "seconds"),
    [
        (OAUTH, {}, LIFETIME_S - MARGIN_S),
        (OAUTH, {"expires_in": 600}, 570),
        (OAUTH, {"expires_in": "600"}, 570),
        (OAUTH, {"expires_in": 599.9}, 569),
        (OAUTH, {"expires_in": 20}, 0),
        (OAUTH, {"expires_in": -5}, LIFETIME_S - MARGIN_S),
        (OAUTH, {"expires_in": NOW_S + 600}, 570),
        (OAUTH, {"expires_in": 10**30}, LIFETIME_S_MAX - MARGIN_S),
        (OAUTH, {"expires_in": True}, LIFETIME_S - MARGIN_S),
        (OAUTH, {"expires_in": "soon"}, LIFETIME_S - MARGIN_S),
        (OAUTH, {"expires_in": "nan"}, LIFETIME_S - MARGIN_S),
        (OAUTH, {"expires_in": {"s": 1}}, LIFETIME_S - MARGIN_S),
        (dataclasses.replace(OAUTH, cache_ttl=100), {"expires_in": 600}, 70),
        (dataclasses.replace(OAUTH, cache_ttl=0), {"expires_in": 600}, 0),
    ],
)
def test_how_long_a_token_is_used(auth: Auth, answer: dict[str, Any], seconds: int) -> None:
    assert compute_use_s(auth.cache_ttl, read(answer_with(**answer)).expires_in_s) == seconds


async def test_a_token_is_used_until_its_time_is_over_and_not_after(harness: Harness) -> None:
    deps = harness.instance()
    harness.login.fields = {"expires_in": 100}
    for passed, number in ((0, 1), (69, 1), (1, 2)):
        harness.clock.turn(passed)
        result = await obtain_access(deps, need(), within_s=30)
        assert result.credential.secret.reveal() == token(number)


async def test_a_token_that_lives_shorter_than_the_margin_is_used_and_not_kept(harness: Harness) -> None:
    deps = harness.instance()
    harness.login.fields = {"expires_in": MARGIN_S}
    assert [(await obtain_access(deps, need(), within_s=30)).credential.secret.reveal() for _ in range(2)] == [
        token(1),
        token(2),
    ]
