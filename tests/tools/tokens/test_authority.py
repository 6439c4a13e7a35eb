"""The keys of the authorization server: from the metadata of exactly that issuer, within bounds, and from nowhere else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from ferryman.domain.http.request import InboundResponse
from ferryman.domain.oauth_urls import list_metadata_urls
from ferryman.ports.errors import UnavailableError
from ferryman.tools.tokens.authority import DOCUMENT_BYTES_MAX, fetch_authority_keys
from tests.plain_gate import FilledRequest, PlainGate, build_response

ISSUER = "https://login.example.test/tenant"
METADATA = "https://login.example.test/.well-known/oauth-authorization-server/tenant"
KEYS = "https://keys.example.test/jwks"
KEY = {"kty": "OKP", "crv": "Ed25519", "x": "abc", "kid": "1"}
GOOD = {METADATA: {"issuer": ISSUER, "jwks_uri": KEYS}, KEYS: {"keys": [KEY]}}


async def fetch(documents: Mapping[str, Any], sent: list[str] | None = None) -> Any:
    async def upstream(request: FilledRequest) -> InboundResponse:
        if sent is not None:
            sent.append(request.url)
        if request.url not in documents:
            return build_response("not found", 404)
        document = documents[request.url]
        return build_response(document if isinstance(document, str) else json.dumps(document))

    return await fetch_authority_keys(PlainGate(upstream), ISSUER)


async def test_the_keys_are_where_the_metadata_says() -> None:
    sent: list[str] = []
    assert await fetch(GOOD, sent) == [KEY]
    assert sent == [METADATA, KEYS]


@pytest.mark.parametrize("url", list_metadata_urls(ISSUER))
async def test_the_metadata_may_be_at_any_of_the_well_known_places(url: str) -> None:
    assert await fetch({url: GOOD[METADATA], KEYS: GOOD[KEYS]}) == [KEY]


def test_an_issuer_without_a_path_has_two_places() -> None:
    assert list_metadata_urls("https://login.example.test") == (
        "https://login.example.test/.well-known/oauth-authorization-server",
        "https://login.example.test/.well-known/openid-configuration",
    )


@pytest.mark.parametrize(
    ("documents", "about"),
    [
        ({}, "no metadata"),
        ({METADATA: "[" * 100_000}, "no metadata"),
        ({METADATA: [1]}, "no metadata"),
        ({**GOOD, METADATA: {"issuer": f"{ISSUER}/", "jwks_uri": KEYS}}, "another issuer"),
        ({**GOOD, METADATA: {"jwks_uri": KEYS}}, "another issuer"),
        ({**GOOD, METADATA: {"issuer": ISSUER}}, "no key set"),
        ({**GOOD, METADATA: {"issuer": ISSUER, "jwks_uri": ["https://a.test"]}}, "no key set"),
        ({**GOOD, METADATA: {"issuer": ISSUER, "jwks_uri": "http://keys.example.test/jwks"}}, "cannot be fetched"),
        ({**GOOD, METADATA: {"issuer": ISSUER, "jwks_uri": "https://127.0.0.1/jwks"}}, "cannot be fetched"),
        ({**GOOD, METADATA: {"issuer": ISSUER, "jwks_uri": "file:///etc/passwd"}}, "cannot be fetched"),
        ({**GOOD, KEYS: {"keys": [KEY] * 101}}, "no key set"),
        ({**GOOD, KEYS: {"keys": ["x"]}}, "no key set"),
        ({**GOOD, KEYS: {"keys": [KEY], "more": "a" * DOCUMENT_BYTES_MAX}}, "more than 200,000 bytes"),
    ],
)
async def test_anything_else_is_refused(documents: Mapping[str, Any], about: str) -> None:
    with pytest.raises(UnavailableError, match=about):
        await fetch(documents)
