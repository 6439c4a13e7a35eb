"""One set of rules: whatever a token endpoint answers, both ways to a token accept the same and refuse the same."""

from __future__ import annotations

import base64
import json
from urllib.parse import unquote_plus

import pytest

from ferryman.domain.http.request import BodyType
from tests.domain.token_answers import ACCEPTED, LIFETIMES, REFUSED, SECRET, TOKEN, make_answer

from .entries import CLIENT_ID, CODE, ENTRIES, NoTokenError, expected_use_s

entries = pytest.mark.parametrize("entry", ENTRIES)


@entries
@pytest.mark.parametrize("case", ACCEPTED)
async def test_a_token_that_may_be_used_is_taken(entry: str, case: str) -> None:
    result = await ENTRIES[entry](ACCEPTED[case])
    assert result.token == json.loads(ACCEPTED[case].body)["access_token"]


@entries
@pytest.mark.parametrize("case", REFUSED)
async def test_an_answer_without_a_usable_token_is_refused_and_not_repeated(entry: str, case: str) -> None:
    answer, why = REFUSED[case]
    with pytest.raises(NoTokenError, match=why) as refused:
        await ENTRIES[entry](answer)
    assert not any(secret in str(refused.value) for secret in (TOKEN, TOKEN[:15], SECRET, SECRET[:20], CODE, "X-Admin"))


@entries
@pytest.mark.parametrize("case", LIFETIMES)
async def test_a_lifetime_is_a_number_of_seconds_or_not_said(entry: str, case: str) -> None:
    value, seconds = LIFETIMES[case]
    assert (await ENTRIES[entry](make_answer(expires_in=value))).lifetime_s == expected_use_s(entry, seconds)


@entries
async def test_id_and_secret_go_into_the_header_form_encoded(entry: str) -> None:
    arrived = (await ENTRIES[entry](make_answer())).arrived
    scheme, _, encoded = arrived.headers["authorization"].partition(" ")
    client_id, colon, secret = base64.b64decode(encoded).decode("ascii").partition(":")
    assert (scheme, unquote_plus(client_id), colon, unquote_plus(secret)) == ("Basic", CLIENT_ID, ":", SECRET)
    assert not {"client_id", "client_secret"} & set(arrived.body)


@entries
async def test_id_and_secret_go_into_the_body_where_the_service_wants_them_there(entry: str) -> None:
    arrived = (await ENTRIES[entry](make_answer(), creds_location="body")).arrived
    assert (arrived.body["client_id"], arrived.body["client_secret"]) == (CLIENT_ID, SECRET)
    assert "authorization" not in arrived.headers


@entries
async def test_a_token_request_is_a_form_that_asks_for_json(entry: str) -> None:
    arrived = (await ENTRIES[entry](make_answer())).arrived
    assert (arrived.method, arrived.body_type, arrived.headers["accept"]) == ("POST", BodyType.FORM, "application/json")
