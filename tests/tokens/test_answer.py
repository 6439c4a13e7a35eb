"""What a token endpoint says: a token, or a refusal that repeats none of it."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.declared import Auth, Exchange, Extract, TokenExchange
from ferryman.domain.http import Inbound
from ferryman.domain.refusal import Refused
from ferryman.domain.token import ANSWER_BYTES_MAX, LIFETIME_S, LIFETIME_S_MAX, MARGIN_S, used_s
from ferryman.local.gate import answered
from ferryman.tools.tokens import access
from ferryman.tools.tokens.answer import read

from .world import OAUTH, SECRET, World, credential, need, token

NOW_S = 1_795_000_000.0
TOKEN = token(1)
TEXT = TokenExchange(request=Exchange(url="https://login.service.test/"), extract=Extract(response_format="text"))
DEEP = TokenExchange(
    request=Exchange(url="https://login.service.test/"),
    extract=Extract(token_path="$.session.keys[0]", expires_path="$.session.ttl"),
)


def token_of(answer: Inbound, auth: Auth = OAUTH) -> str:
    return read(auth, answer, [credential()], now_s=NOW_S)[0]


def told(**answer: Any) -> Inbound:
    return answered(json.dumps({"access_token": TOKEN, **answer}))


def lifetime(auth: Auth = OAUTH, **answer: Any) -> int:
    return read(auth, told(**answer), [], now_s=NOW_S)[1]


def test_a_token_is_found_where_the_declaration_says() -> None:
    assert token_of(told()) == TOKEN
    assert token_of(answered(json.dumps({"session": {"keys": [TOKEN]}})), DEEP) == TOKEN
    assert token_of(answered(f" {TOKEN}\n"), TEXT) == TOKEN
    bare = dataclasses.replace(DEEP, extract=Extract())
    assert token_of(answered(json.dumps(TOKEN)), bare) == TOKEN


HOSTILE = {
    "a redirect": (answered(json.dumps({"access_token": TOKEN}), 302), "redirect"),
    "a failure": (answered(f"invalid secret {SECRET}", 401), "answered 401"),
    "an error sent as a success": (told(error=f"bad {SECRET}"), "an error"),
    "an error without a token": (answered('{"error": "invalid_client"}'), "an error"),
    "no token": (answered('{"token": "elsewhere"}'), "no token where"),
    "an empty token": (told(access_token=""), "no token where"),
    "a token that is a number": (told(access_token=10**20), "visible ASCII"),
    "a token that is a list": (told(access_token=[TOKEN]), "visible ASCII"),
    "a line break in it": (told(access_token=f"{TOKEN}\r\nX-Admin: 1"), "visible ASCII"),
    "a letter beyond ASCII": (told(access_token=f"{TOKEN}é"), "visible ASCII"),
    "a space in it": (told(access_token=f"{TOKEN} {TOKEN}"), "visible ASCII"),
    "one too short": (told(access_token="a" * 15), "shorter than 16"),
    "one too long": (told(access_token="a" * 8_193), "longer than 8192"),
    "the secret itself": (told(access_token=SECRET), "gave a credential back"),
    "the secret in something": (told(access_token=f"x{SECRET}x"), "gave a credential back"),
    "a piece of the secret": (told(access_token=SECRET[:20]), "gave a credential back"),
    "another type": (told(token_type="DPoP"), "not of the type bearer"),
    "a type that is no text": (told(token_type=["bearer"]), "not of the type bearer"),
    "a list": (answered(f'["{TOKEN}"]'), "not an object"),
    "no JSON": (answered(f"token={TOKEN}"), "not JSON"),
    "JSON that never ends": (answered("[" * 60_000), "not JSON"),
    "a number that never ends": (answered('{"access_token": ' + "1" * 60_000 + "}"), "not JSON"),
    "bytes": (answered(b"\xff\xfe\x00\xd8"), "not JSON"),
    "nothing": (answered(b""), "not JSON"),
    "more than is read": (dataclasses.replace(told(), cut=True), "longer than 65536"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_an_answer_without_a_usable_token_is_refused_and_not_repeated(case: str) -> None:
    answer, why = HOSTILE[case]
    with pytest.raises(Refused, match=why) as refused:
        token_of(answer)
    said = refused.value.refusal
    assert (said.reason, said.blocked) == ("token_not_fetched", True)
    assert not any(each in said.message for each in (TOKEN, SECRET, "invalid", "X-Admin"))


def test_a_type_that_is_bearer_by_another_name_is_taken() -> None:
    assert token_of(told(token_type="BearerToken")) == TOKEN


@given(st.binary(max_size=200))
def test_whatever_the_answer_is_there_is_a_token_or_a_refusal(body: bytes) -> None:
    for auth in (OAUTH, TEXT, DEEP):
        try:
            found = token_of(answered(body), auth)
        except Refused:
            continue
        assert len(found) >= 16
        assert found.isascii()


async def test_an_answer_is_read_to_its_bound_and_no_further(world: World) -> None:
    world.login.answer = lambda _: told(padding="x" * ANSWER_BYTES_MAX)
    with pytest.raises(Refused, match="longer than 65536"):
        await access(world.instance(), need(), within_s=30)


def test_a_path_that_is_none_is_refused() -> None:
    auth = dataclasses.replace(DEEP, extract=Extract(token_path="$[?"))
    with pytest.raises(Refused, match="no JSONPath"):
        token_of(told(), auth)


@pytest.mark.parametrize(
    ("auth", "answer", "seconds"),
    [
        (OAUTH, {}, LIFETIME_S - MARGIN_S),
        (OAUTH, {"expires_in": 600}, 570),
        (OAUTH, {"expires_in": "600"}, 570),
        (OAUTH, {"expires_in": 599.9}, 569),
        (OAUTH, {"expires_in": 20}, 0),
        (OAUTH, {"expires_in": -5}, 0),
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
    assert lifetime(auth, **answer) == seconds


SECONDS = st.none() | st.floats() | st.integers(-(10**12), 10**12)


@given(ttl=st.none() | st.integers(0, 10**9), told_s=SECONDS)
def test_no_token_is_used_longer_than_it_lives_less_the_margin(ttl: int | None, told_s: float | None) -> None:
    found = used_s(ttl, told_s)
    assert 0 <= found <= LIFETIME_S_MAX - MARGIN_S
    lives = ttl if ttl is not None else told_s
    if lives is not None and lives == lives:  # what is not equal to itself is no number
        assert found <= max(0, lives - MARGIN_S)


@given(told_s=st.floats())
def test_what_the_owner_says_goes_before_what_the_endpoint_says(told_s: float) -> None:
    assert used_s(500, told_s) == 500 - MARGIN_S


async def test_a_token_is_used_until_its_time_is_over_and_not_after(world: World) -> None:
    house = world.instance()
    world.login.told = {"expires_in": 100}
    for passed, number in ((0, 1), (69, 1), (1, 2)):
        world.clock.turn(passed)
        found = await access(house, need(), within_s=30)
        assert found.credential.secret.reveal() == token(number)


async def test_a_token_that_lives_shorter_than_the_margin_is_used_and_not_kept(world: World) -> None:
    house = world.instance()
    world.login.told = {"expires_in": MARGIN_S}
    assert [(await access(house, need(), within_s=30)).credential.secret.reveal() for _ in range(2)] == [token(1), token(2)]
