"""One table of what token endpoints answer: both ways to a token, a declared tool's login and a consent, are held to it."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from ferryman.domain.credentials.oauth import LIFETIME_SECONDS_MAX, RESPONSE_BYTES_MAX
from ferryman.domain.http.request import InboundResponse
from tests.builders import START
from tests.canaries.canary import create_key
from tests.plain_gate import build_response

SECRET = create_key("client secret", 40, after="+/=")
NOW_S = int(START.timestamp())
TOKEN = create_key("a token that was answered", 48)
OTHER = create_key("a refresh token that was answered", 48)


def make_answer(**fields: Any) -> InboundResponse:
    """Return a good answer with these fields."""
    return build_response(json.dumps({"access_token": TOKEN, "token_type": "Bearer", **fields}))


def make_failure(status: int, **fields: Any) -> InboundResponse:
    return build_response(json.dumps(fields), status)


ACCEPTED: dict[str, InboundResponse] = {
    "a bearer token": make_answer(),
    "a bearer token in other letters": make_answer(token_type="bEARER"),
    "a bearer token by another name": make_answer(token_type="BearerToken"),
    "a token whose type is not said": build_response(json.dumps({"access_token": TOKEN})),
    "a token whose type is null": make_answer(token_type=None),
    "a token beside an error that is null": make_answer(error=None),
    "a token of status 201": dataclasses.replace(make_answer(), status=201),
    "the longest token": make_answer(access_token=(TOKEN * 200)[:8_192]),
    "the shortest token": make_answer(access_token=TOKEN[:16]),
    "a refresh token beside it": make_answer(refresh_token=OTHER),
}
"""Answers whose token is used."""

REFUSED: dict[str, tuple[InboundResponse, str]] = {
    "a redirect": (make_failure(302, access_token=TOKEN), "with a redirect"),
    "a redirect that keeps the method": (make_failure(307, access_token=TOKEN), "with a redirect"),
    "an error of the standard": (make_failure(400, error="invalid_grant", error_description=SECRET), "answered invalid_grant"),
    "an error of the standard with status 200": (make_failure(200, error="invalid_client"), "answered invalid_client"),
    "an error of its own with status 200": (make_answer(error=f"bad {SECRET}"), "no error that the standard names"),
    "an error of its own": (make_failure(400, error=SECRET), "no error that the standard names"),
    "an error that is no text": (make_failure(500, error={"code": SECRET}), "status 500"),
    "a failure": (build_response(f"invalid secret {SECRET}", 401), "status 401"),
    "a token with status 400": (make_failure(400, access_token=TOKEN), "status 400"),
    "no JSON": (build_response(f"token={TOKEN}"), "not a JSON object"),
    "a list": (build_response(f'["{TOKEN}"]'), "not a JSON object"),
    "JSON that never ends": (build_response("[" * 60_000), "not a JSON object"),
    "a number that never ends": (build_response('{"access_token": ' + "1" * 60_000 + "}"), "not a JSON object"),
    "bytes": (build_response(b"\xff\xfe\x00\xd8"), "not a JSON object"),
    "nothing": (build_response(b""), "not a JSON object"),
    "more than is read": (
        build_response(json.dumps({"access_token": TOKEN, "padding": "x" * RESPONSE_BYTES_MAX})),
        "longer than 65536",
    ),
    "an answer that was cut": (dataclasses.replace(make_answer(), cut=True), "longer than 65536"),
    "another type": (make_answer(token_type="DPoP"), "not of the type bearer"),
    "a type that is an old one": (make_answer(token_type="mac"), "not of the type bearer"),
    "a type that has the word in it": (make_answer(token_type="not-bearer"), "not of the type bearer"),
    "a type that is no text": (make_answer(token_type=["bearer"]), "not of the type bearer"),
    "no token": (build_response('{"token": "elsewhere"}'), "no access token"),
    "an empty token": (make_answer(access_token=""), "must be visible ASCII"),
    "a token that is a number": (make_answer(access_token=10**20), "no access token"),
    "a token that is a list": (make_answer(access_token=[TOKEN]), "no access token"),
    "a line break in it": (make_answer(access_token=f"{TOKEN}\r\nX-Admin: 1"), "must be visible ASCII"),
    "a letter beyond ASCII": (make_answer(access_token=f"{TOKEN}é"), "must be visible ASCII"),
    "a space in it": (make_answer(access_token=f"{TOKEN} {TOKEN}"), "must be visible ASCII"),
    "one too short": (make_answer(access_token=TOKEN[:15]), "at least 16 characters"),
    "one too long": (make_answer(access_token=(TOKEN * 200)[:8_193]), "at most 8192 characters"),
    "one that is told from nothing": (make_answer(access_token="a" * 40), "different characters"),
    "one of few letters and digits": (make_answer(access_token="-._~" * 4 + "abcdefgh"), "letters and digits"),
    "the secret itself": (make_answer(access_token=SECRET), "gave back what it was sent"),
    "the secret in something": (make_answer(access_token=f"x{SECRET}x"), "gave back what it was sent"),
    "a piece of the secret": (make_answer(access_token=SECRET[:20]), "gave back what it was sent"),
    "a short refresh token": (
        make_answer(refresh_token="short"),
        "refresh token that the token endpoint gave must be at least",
    ),
    "a refresh token that is a number": (make_answer(refresh_token=10**20), "no refresh token"),
}
"""Answers without a token that may be used, and what is said of each."""

LIFETIMES: dict[str, tuple[Any, int | None]] = {
    "a number": (600, 600),
    "a text": ("600", 600),
    "a fraction": (599.9, 599),
    "nothing at all": (0, 0),
    "a negative number": (-1, None),
    "a moment in Unix time": (NOW_S + 600, 600),
    "a moment that is over": (NOW_S - 600, 0),
    "a moment as a text": (str(NOW_S + 600), 600),
    "more than anybody counts": (10**30, LIFETIME_SECONDS_MAX),
    "a truth": (True, None),
    "a word": ("soon", None),
    "what is not a number": ("nan", None),
    "what never ends": ("inf", None),
    "null": (None, None),
    "an object": ({"s": 1}, None),
}
"""What `expires_in` says, and the seconds that it is read as; None: it is not said."""
