"""Connections: what a person is asked to consent to, where the answer may lead, and whom it may come from."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from ferryman.domain.credentials import connection
from ferryman.domain.credentials.connection import Connection, NotConnectedError
from ferryman.domain.credentials.integration import OAuth
from ferryman.domain.problem import Problem
from tests.builders import START, build_label

WAY = OAuth(
    authorize_url="https://login.test/authorize?tenant=all",
    token_url="https://login.test/token",
    authorize_params={"access_type": "offline", "state": "theirs"},
    redirect_uris=("https://console.example.com/connected",),
)
BEGUN = Connection(
    digest="d",
    label=build_label(),
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


def test_without_scopes_none_are_asked_for() -> None:
    address = connection.build_authorize_url(WAY, replace(BEGUN, scopes=()), state="ours", verifier="v" * 43)
    assert "scope" not in address


def test_an_address_without_a_query_gets_one() -> None:
    way = replace(WAY, authorize_url="https://login.test/authorize", authorize_params={})
    address = connection.build_authorize_url(way, BEGUN, state="ours", verifier="v" * 43)
    assert address.startswith("https://login.test/authorize?response_type=code&")


def test_of_a_state_its_sha256_in_hex_is_kept() -> None:
    # FIPS 180-2, appendix B.1
    assert connection.digest_state("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_where_a_redirect_may_lead_is_told() -> None:
    (problem,) = connection.find_connection_problems(WAY, redirect_uri="x", client_id="c", scopes=())
    assert problem.message == (
        "must be http://127.0.0.1:PORT/… or http://[::1]:PORT/…, or one of https://console.example.com/connected"
    )
    several = replace(WAY, redirect_uris=("https://a.test/", "https://b.test/"))
    (problem,) = connection.find_connection_problems(several, redirect_uri="x", client_id="c", scopes=())
    assert problem.message.endswith(", or one of https://a.test/, https://b.test/")
    (problem,) = connection.find_connection_problems(replace(WAY, redirect_uris=()), redirect_uri="x", client_id="c", scopes=())
    assert problem.message.endswith("or http://[::1]:PORT/…")


@pytest.mark.parametrize(
    ("scopes", "fits"),
    [
        *(((), True), (("a:b/c.d",), True), (("a b",), False), (('a"',), False), (("a", "b\\"), False)),
        *((("a",) * 50, True), (("a",) * 51, False), (("a" * 200,), True), (("a" * 201,), False), (("",), False)),
    ],
)
def test_scopes_are_those_of_the_standard(scopes: tuple[str, ...], fits: bool) -> None:
    problems = connection.find_connection_problems(WAY, redirect_uri=BEGUN.redirect_uri, client_id="c", scopes=scopes)
    assert [item.field for item in problems] == ([] if fits else ["scopes"])


def test_a_client_is_needed() -> None:
    (problem,) = connection.find_connection_problems(WAY, redirect_uri=BEGUN.redirect_uri, client_id=None, scopes=())
    assert problem.field == "client_id"


@pytest.mark.parametrize(
    ("client_id", "fits"), [("c" * 512, True), ("c" * 513, False), ("a b", False), ("é", False), ("", False)]
)
def test_a_client_id_is_visible_ascii_of_512_characters_at_most(client_id: str, fits: bool) -> None:
    problems = connection.find_connection_problems(WAY, redirect_uri=BEGUN.redirect_uri, client_id=client_id, scopes=())
    rule = Problem("client_id", "must be visible ASCII characters, at most 512")
    assert problems == ([] if fits else [rule])


def test_all_problems_are_told_at_once() -> None:
    problems = connection.find_connection_problems(WAY, redirect_uri="x", client_id=None, scopes=("a b",))
    assert [item.field for item in problems] == ["redirect_uri", "client_id", "scopes"]
    assert problems[1].message == "is required: this deployment has no client id of its own for the service"
    assert problems[2].message == "must be at most 50, each of visible ASCII without quotes and backslashes"


ISSUER = "https://login.test"


@pytest.mark.parametrize(
    ("issuer", "sends_iss", "iss"),
    [(ISSUER, True, ISSUER), (ISSUER, False, ISSUER), (ISSUER, False, None), (None, False, None)],
)
def test_a_response_of_the_service_s_issuer_is_accepted(issuer: str | None, sends_iss: bool, iss: str | None) -> None:
    connection.check_issuer(replace(WAY, issuer=issuer, sends_iss=sends_iss), iss)


@pytest.mark.parametrize(
    ("issuer", "sends_iss", "iss", "why"),
    [
        (ISSUER, True, None, "has no iss, which the service always sends"),
        (None, False, ISSUER, "add oauth.issuer"),
        *((ISSUER, False, iss, "another issuer than the service's") for iss in ("https://evil.test", f"{ISSUER}/", "")),
        (ISSUER, True, ISSUER.upper(), "another issuer than the service's"),
    ],
)
def test_a_response_of_another_issuer_is_refused(issuer: str | None, sends_iss: bool, iss: str | None, why: str) -> None:
    with pytest.raises(NotConnectedError, match=why):
        connection.check_issuer(replace(WAY, issuer=issuer, sends_iss=sends_iss), iss)


@pytest.mark.parametrize(
    ("uri", "plain"),
    [
        *(("https://login.test", True), ("https://login.test/a/b", True)),
        *(("https://login.test/?", False), ("https://login.test/?a=b", False), ("https://login.test/#", False)),
        *(("http://login.test/", False), ("", False)),
    ],
)
def test_an_issuer_is_an_https_address_without_query_and_fragment(uri: str, plain: bool) -> None:
    assert connection.is_plain_https(uri) is plain
