"""Scenarios of an MCP server's tools, run by processes that really die; the server is one that survives them all.

They are not among `SCENARIOS`: what simulates those in one process has no gate that reads streams.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import httpx

from emulator.clock import EmulatorClock
from emulator.internet.mcp import McpRules, SimulatedMcpServer
from emulator.internet.mcp.tools import list_tools
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.remote_servers.names import SEPARATOR
from ferryman.domain.remote_servers.pins import accept_pins
from ferryman.domain.remote_servers.server import RemoteServer, ServerAuth
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.egress.gate import EgressGate
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.credentials import FirestoreCredentials
from ferryman.gcp.places import MCP_SERVERS
from ferryman.gcp.remote_servers import FirestoreRemoteServers
from ferryman.inmemory.clock import START
from ferryman.tools.execute_call import ToolDependencies
from ferryman.tools.mcp.contacting import RemoteCallDependencies
from ferryman.tools.mcp.listing import ServerListing, store_listing
from ferryman.tools.mcp.preparing import make_remote_preparer
from ferryman.vault.seal import PublicKey, build_credential_info
from tests.builders import build_label
from tests.campaigns.crash.agents import AGENT
from tests.campaigns.crash.points import InstrumentedPort, Meet
from tests.campaigns.crash.scenarios import SERVER_HOST, Scenario, read_call

NAME, PATH, KEY_HEADER, KEY = "desk", "/mcp", "x-api-key", "DESK_KEY"
VALUE = "k3y_Zq8LmT3xVr9KwB2nPd7Y"
RULES = McpRules(path=PATH, headers={KEY_HEADER: VALUE}, poll_ms=2_000)
BOOKS = "book_table"
"""The tool that asks a person first: its first call has no effect."""

SERVER = RemoteServer(
    id="mcp_1",
    owner="o",
    workspace=derive_default_workspace("o"),
    agent=AGENT,
    name=NAME,
    url=f"https://{SERVER_HOST}{PATH}",
    auth=ServerAuth.HEADERS,
    headers={KEY_HEADER: KEY},
    created_at=START,
    updated_at=START,
)


def server_call(tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return f"{NAME}{SEPARATOR}{tool}", arguments


REMOTE_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="server's tool", turns=((server_call("echo", text="hello"), read_call("rm1")),), remote=True),
    Scenario(
        name="approved tool of a server",
        turns=((server_call("echo", text="hello"), read_call("rm2")),),
        remote=True,
        decides=DecisionVerdict.APPROVE,
    ),
    Scenario(
        name="question of a server",
        turns=((server_call(BOOKS, day="Friday"),), (read_call("rm3"),)),
        remote=True,
        decides=DecisionVerdict.ANSWER,
    ),
    Scenario(
        name="long work of a server",
        turns=((server_call("count_words", text="one two three"),), (read_call("rm4"),)),
        remote=True,
    ),
)


async def store_server(clients: GoogleClients, sealer: PublicKey) -> None:
    """Store the server, with its key and with all of its tools accepted."""
    servers, keys = FirestoreRemoteServers(clients), FirestoreCredentials(clients, MCP_SERVERS)
    await servers.create(SERVER)
    label = build_label(owner="o", name=KEY, service=SERVER.id, task=SERVER.id, hosts=(SERVER_HOST,))
    ciphertext = sealer.seal(VALUE.encode(), build_credential_info(label))
    await keys.put(SealedCredential(label=label, ciphertext=ciphertext, key_version=1, created_at=START, updated_at=START))
    listing = ServerListing(tools=[(str(tool["name"]), tool) for tool in list_tools(RULES)], refused=[])
    listed = await store_listing(servers, SERVER, listing, now=START)
    digests = {pin.tool: pin.listed_digest or "" for pin in listed.pins}
    accepted = replace(listed, pins=accept_pins(listed.pins, digests, now=START))
    await servers.update(accepted, ["pins"], since=listed.generation)


def build_remote_deps(clients: GoogleClients, deps: ToolDependencies, gate: EgressGate, meet: Meet) -> ToolDependencies:
    """Return the dependencies of `mcp_tool`, with every port instrumented that `deps` has not."""
    keys: Any = InstrumentedPort(FirestoreCredentials(clients, MCP_SERVERS), "server_credentials", meet)
    servers: Any = InstrumentedPort(FirestoreRemoteServers(clients), "servers", meet)
    tools = replace(deps, server_credentials=keys, server_connections=deps.connections, remote_servers=servers)
    remote = RemoteCallDependencies(tools=tools, servers=servers, gate=gate)
    return replace(tools, prepare=make_remote_preparer(remote))


class Upstream:
    """The server of one run: `note` is told of each call that has an effect, by its tool."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._app = SimulatedMcpServer(SERVER_HOST, RULES, EmulatorClock(START), lambda *_: True)

    async def respond(self, headers: Mapping[str, str], body: bytes) -> bytes:
        """Return what a request is answered with, as it is sent."""
        message = json.loads(body)
        params = message.get("params", {})
        if message.get("method") == "tools/call" and (params["name"] != BOOKS or "inputResponses" in params):
            self._note(f"{NAME}{SEPARATOR}{params['name']}")
        async with httpx.AsyncClient(transport=httpx.ASGITransport(self._app)) as client:
            sent = {name: value for name, value in headers.items() if name not in ("content-length", "connection")}
            answer = await client.post(SERVER.url, content=body, headers=sent)
        head = [f"HTTP/1.1 {answer.status_code} OK", f"content-type: {answer.headers.get('content-type', 'text/plain')}"]
        lines = [*head, f"content-length: {len(answer.content)}", "connection: close"]
        return "\r\n".join([*lines, "", ""]).encode() + answer.content
