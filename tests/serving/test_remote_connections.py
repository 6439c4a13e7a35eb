"""Connections of MCP servers over HTTP: what was discovered is pinned, and only a key holder opens what is kept of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from ferryman.domain.credentials import connection as rules
from ferryman.domain.credentials.connection import Connection, NotConnectedError, Proof
from ferryman.domain.credentials.credential import Secret
from ferryman.domain.remote_servers.authorization import read_authorization
from ferryman.vault import seal
from tests.canaries import canary

from .conftest import PRIVATE, Stage
from .server_connector import AUTHORIZATION

SECRET = canary.create_key("serving, a secret of an MCP client", 24, before="cs-")
REDIRECT = "http://127.0.0.1:9/callback/mcp"
CONSOLE = "https://ferryman.example.com/console/consents/mcp/connected"
PATH = "/v1/agents/agent_ann/mcp/mcp_ann/connect"
ANSWER = {"state": "s" * 43, "code": "c", "iss": AUTHORIZATION.issuer}


async def begin(client: httpx.AsyncClient, **args: Any) -> httpx.Response:
    return await client.post(PATH, json={"redirect_uri": REDIRECT, **args})


def read_stored(stage: Stage) -> tuple[Connection, Proof]:
    (stored,) = stage.memory.connections["mcp_servers/mcp_ann"].values()
    return stored, seal.decode_proof(seal.PrivateKey(PRIVATE).unseal(stored.ciphertext, seal.build_connection_info(stored)))


async def test_the_person_is_led_to_the_issuer_with_resource_and_challenge(client: httpx.AsyncClient, stage: Stage) -> None:
    answer = (await begin(client)).json()
    _, proof = read_stored(stage)
    query = {name: value for name, [value] in parse_qs(urlsplit(answer["authorize_url"]).query).items()}
    assert answer["authorize_url"].startswith("https://login.tools.test/authorize?")
    assert query == {
        "response_type": "code",
        "client_id": "discovered",
        "redirect_uri": REDIRECT,
        "scope": "tools.read",
        "state": answer["state"],
        "code_challenge": rules.derive_challenge(proof.verifier.reveal()),
        "code_challenge_method": "S256",
        "resource": "https://tools.example.com/mcp",
    }


async def test_everything_that_was_discovered_is_kept_with_the_consent(client: httpx.AsyncClient, stage: Stage) -> None:
    await begin(client)
    stored, _ = read_stored(stage)
    assert read_authorization(stored) == AUTHORIZATION
    assert stored.label.hosts == ("tools.example.com",)


@pytest.mark.parametrize("name", ["issuer", "resource", "token_url", "authorize_url", "client_id"])
async def test_a_consent_of_which_a_part_was_changed_does_not_open(client: httpx.AsyncClient, stage: Stage, name: str) -> None:
    await begin(client)
    stored, _ = read_stored(stage)
    object.__setattr__(stored, name, "https://evil.example.com/")
    with pytest.raises(seal.UnsealError):
        read_stored(stage)


async def test_a_secret_of_the_person_is_sealed_and_passed_to_nobody(client: httpx.AsyncClient, stage: Stage) -> None:
    await begin(client, client_id="mine", client_secret=SECRET)
    _, proof = read_stored(stage)
    assert proof.client_secret is not None
    assert proof.client_secret.reveal() == SECRET
    (request,) = stage.server_connector.requests
    assert (request["client_id"], request["has_secret"]) == ("mine", True)
    assert SECRET not in repr(request)


async def test_the_secret_of_a_client_that_was_registered_is_sealed(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.server_connector.client_secret = Secret(SECRET)
    assert SECRET not in (await begin(client)).text
    _, proof = read_stored(stage)
    assert proof.client_secret is not None
    assert proof.client_secret.reveal() == SECRET


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"redirect_uri": "https://evil.example.com/"}, "redirect_uri"),
        ({"redirect_uri": "javascript:alert(1)"}, "redirect_uri"),
        ({"client_id": "a b"}, "client_id"),
        ({"client_secret": SECRET}, "client_id"),
        ({"client_id": "c", "client_secret": "short"}, "client_secret"),
        ({"scopes": ["a b"]}, "scopes"),
        ({"scopes": [f"s{n}" for n in range(51)]}, "scopes"),
    ],
)
async def test_what_cannot_be_asked_for_is_refused_by_its_field(
    client: httpx.AsyncClient, stage: Stage, change: dict[str, Any], field: str
) -> None:
    answer = await begin(client, **change)
    assert answer.status_code == 422
    assert field in [error["field"] for error in answer.json()["errors"]]
    assert stage.server_connector.requests == []


async def test_a_server_that_cannot_be_connected_says_why(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.server_connector.fails = NotConnectedError("the server has no metadata")
    answer = await begin(client)
    assert (answer.status_code, answer.json()["detail"]) == (409, "the server has no metadata")
    assert "mcp_servers/mcp_ann" not in stage.memory.connections


async def test_the_code_and_the_issuer_of_the_answer_are_passed_on(client: httpx.AsyncClient, stage: Stage) -> None:
    answer = await client.post(f"{PATH}/finish", json=ANSWER)
    assert answer.json() == {
        "server_id": "mcp_ann",
        "name": "tracker",
        "issuer": AUTHORIZATION.issuer,
        "resource": AUTHORIZATION.resource,
        "scopes": ["tools.read"],
        "token_expires_at": "2026-11-21T13:00:00Z",
    }
    (request,) = stage.server_connector.requests
    assert (request["iss"], request["digest"]) == (AUTHORIZATION.issuer, rules.digest_state("s" * 43))


@pytest.mark.parametrize(
    "change",
    [{"state": "s"}, {"state": "s" * 43 + "\n"}, {"code": ""}, {"code": "\u202e"}, {"iss": "a b"}, {"iss": "x" * 2049}],
)
async def test_an_answer_that_is_none_is_refused(client: httpx.AsyncClient, stage: Stage, change: dict[str, str]) -> None:
    assert (await client.post(f"{PATH}/finish", json={**ANSWER, **change})).status_code == 422
    assert stage.server_connector.requests == []


async def test_a_server_of_another_agent_is_not_found(client: httpx.AsyncClient) -> None:
    agents = (await client.get("/v1/agents")).json()["agents"]
    other = next(agent["agent_id"] for agent in agents if agent["agent_id"] != "agent_ann")
    answer = await client.post(f"/v1/agents/{other}/mcp/mcp_ann/connect", json={"redirect_uri": REDIRECT})
    assert answer.status_code == 404


async def test_our_own_document_names_itself_and_leads_to_loopback_or_the_console_alone(client: httpx.AsyncClient) -> None:
    answer = await client.get("/oauth/client.json", headers={"Authorization": ""})
    document = answer.json()
    assert document["client_id"] == "https://ferryman.example.com/oauth/client.json"
    assert document["grant_types"] == ["authorization_code", "refresh_token"]
    elsewhere = [uri for uri in document["redirect_uris"] if urlsplit(uri).hostname not in ("127.0.0.1", "::1")]
    assert elsewhere == [CONSOLE]
    assert "max-age" in answer.headers["cache-control"]


@pytest.mark.parametrize(("change", "status"), [("", 200), ("/", 422), ("?a=b", 422)])
async def test_a_consent_leads_back_to_the_page_of_the_console_exactly(
    client: httpx.AsyncClient, change: str, status: int
) -> None:
    assert (await begin(client, redirect_uri=CONSOLE + change)).status_code == status
