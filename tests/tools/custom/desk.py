"""A desk: one execution of a task with custom tools, on doubles; what is sent is kept, and documents are what a test says."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ferryman import catalog
from ferryman.domain.call import Ticket, ToolCallResult
from ferryman.domain.credential import AuthType, Credential, Label, Secret
from ferryman.domain.declared import Declared
from ferryman.domain.http import Inbound, Outbound
from ferryman.domain.plan import PRO
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.domain.task import Task
from ferryman.egress.frame import harmless
from ferryman.egress.leaks import Scanner
from ferryman.egress.sanitize import framed
from ferryman.local.clock import START
from ferryman.local.clusters import MemoryClusters
from ferryman.local.gate import Arrived, PlainGate, answered, plainly
from ferryman.local.memory import Memory
from ferryman.ports import Clusters, Errand, Summons
from ferryman.tools.custom.calling import Custom, Way, reader
from ferryman.tools.custom.documents import Documents
from ferryman.tools.custom.handling import Handling
from ferryman.tools.passage import Passage, Reading
from tests import planted
from tests.tokens.world import World

KEY = planted.key("desk")
HOST = "api.coingecko.com"
SPEC = f"https://{HOST}/spec"
LABEL = Label(owner="o", task="t", name="KEY", version=1, service="coingecko", auth_type=AuthType.BEARER, hosts=(HOST,))
REMIT = Remit(
    owner="o",
    task="t",
    plan=PRO,
    tools=("import_openapi_tools", "call_custom_tool", "delete_tool_cluster"),
    integrations=("coingecko",),
    domains=(HOST,),
    credentials=("KEY",),
)
TASK = Task(id="t", owner="o", name="n", task_prompt="p", model="m", created_at=START, updated_at=START)


def tool(name: str = "look", path: str = "/items", **said: Any) -> Declared:
    return Declared(name=name, url=f"https://{HOST}{path}", **said)


def document(*operations: str, title: str = "Shop", server: str = f"https://{HOST}", **said: Any) -> str:
    """A document with a GET for each of these names."""
    paths = {f"/{each}": {"get": {"operationId": each, "responses": {}, **said}} for each in operations}
    info = {"title": title, "version": "1"}
    return json.dumps({"openapi": "3.1.0", "info": info, "servers": [{"url": server}], "paths": paths})


@dataclass
class Desk:
    """`documents` are answered by their URL, with the status before a text; `used` are the names that were to be good."""

    memory: Memory = field(default_factory=lambda: Memory(tasks={"t": TASK}))
    sent: list[Outbound] = field(default_factory=list)
    documents: dict[str, tuple[int, str]] = field(default_factory=dict)
    frozen: dict[str, str] = field(default_factory=dict)
    used: list[Collection[str]] = field(default_factory=list)

    @property
    def clusters(self) -> Clusters:
        return MemoryClusters(self.memory)

    async def has(self, *tools: Declared, cluster: str = "", shown: bool = True) -> None:
        """`tools` are the cluster; `shown` tells that they were, when the execution began."""
        since = next((each.generation for each in await self.clusters.list("t") if each.name == cluster), 0)
        await self.clusters.put("t", cluster, [replace(each, cluster=cluster) for each in tools], since=since)
        if shown:
            self.frozen |= {each.name: each.fingerprint for each in tools}

    async def names(self) -> list[str]:
        return [each.name for each in await self.clusters.tools("t")]

    async def send(self, outbound: Outbound, **_: Any) -> ToolCallResult:
        self.sent.append(outbound)
        return ToolCallResult(outbound.tool, "done", response_status=200)

    async def fetch(self, outbound: Outbound, *, about: Mapping[str, Any] | None = None, **given: Any) -> Inbound:
        return await PlainGate(self._document).fetch(outbound, **given)

    async def _document(self, arrived: Arrived) -> Inbound:
        status, text = self.documents[arrived.url]
        return answered(text, status)

    async def passage(self, name: str, arguments: Mapping[str, Any]) -> Passage:
        """The call, read; raises `Refused`."""
        gate: Any = self
        ticket = Ticket(seq=0, step=1, call="c", tool=name, arguments=b"", shown={}, epoch=1, created_at=START)
        errand = Errand(
            summons=Summons(execution="e", seq=0, epoch=1, task="t", owner="o"),
            ticket=ticket,
            remit=replace(REMIT, declared=self.frozen),
            versions={"KEY": 1},
            created=START,
            task_name="n",
        )
        credentials = {"KEY": Credential(label=LABEL, secret=Secret(KEY))}

        async def renewed(names: Collection[str]) -> Mapping[str, Credential]:
            self.used.append(names)
            return credentials

        handling = Handling(
            clusters=self.clusters,
            documents=Documents(gate=gate, redact=plainly),
            framed=lambda text, opened: framed(text, Scanner(opened), nonce="0" * 16),
            tame=harmless,
        )
        way = Way(gate=gate, tokens=World().instance(), integrations=catalog.load())
        read = reader(Custom(clusters=self.clusters, way=way, handling=handling))
        return await read(Reading(errand=errand, arguments=arguments, credentials=credentials, renewed=renewed, about={}))

    async def call(self, name: str, /, **arguments: Any) -> ToolCallResult:
        """What becomes of the call."""
        try:
            passage = await self.passage(name, arguments)
        except Refused as refused:
            return ToolCallResult.refused(name, refused.refusal)
        return await passage.go(10)
