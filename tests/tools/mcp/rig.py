"""A tool function that calls a simulated MCP server: real checks, gate, vault and pins, on stores in memory, with no socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import httpx
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from emulator.clock import EmulatorClock
from emulator.internet.mcp import McpRules, SimulatedMcpServer
from emulator.internet.mcp.tools import FORM
from ferryman import catalog
from ferryman.domain.approvals.approval import Approval
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.approvals.rules import NO_RULES, ApprovalRules
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.credentials.credential import Label, SealedCredential
from ferryman.domain.executions.execution import Status
from ferryman.domain.http.request import InboundResponse
from ferryman.domain.remote_servers.pins import accept_pins
from ferryman.domain.remote_servers.server import RemoteServer, ServerAuth, fingerprint_tools
from ferryman.egress.checking import redact, scan_output
from ferryman.egress.gate import EgressGate, ExchangeState
from ferryman.egress.receive import receive
from ferryman.egress.send import Sending
from ferryman.egress.tls import create_context
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.clock import START, ManualClock
from ferryman.inmemory.credentials import MCP_SERVERS, MemoryConnections, MemoryCredentials
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.remote_servers import MemoryRemoteServers
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.ports.tickets import CallRequest
from ferryman.tools.approving.confirming import ApprovingDependencies
from ferryman.tools.execute_call import ToolDependencies, execute_call
from ferryman.tools.mcp.contacting import RemoteCallDependencies, list_tools
from ferryman.tools.mcp.listing import store_listing
from ferryman.tools.mcp.preparing import make_remote_preparer
from ferryman.tools.prepared_call import CallContext, PreparedCall
from ferryman.vault.decisions import PublishedKeys
from ferryman.vault.seal import PublicKey, build_call_info, build_credential_info, derive_public_key, generate_private_key
from ferryman.vault.vault import Vault
from tests.builders import build_execution, build_label, build_lease, build_policy, build_task, build_ticket
from tests.campaigns.approvals.rig import KEY, sign

HOST = "tools.example.com"
URL = f"https://{HOST}/mcp"
API_KEY = "k3y_Zq8LmT3xVr9KwB2nPd7Y"
TASK_KEY = "t4sk_Hd5JcQ1uXs6GvN4eWt0A"
PRIVATE = generate_private_key()
PUBLIC = PublicKey(1, derive_public_key(PRIVATE))
TLS = create_context()
TASK_LABEL = build_label(name="OTHER", service="coingecko", hosts=("api.coingecko.com",))
SERVER = RemoteServer(
    id="mcp_1",
    owner="o",
    workspace="w",
    agent="a",
    name="desk",
    url=URL,
    auth=ServerAuth.HEADERS,
    headers={"x-api-key": "DESK_KEY"},
    created_at=START,
    updated_at=START,
)


class NoNames:
    """Resolves and dials nothing."""


class PartsStream(httpx.AsyncByteStream):
    """The body of a response, part by part as the application sends it."""

    def __init__(self, parts: asyncio.Queue[Message], serving: asyncio.Task[None]) -> None:
        self._parts, self._serving = parts, serving

    async def __aiter__(self) -> AsyncIterator[bytes]:
        more = True
        while more:
            message = await self._parts.get()
            more = bool(message.get("more_body"))
            yield message.get("body", b"")

    async def aclose(self) -> None:
        self._serving.cancel()


class StreamingTransport(httpx.AsyncBaseTransport):
    """Has an ASGI application answer, whose responses are read while it writes them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body, parts = await request.aread(), asyncio.Queue[Message]()
        is_read = False

        async def receive() -> Message:
            nonlocal is_read
            if is_read:
                await asyncio.Event().wait()
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}

        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": request.method,
            "path": request.url.path,
            "query_string": request.url.query,
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "scheme": "https",
            "server": (request.url.host, 443),
        }
        serving = asyncio.create_task(self._serve(scope, receive, parts))
        start = await parts.get()
        return httpx.Response(start["status"], headers=start["headers"], stream=PartsStream(parts, serving))

    async def _serve(self, scope: Scope, receive: Receive, parts: asyncio.Queue[Message]) -> None:
        await self._app(scope, receive, parts.put)


class AsgiGate(EgressGate):
    """The gate, of whose requests each goes to a simulated server; `failing` makes that many of the next ones fail."""

    async def _send_reusing(self, exchange: ExchangeState, sending: Sending) -> None:
        return None

    async def _send_dialling(self, exchange: ExchangeState, sending: Sending) -> InboundResponse:
        peer: Peer = self.dial  # type: ignore[assignment] # stands in the place of what dials
        exchange.dialer.dialled = True
        if peer.unreachable:
            raise httpx.ConnectError("nobody is there")
        sending.state.begun = True
        return await peer.around(lambda: self._ask(peer, sending))

    async def _ask(self, peer: Peer, sending: Sending) -> InboundResponse:
        prepared = sending.prepared
        body = prepared.body or b""
        peer.requests.append((dict(prepared.headers), body))
        async with httpx.AsyncClient(transport=StreamingTransport(peer.server)) as client:
            request = client.build_request(
                prepared.method.value, str(prepared.url), headers=list(prepared.headers), content=body
            )
            response = await client.send(request, stream=True)
            if peer.loses:
                peer.loses -= 1
                raise httpx.ReadError("the connection broke")
            return await receive(response, sending.body_max, sending.owner, sending.feed)


class FormServer:
    """The server in `app`, whose question has another schema; what it counts is the same."""

    def __init__(self, app: SimulatedMcpServer, schema: Mapping[str, Any]) -> None:
        self._app, self._schema = app, json.dumps(schema)

    def report(self) -> Mapping[str, object]:
        return self._app.report()

    async def __call__(self, scope: Scope, receive: Receive, send_: Send) -> None:
        body, start = bytearray(), dict[str, Any]()

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
                return
            body.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            changed = bytes(body).replace(json.dumps(FORM, separators=(",", ":")).encode(), self._schema.encode())
            headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
            await send_({**start, "headers": headers})
            await send_({"type": "http.response.body", "body": changed})

        await self._app(scope, receive, send)


@dataclass
class Peer:
    """The other side: the server, what was sent to it, how many answers get lost, and whether it cannot be reached."""

    server: SimulatedMcpServer | FormServer
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    loses: int = 0
    unreachable: bool = False
    around: Callable[[Callable[[], Any]], Any] = lambda operation: operation()


@dataclass
class RemoteRig:
    """One execution with one call of a tool of the server `desk`."""

    tool: str = "desk__echo"
    arguments: Mapping[str, Any] = field(default_factory=lambda: {"text": "hello"})
    rules: McpRules = field(default_factory=lambda: McpRules(headers={"x-api-key": API_KEY}))
    approvals: ApprovalRules = NO_RULES
    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    log: RecordingLog = field(default_factory=RecordingLog)
    number: int = 0

    def __post_init__(self) -> None:
        self.peer = Peer(SimulatedMcpServer(HOST, self.rules, EmulatorClock(START), lambda *_: True))
        self.vault = Vault(MemoryKeyStore({1: PRIVATE}))
        self.memory.tasks["t"] = build_task()
        self.memory.mcp_servers[SERVER.id] = SERVER
        key = build_label(name="DESK_KEY", service=SERVER.id, task=SERVER.id, hosts=(HOST,))
        self._store(f"{MCP_SERVERS}/{SERVER.id}", key, API_KEY)
        self._store("t", TASK_LABEL, TASK_KEY)
        self.gate = AsgiGate(names=NoNames(), dial=self.peer, tls=TLS, tracer=self.log)  # type: ignore[arg-type]
        self.remote = RemoteCallDependencies(
            tools=self._build_tools(), servers=MemoryRemoteServers(self.memory), gate=self.gate
        )
        self.tools = replace(self.remote.tools, prepare=make_remote_preparer(self.remote))

    def _store(self, place: str, label: Label, value: str) -> None:
        ciphertext = PUBLIC.seal(value.encode(), build_credential_info(label))
        sealed = SealedCredential(label=label, ciphertext=ciphertext, key_version=1, created_at=START, updated_at=START)
        self.memory.versions.setdefault(place, {})[label.name] = label.version
        self.memory.credentials.setdefault(place, {})[label.name] = sealed

    @property
    def server(self) -> RemoteServer:
        return self.memory.mcp_servers[SERVER.id]

    async def list(self) -> RemoteServer:
        listing = await list_tools(self.remote, self.server)
        return await store_listing(self.remote.servers, self.server, listing, now=self.clock.now())

    async def accept(self) -> RemoteServer:
        """List the server's tools and accept all of them."""
        server = await self.list()
        digests = {pin.tool: pin.listed_digest or "" for pin in server.pins}
        accepted = replace(server, pins=accept_pins(server.pins, digests, now=self.clock.now()))
        return await self.remote.servers.update(accepted, ["pins"], since=server.generation)

    async def begin(self) -> None:
        """Accept the tools, and journal the call in an execution that may call them."""
        await self.accept()
        policy = build_policy(tools=(), remote=fingerprint_tools(self.server), approvals=self.approvals)
        self.memory.executions["e"] = build_execution(
            status=Status.RUNNING,
            lease=build_lease(expires_at=START + timedelta(days=400)),
            policy=policy,
            workspace="w",
            agent="a",
        )
        self.memory.tickets["e"] = {0: self.build_ticket(0)}

    def build_ticket(self, seq: int) -> Ticket:
        """Return the ticket of the call as number `seq` of the execution."""
        sealed = PUBLIC.seal(json.dumps(dict(self.arguments)).encode(), build_call_info("e", seq))
        return build_ticket(seq=seq, tool=self.tool, arguments=sealed, display_arguments=dict(self.arguments))

    def build_request(self, seq: int = 0) -> CallRequest:
        return CallRequest(execution="e", seq=seq, epoch=1, task="t", owner="o")

    async def send(self, seq: int = 0) -> Ticket:
        return await execute_call(self.tools, "mcp_tool", self.build_request(seq))

    def with_form(self, schema: Mapping[str, Any]) -> FormServer:
        """Return the server, which asks with this form in the place of its own."""
        return FormServer(self.peer.server, schema)

    async def call(self) -> ToolCallResult:
        """Begin and execute the call; return its result."""
        await self.begin()
        result = (await self.send()).result
        assert result is not None
        return result

    @property
    def ticket(self) -> Ticket:
        return self.memory.tickets["e"][0]

    @property
    def approval(self) -> Approval:
        return self.memory.approvals[self.ticket.approval]

    async def decide(self, verdict: DecisionVerdict = DecisionVerdict.APPROVE, **fields: Any) -> None:
        """Decide about the call as the api does."""
        sends = 1 if verdict is DecisionVerdict.APPROVE else 0
        signed = sign(self.approval, verdict=verdict, sends_max=sends, at=self.clock.now(), **fields)
        await MemoryApprovals(self.memory).decide(signed, now=self.clock.now())

    async def answer(self, answers: Mapping[str, Any]) -> None:
        """Answer the question as the api does."""
        await self.decide(DecisionVerdict.ANSWER, edited=json.dumps(answers))

    def count_calls(self) -> int:
        """Return how many calls of tools the server has taken."""
        calls = self.peer.server.report()["calls"]
        assert isinstance(calls, list)
        return len(calls)

    def count(self, method: str) -> int:
        """Return how often the server was asked for `method`."""
        counts = self.peer.server.report()["counts"]
        assert isinstance(counts, dict)
        return int(counts.get(method, 0))

    def _build_tools(self) -> ToolDependencies:
        async def prepare(_: CallContext) -> PreparedCall:
            raise AssertionError("replaced by that of MCP servers")

        return ToolDependencies(
            tickets=MemoryTickets(self.memory),
            credentials=MemoryCredentials(self.memory),
            connections=MemoryConnections(self.memory),
            server_credentials=MemoryCredentials(self.memory, MCP_SERVERS),
            server_connections=MemoryConnections(self.memory, MCP_SERVERS),
            tokens=MemoryTokens(self.memory),
            vault=self.vault,
            gate=self.gate,
            prepare=prepare,
            redact=redact,
            redact_blocks=scan_output,
            integrations=catalog.load(),
            halts=MemoryHalts(self.memory),
            clock=self.clock,
            tracer=self.log,
            approving=ApprovingDependencies(
                approvals=MemoryApprovals(self.memory), verifier=PublishedKeys({1: KEY.public}), clock=self.clock
            ),
        )
