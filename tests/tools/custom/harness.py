"""The harness of custom tools: one execution on in-memory ports, which records what is sent and serves a test's documents."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ferryman import catalog
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.part import Part
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential, Secret
from ferryman.domain.http.request import InboundResponse, OutboundRequest
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.egress.leaks import SecretScanner
from ferryman.egress.sanitize import frame_text
from ferryman.framing.frame import neutralize_unframed
from ferryman.inmemory.clock import START
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.memory import Memory
from ferryman.ports.clusters import Clusters
from ferryman.ports.gate import CallPolicy
from ferryman.ports.tickets import CallRequest, ClaimedCall
from ferryman.tools.declared.calling import CustomToolDependencies, DeclaredToolDependencies
from ferryman.tools.declared.documents import OpenApiFetcher
from ferryman.tools.declared.management import ClusterManager
from ferryman.tools.declared.preparing import make_custom_preparer
from ferryman.tools.prepared_call import CallContext, PreparedCall, ToolConfirmation
from tests.builders import build_execution, build_label, build_policy, build_task, build_ticket
from tests.canaries import canary
from tests.plain_gate import FilledRequest, PlainGate, build_response, redact_document_plainly
from tests.tools.tokens.harness import Harness

KEY = canary.create_key("custom tools")
HOST = "api.coingecko.com"
SPEC = f"https://{HOST}/spec"
LABEL = build_label(name="KEY", service="coingecko", hosts=(HOST,))
POLICY = build_policy(
    tools=("import_openapi_tools", "call_custom_tool", "delete_tool_cluster"),
    integrations=("coingecko",),
    domains=(HOST,),
    credentials=("KEY",),
)
TASK = build_task()


def tool(name: str = "look", path: str = "/items", **fields: Any) -> DeclaredTool:
    return DeclaredTool(name=name, url=f"https://{HOST}{path}", **fields)


def document(*operations: str, title: str = "Shop", server: str = f"https://{HOST}", **fields: Any) -> str:
    """Return a document with a GET for each of these names."""
    paths = {f"/{item}": {"get": {"operationId": item, "responses": {}, **fields}} for item in operations}
    info = {"title": title, "version": "1"}
    return json.dumps({"openapi": "3.1.0", "info": info, "servers": [{"url": server}], "paths": paths})


async def _frame(_: str, credentials: Iterable[Credential], text: str, most: int) -> tuple[str, Part]:
    framed = frame_text(text, SecretScanner(credentials), nonce="0" * 16, most=most)
    return framed.content, framed.part


@dataclass
class CustomToolHarness:
    """`documents` are the answers by URL, a status and a text; `used` are the names of the credentials that were renewed."""

    memory: Memory = field(default_factory=lambda: Memory(tasks={"t": TASK}))
    sent: list[OutboundRequest] = field(default_factory=list)
    documents: dict[str, tuple[int, str]] = field(default_factory=dict)
    frozen: dict[str, str] = field(default_factory=dict)
    used: list[Collection[str]] = field(default_factory=list)
    confirm: ToolConfirmation | None = None

    @property
    def clusters(self) -> Clusters:
        return MemoryClusters(self.memory)

    async def store(self, *tools: DeclaredTool, cluster: str = "", known: bool = True) -> None:
        """Store `tools` as the cluster; `known` ones were there when the execution began."""
        since = next((stored.generation for stored in await self.clusters.list("t") if stored.name == cluster), 0)
        await self.clusters.put("t", cluster, [replace(tool, cluster=cluster) for tool in tools], since=since)
        if known:
            self.frozen |= {tool.name: tool.fingerprint for tool in tools}

    async def names(self) -> list[str]:
        return [tool.name for tool in await self.clusters.tools("t")]

    async def send(self, outbound: OutboundRequest, _call: CallPolicy) -> ToolCallResult:
        self.sent.append(outbound)
        return ToolCallResult(outbound.tool, "done", response_status=200)

    async def fetch(self, outbound: OutboundRequest, call: CallPolicy) -> InboundResponse:
        return await PlainGate(self._document).fetch(outbound, call)

    async def _document(self, arrived: FilledRequest) -> InboundResponse:
        status, text = self.documents[arrived.url]
        return build_response(text, status)

    async def prepare(self, name: str, arguments: Mapping[str, Any]) -> PreparedCall:
        """Prepare the call. Raise `CallRefusedError`."""
        gate: Any = self
        claimed_call = ClaimedCall(
            call_request=CallRequest(execution="e", seq=0, epoch=1, task="t", owner="o"),
            ticket=build_ticket(tool=name),
            policy=replace(POLICY, declared=self.frozen),
            versions={"KEY": 1},
            created=START,
            context=build_execution().context,
            task_name="n",
        )
        credentials = {"KEY": Credential(label=LABEL, secret=Secret(KEY))}

        async def renew(names: Collection[str]) -> Mapping[str, Credential]:
            self.used.append(names)
            return credentials

        manager = ClusterManager(
            clusters=self.clusters,
            documents=OpenApiFetcher(gate=gate, redact=redact_document_plainly),
            frame=_frame,
            neutralize=neutralize_unframed,
        )
        declared = DeclaredToolDependencies(gate=gate, tokens=Harness().instance(), integrations=catalog.load())
        custom = CustomToolDependencies(clusters=self.clusters, declared=declared, manager=manager)
        return await make_custom_preparer(custom)(
            CallContext(
                claimed_call=claimed_call,
                arguments=arguments,
                credentials=credentials,
                renew=renew,
                about={},
                confirm=self.confirm,
            )
        )

    async def call(self, name: str, /, **arguments: Any) -> ToolCallResult:
        """Return the result of the call."""
        try:
            prepared_call = await self.prepare(name, arguments)
        except CallRefusedError as refused:
            return ToolCallResult.from_refusal(name, refused.refusal)
        return await prepared_call.go(10)
