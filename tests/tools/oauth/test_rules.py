"""The rules of a connection and of a grant, on values alone."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from ferryman.domain.credentials import connection, grant
from ferryman.domain.credentials.connection import Connection
from ferryman.domain.credentials.credential import Grant, GrantStatus, SealedCredential
from ferryman.domain.credentials.integration import OAuth
from ferryman.inmemory.clock import START
from tests.builders import build_label

WAY = OAuth(
    authorize_url="https://login.test/authorize?tenant=all",
    token_url="https://login.test/token",
    authorize_params={"access_type": "offline", "state": "theirs"},
    redirect_uris=("https://console.example.com/connected",),
)
LABEL = build_label()
BEGUN = Connection(
    digest="d",
    label=LABEL,
    redirect_uri="http://127.0.0.1:9/callback",
    token_url=WAY.token_url,
    client_id="a client & more",
    creds_location="body",
    scopes=("read", "write"),
    expires_at=START,
)


def test_a_challenge_is_as_the_standards_own_example_has_it() -> None:
    # RFC 7636, appendix B
    assert (
        connection.derive_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    )


def test_the_consent_page_is_asked_for_exactly_this() -> None:
    address = connection.build_authorize_url(WAY, BEGUN, state="ours", verifier="v" * 43)
    assert address.startswith("https://login.test/authorize?tenant=all&")
    query = {name: value for name, [value] in parse_qs(urlsplit(address).query, strict_parsing=True).items()}
    assert query == {
        "tenant": "all",
        "access_type": "offline",
        "response_type": "code",
        "client_id": "a client & more",
        "redirect_uri": "http://127.0.0.1:9/callback",
        "scope": "read write",
        "state": "ours",
        "code_challenge": connection.derive_challenge("v" * 43),
        "code_challenge_method": "S256",
    }
    assert "v" * 43 not in address


@pytest.mark.parametrize(
    "uri", ["http://127.0.0.1:1/", "http://[::1]:65535/a/b", "http://127.0.0.1:8080", "https://console.example.com/connected"]
)
def test_a_redirect_leads_to_loopback_or_where_the_service_knows_it(uri: str) -> None:
    assert connection.find_connection_problems(WAY, redirect_uri=uri, client_id="c", scopes=()) == []


@pytest.mark.parametrize(
    "uri",
    [
        "http://localhost:80/",
        "http://127.0.0.1/",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:65536/",
        "http://127.0.0.1:80@evil.test/",
        "http://127.0.0.1.evil.test:80/",
        "http://127.0.0.1:80/?next=https://evil.test",
        "http://127.0.0.1:80/#f",
        "http://127.0.0.1:80/\n",
        "http://127.1:80/",
        "http://192.168.0.1:80/",
        "https://127.0.0.1:80/",
        "https://console.example.com/connected?x=1",
        "https://evil.test/connected",
        "javascript:alert(1)",
        "",
    ],
)
def test_a_redirect_leads_nowhere_else(uri: str) -> None:
    (problem,) = connection.find_connection_problems(WAY, redirect_uri=uri, client_id="c", scopes=())
    assert problem.field == "redirect_uri"
    assert uri == "" or uri not in problem.message


@pytest.mark.parametrize(
    ("scopes", "fits"), [((), True), (("a:b/c.d",), True), (("a b",), False), (('a"',), False), (("a",) * 51, False)]
)
def test_scopes_are_those_of_the_standard(scopes: tuple[str, ...], fits: bool) -> None:
    problems = connection.find_connection_problems(WAY, redirect_uri=BEGUN.redirect_uri, client_id="c", scopes=scopes)
    assert [item.field for item in problems] == ([] if fits else ["scopes"])


def test_a_client_is_needed() -> None:
    (problem,) = connection.find_connection_problems(WAY, redirect_uri=BEGUN.redirect_uri, client_id=None, scopes=())
    assert problem.field == "client_id"


def expiring(in_s: float | None) -> Grant:
    expires = None if in_s is None else START + timedelta(seconds=in_s)
    return Grant(token_url=WAY.token_url, client_id="c", expires_at=expires)


@pytest.mark.parametrize(
    ("in_s", "due", "usable"), [(61, False, True), (60, True, True), (0, True, False), (-1, True, False), (None, False, True)]
)
def test_a_token_is_renewed_in_its_last_minute_and_used_to_its_end(in_s: float | None, due: bool, usable: bool) -> None:
    assert (grant.is_due(expiring(in_s), START), grant.is_usable(expiring(in_s), START)) == (due, usable)


def test_a_renewal_is_claimed_by_one_until_the_claim_has_run_out() -> None:
    sealed = SealedCredential(
        label=LABEL, ciphertext=b"", key_version=1, created_at=START, updated_at=START, grant=GrantStatus()
    )
    claimed = grant.claim_renewal(sealed, "a", START)
    assert claimed is not None
    assert grant.claim_renewal(claimed, "b", START + grant.LEASE - timedelta(microseconds=1)) is None
    again = grant.claim_renewal(claimed, "b", START + grant.LEASE)
    assert again is not None
    assert again.grant is not None
    assert again.grant.refreshing is not None
    assert again.grant.refreshing.holder == "b"
    assert grant.release_renewal(again) == sealed


def test_a_claim_outlasts_the_request_it_is_for() -> None:
    assert grant.LEASE.total_seconds() > grant.REFRESH_SECONDS
