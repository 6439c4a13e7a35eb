"""Discovery: where metadata is looked for, and what of it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.tools.mcp.authorization.challenge import NO_CHALLENGE, Challenge
from ferryman.tools.mcp.authorization.discovery import Discovered, discover
from ferryman.tools.mcp.authorization.failure import AuthorizationFailedError
from tests.tools.mcp.authorization.documents import (
    ISSUER,
    ISSUER_AT,
    RESOURCE_AT,
    SERVER,
    Documents,
    build_documents,
    build_issuer,
    build_resource,
)

OTHER = "https://other.example.com"


async def find(documents: Documents, challenge: Challenge = NO_CHALLENGE, issuer: str | None = None) -> Discovered:
    return await discover(documents, SERVER, challenge, issuer=issuer)


async def test_the_place_that_the_challenge_names_is_the_only_one() -> None:
    documents = build_documents()
    documents.documents["https://tools.example.com/here.json"] = build_resource()
    await find(documents, Challenge(resource_metadata="https://tools.example.com/here.json"))
    assert documents.requested == ["https://tools.example.com/here.json", ISSUER_AT]


async def test_a_challenge_that_names_an_empty_place_falls_back_to_no_other() -> None:
    with pytest.raises(AuthorizationFailedError, match="no metadata of itself"):
        await find(build_documents(), Challenge(resource_metadata="https://tools.example.com/none.json"))


async def test_the_root_is_asked_after_the_place_with_the_path() -> None:
    documents = Documents({RESOURCE_AT: build_resource(resource="https://tools.example.com"), ISSUER_AT: build_issuer()})
    assert (await find(documents)).resource.resource == "https://tools.example.com"
    assert documents.requested == [f"{RESOURCE_AT}/team/mcp", RESOURCE_AT, ISSUER_AT]


async def test_an_issuer_with_a_path_is_asked_at_three_places_in_order() -> None:
    issuer = f"{ISSUER}/tenant"
    documents = build_documents(build_resource(authorization_servers=[issuer]))
    last = f"{ISSUER}/tenant/.well-known/openid-configuration"
    documents.documents[last] = build_issuer(issuer)
    assert (await find(documents)).issuer.issuer == issuer
    assert documents.requested[1:] == [f"{ISSUER_AT}/tenant", f"{ISSUER}/.well-known/openid-configuration/tenant", last]


async def test_the_first_authorization_server_is_taken_of_several() -> None:
    documents = build_documents(build_resource(authorization_servers=[OTHER, ISSUER]))
    documents.documents[f"{OTHER}/.well-known/oauth-authorization-server"] = build_issuer(OTHER)
    assert (await find(documents)).issuer.issuer == OTHER


async def test_the_one_of_the_consent_before_is_preferred_while_it_is_listed() -> None:
    documents = build_documents(build_resource(authorization_servers=[OTHER, ISSUER]))
    documents.documents[f"{OTHER}/.well-known/oauth-authorization-server"] = build_issuer(OTHER)
    assert (await find(documents, issuer=ISSUER)).issuer.issuer == ISSUER


async def test_one_that_is_no_longer_listed_is_not_asked() -> None:
    documents = build_documents(build_resource(authorization_servers=[OTHER]))
    documents.documents[f"{OTHER}/.well-known/oauth-authorization-server"] = build_issuer(OTHER)
    assert (await find(documents, issuer=ISSUER)).issuer.issuer == OTHER
    assert ISSUER_AT not in documents.requested


async def test_one_without_metadata_is_passed_over() -> None:
    documents = build_documents(build_resource(authorization_servers=[OTHER, ISSUER]))
    assert (await find(documents)).issuer.issuer == ISSUER


async def test_no_more_than_three_authorization_servers_are_asked() -> None:
    documents = build_documents(build_resource(authorization_servers=[f"https://{n}.example.com" for n in "abc"] + [ISSUER]))
    with pytest.raises(AuthorizationFailedError, match="none of the server's authorization servers"):
        await find(documents)
    assert ISSUER_AT not in documents.requested


@pytest.mark.parametrize(
    "resource",
    [
        "https://evil.example.com/team/mcp",
        "https://tools.example.com/team/mc",
        "https://tools.example.com/team/mcp/more",
        "https://tools.example.com/team/mcp?x",
        "https://tools.example.com/team/mcp#x",
        "http://tools.example.com/team/mcp",
        "https://tools.example.com:444/team/mcp",
        "https://user@tools.example.com/team/mcp",
        "https://tools.example.com.evil.example/team/mcp",
        None,
        7,
    ],
)
async def test_the_metadata_of_another_resource_is_refused(resource: Any) -> None:
    with pytest.raises(AuthorizationFailedError, match="of another resource"):
        await find(build_documents(build_resource(resource=resource)))


@pytest.mark.parametrize("resource", [SERVER, "https://tools.example.com/team", "https://tools.example.com", f"{SERVER}/"])
async def test_a_resource_that_covers_the_server_is_sent_as_it_is_spelt(resource: str) -> None:
    assert (await find(build_documents(build_resource(resource=resource)))).resource.resource == resource


@pytest.mark.parametrize(
    "issuers",
    [
        None,
        [],
        "https://login.example.com",
        ["http://login.example.com"],
        ["https://login.example.com?x=1"],
        ["https://login.example.com#x"],
        ["https://169.254.169.254"],
        ["https://localhost"],
        ["javascript:alert(1)"],
        [7],
        [ISSUER] * 9,
    ],
)
async def test_authorization_servers_that_are_none_are_refused(issuers: Any) -> None:
    with pytest.raises(AuthorizationFailedError, match="1 to 8 authorization servers"):
        await find(build_documents(build_resource(authorization_servers=issuers)))


@pytest.mark.parametrize("issuer", [f"{ISSUER}/", ISSUER.upper(), "https://login.example.com:443", OTHER, None])
async def test_metadata_of_another_issuer_is_refused_whatever_its_spelling(issuer: Any) -> None:
    with pytest.raises(AuthorizationFailedError, match="of another issuer"):
        await find(build_documents(issuer=build_issuer() | {"issuer": issuer}))


@pytest.mark.parametrize("methods", [None, [], ["plain"], "S256", [256]])
async def test_an_authorization_server_without_pkce_is_refused(methods: Any) -> None:
    with pytest.raises(AuthorizationFailedError):
        await find(build_documents(issuer=build_issuer(code_challenge_methods_supported=methods)))


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "registration_endpoint"])
@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "http://login.example.com/x", "https://10.0.0.1/x", f"{ISSUER}/x#y", 7, "//x"],
)
async def test_an_endpoint_that_no_one_may_be_led_to_is_refused_by_its_name(name: str, url: Any) -> None:
    with pytest.raises(AuthorizationFailedError, match=name):
        await find(build_documents(issuer=build_issuer(**{name: url})))


async def test_scopes_beyond_the_bound_are_refused() -> None:
    with pytest.raises(AuthorizationFailedError, match="more than 50 scopes"):
        await find(build_documents(build_resource(scopes_supported=[f"s{n}" for n in range(51)])))


async def test_an_issuer_says_whether_its_answers_name_it() -> None:
    assert not (await find(build_documents())).issuer.sends_iss
    said_so = build_issuer(authorization_response_iss_parameter_supported=True)
    assert (await find(build_documents(issuer=said_so))).issuer.sends_iss


async def test_a_page_of_consent_on_another_host_is_believed_where_its_answers_name_their_issuer() -> None:
    elsewhere = {"authorization_endpoint": "https://accounts.honest.example.org/authorize"}
    with pytest.raises(AuthorizationFailedError, match="another host than the issuer"):
        await find(build_documents(issuer=build_issuer(**elsewhere)))
    named = build_issuer(**elsewhere, authorization_response_iss_parameter_supported=True)
    assert (await find(build_documents(issuer=named))).issuer.authorize_url == elsewhere["authorization_endpoint"]


@pytest.mark.parametrize(
    "query", ["client_id=theirs", "a=b&redirect_uri=https://x.example", "a=1;scope=all", "%73tate=x", "Resource="]
)
async def test_a_page_of_consent_that_has_a_parameter_of_ours_is_refused(query: str) -> None:
    with pytest.raises(AuthorizationFailedError, match="parameters that a client adds"):
        await find(build_documents(issuer=build_issuer(authorization_endpoint=f"{ISSUER}/authorize?{query}")))
