"""A person connects an MCP server on the command line; its tools are listed and called with its token, which is renewed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.canaries import canary
from tests.journeys.conftest import Journey, asks, call, says
from tests.journeys.test_consent import ferryman, visit_host
from tests.journeys.test_mcp_servers import accept


async def connect(journey: Journey, agent: str, *options: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Have a person consent to the server `books`; return the page's parameters, and what the command printed at its end."""
    connecting = await ferryman(journey, "mcp", "connect", "books", "--agent", agent, "--json", *options)
    assert connecting.stdout is not None
    line = await connecting.stdout.readline()
    if not line:
        raise AssertionError((await connecting.communicate())[1].decode())
    begun = json.loads(line)
    back = await visit_host(journey.stack, begun["authorize_url"])
    async with httpx.AsyncClient(trust_env=False) as browser:
        assert (await browser.get(back)).status_code == 200
    printed, errors = await connecting.communicate()
    assert connecting.returncode == 0, errors.decode()
    asked_for = {name: value for name, [value] in parse_qs(urlsplit(begun["authorize_url"]).query).items()}
    return asked_for, json.loads(printed)


async def serve(journey: Journey, **rules: Any) -> tuple[str, Mapping[str, Any]]:
    """Return an agent, and an MCP server of it whose authorization server is another host, which knows no client."""
    host, login = f"{journey.name}.example.com", f"login-{journey.name}.example.com"
    resource = f"https://{host}/mcp"
    await journey.admin.serve_oauth(
        login, {"consent": "allow", "iss": f"https://{login}", "resources": [resource], "clients": {}, **rules}
    )
    await journey.admin.serve_mcp(host, {"authorization": login, "scope": "books.read"})
    agent = str((await journey.client.create_agent({"name": "Librarian", "allowed_tools": []}))["agent_id"])
    body = {"name": "books", "url": resource, "auth": {"type": "oauth"}}
    return agent, await journey.client.create_mcp_server(agent, body)


async def test_a_server_is_connected_listed_and_called_with_a_token_for_itself(journey: Journey) -> None:
    agent, server = await serve(journey)
    assert server["state"] == "needs_authorization"
    asked_for, connected = await connect(journey, agent)
    host, login = f"{journey.name}.example.com", f"login-{journey.name}.example.com"
    assert (asked_for["resource"], asked_for["scope"]) == (f"https://{host}/mcp", "books.read")
    assert (connected["issuer"], connected["resource"]) == (f"https://{login}", f"https://{host}/mcp")
    refreshed = await journey.client.refresh_mcp_server(agent, server["server_id"])
    assert refreshed["state"] == "listed"
    await accept(journey, agent, server["server_id"], "echo")
    task = await journey.task(
        asks(call("books__echo", text="ferries")), says("Done.", expect=("ferries",)), agent_id=agent, tools=[]
    )
    record = await journey.run(task)
    assert [(row["tool"], row["blocked"]) for row in record["tool_calls"]] == [("books__echo", False)]
    for token in (await journey.admin.read_oauth(login))["issued"]:
        if not token.startswith("code_"):
            # of a signed token the signature: the rest names hosts, as certificates do in the same encoding
            canary.register_value("a token of an MCP server", token.rpartition(".")[2])


async def test_a_token_that_has_expired_is_renewed_for_its_resource(journey: Journey) -> None:
    agent, server = await serve(journey, access_s=30)
    await connect(journey, agent)
    refreshed = await journey.client.refresh_mcp_server(agent, server["server_id"])
    assert refreshed["state"] == "listed"
    counts = (await journey.admin.read_oauth(f"login-{journey.name}.example.com"))["counts"]
    assert counts["refresh_token"] >= 1


async def test_connecting_again_asks_for_the_scopes_of_before_and_more(journey: Journey) -> None:
    agent, _ = await serve(journey)
    await connect(journey, agent)
    asked_for, connected = await connect(journey, agent, "--scope", "books.write")
    assert asked_for["scope"] == "books.read books.write"
    assert connected["scopes"] == ["books.read", "books.write"]


async def test_a_client_that_nobody_registered_is_named_by_its_own_document(journey: Journey) -> None:
    agent, _ = await serve(journey, documents=True)
    asked_for, _ = await connect(journey, agent)
    async with httpx.AsyncClient(trust_env=False) as reader:
        document = (await reader.get(f"{journey.stack['url']}/oauth/client.json")).json()
    assert asked_for["client_id"] == document["client_id"] == "https://mcp.example.com/oauth/client.json"
    assert urlsplit(asked_for["redirect_uri"]).path in {urlsplit(uri).path for uri in document["redirect_uris"]}
