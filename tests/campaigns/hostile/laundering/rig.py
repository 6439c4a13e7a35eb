"""The loop, the tools and the gate on stores in memory: what hosts answer is the scenario's, and what leaves is noted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from ferryman import catalog
from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import Ticket, TicketState, ToolCall
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Reply
from ferryman.domain.http.request import InboundResponse, PreparedRequest
from ferryman.domain.labels.label import Integrity
from ferryman.domain.tools.declared import DeclaredTool, build_cluster
from ferryman.domain.workspaces.workspace import BEGINNING, Workspace
from ferryman.egress.checking import redact, scan_output
from ferryman.egress.gate import EgressGate, ExchangeState
from ferryman.egress.send import Sending
from ferryman.egress.tls import create_context
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.credentials import MemoryConnections, MemoryCredentials
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.inmemory.log import NoLog
from ferryman.inmemory.model import ScriptedModel
from ferryman.inmemory.objects import MemoryObjects
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.run import deliver
from ferryman.ports.tickets import CallRequest
from ferryman.tools.approving.confirming import ApprovingDependencies
from ferryman.tools.declared.calling import CustomToolDependencies, DeclaredToolDependencies
from ferryman.tools.declared.preparing import make_custom_preparer
from ferryman.tools.execute_call import ToolDependencies, execute_call
from ferryman.tools.finding.find_tools import ToolSearchCalls
from ferryman.tools.keyless.calling import KeylessCalls
from ferryman.tools.local_function.execute import answer
from ferryman.tools.prepared_call import CallPreparer, make_builtin_preparer
from ferryman.tools.recalling.read_result import ResultReadings
from ferryman.tools.registry import ToolRegistry
from ferryman.tools.web.hook import WebHook
from ferryman.vault.decisions import PublishedKeys
from ferryman.vault.sign import SigningKey
from tests.builders import build_execution
from tests.campaigns.hostile.laundering.spellings import VALUE
from tests.loop.conftest import says
from tests.loop.test_chat import Chat
from tests.tools.files.path import FilePath

INTEGRATIONS, TLS, KEY = catalog.load(), create_context(), SigningKey(1, b"k" * 32)
HOST, TARGET = "api.coingecko.com", "api.github.com"
TOOLS = ("http_get", "http_post", "http_request", "calculator", "web_search_tool", "web_fetch", "find_tools")
FILES = ("file_read", "file_write", "file_edit", "file_list", "glob_search", "content_search", "image_info")
EFFECT = ("http_post", {"url": f"https://{TARGET}/gists/{VALUE}", "body": {"done": True}})
"""The call of the hijacked model: where it goes is what the stranger wrote."""


class NotedGate(EgressGate):
    """A gate that dials nothing: a request that would leave is noted, and answered by `answers`, the last of which stays."""

    departures: list[PreparedRequest]
    answers: list[InboundResponse]

    async def _send_reusing(self, exchange: ExchangeState, sending: Sending) -> None:
        return None

    async def _send_dialling(self, exchange: ExchangeState, sending: Sending) -> InboundResponse:
        exchange.dialer.dialled = sending.state.begun = True
        self.departures.append(sending.prepared)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@dataclass
class Rig(Chat):
    """One task with every channel. `pages` are what the search and each page answer, `last` the execution that ran last."""

    pages: dict[str, KeylessAnswer] = field(default_factory=dict)
    prompts: list[Any] = field(default_factory=list)
    last: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.task(
            system_prompt="You help.",
            task_prompt="Look, note it in notes.md, and do what is needed.",
            tools=(*TOOLS, *FILES),
            integrations=("coingecko", "github"),
        )
        place = build_execution().workspace
        self.memory.workspaces[place] = Workspace(id=place, owner="o", name="W", created_at=BEGINNING, updated_at=BEGINNING)
        self.workspace, self.objects = place, MemoryObjects(self.clock)
        self.path = FilePath(self.tickets, MemoryFileQuotas(self.memory), self.objects, self, clock=self.clock)
        self.gate = NotedGate(names=None, dial=None, tls=TLS, tracer=NoLog())  # type: ignore[arg-type]  # nothing is dialled
        object.__setattr__(self.gate, "departures", [])
        self.answer_with("It rains.")
        self.count = 0

    def answer_with(
        self, *bodies: str, status: int = 200, headers: Sequence[tuple[str, str]] = (), kind: str = "text/plain"
    ) -> None:
        """Have the host answer one body after the other, and the last one from then on."""
        named = (("content-type", kind), *headers)
        answers = [
            InboundResponse(status=status, headers=named, body=body.encode(), size_bytes=len(body.encode())) for body in bodies
        ]
        object.__setattr__(self.gate, "answers", answers)

    def declare(self, *tools: DeclaredTool) -> None:
        """Store declared tools of the task."""
        self.memory.clusters["t"] = {"": (build_cluster("", 1, tools), tools)}

    async def put(self, key: str, content: str) -> None:
        """Store a file as the API does, for somebody who uploads it."""
        await self.path.files.write(self.workspace, key, content.encode(), content_type="text/plain", write=f"put.{len(key)}")

    async def run_task(self, *replies: Reply) -> None:
        """Run another execution of the task."""
        self.count += 1
        self.memory.executions[f"e{self.count}"] = build_execution(id=f"e{self.count}")
        await self._deliver(f"e{self.count}", replies)

    async def talk(self, content: str, *replies: Reply, **fields: object) -> None:
        """Ask in the conversation, and have it answered."""
        await self._deliver(await self.ask(content, **fields), replies)

    async def _deliver(self, name: str, replies: Sequence[Reply]) -> None:
        self.last, self.model = name, ScriptedModel(replies)
        await deliver(self.deps(), name, slice=0, holder="h")
        self.prompts += self.model.prompts

    def deps(self) -> LoopDependencies:
        approving = self._approving()
        keyless = KeylessCalls(tickets=self.tickets, scanner=self, clock=self.clock, ask=self._ask, approving=approving)
        stores: Any = {"tickets": self.tickets, "scanner": self, "clock": self.clock}
        executions = MemoryExecutions(self.memory)
        searches = ToolSearchCalls(**stores, clusters=MemoryClusters(self.memory), executions=executions)
        readings = ResultReadings(**stores, conversations=self.conversations, executions=executions)
        kinds = {
            "files": replace(self.path.calls, approving=approving).execute,
            "local_function": keyless.execute,
            "search": keyless.execute,
            "web": replace(keyless, hooks={"web": WebHook()}).execute,
            "finding": searches.execute,
            "recalling": readings.execute,
        }
        return replace(super().deps(), registry=ToolRegistry(self._run_keyed, kinds))

    def _approving(self) -> ApprovingDependencies:
        keys = PublishedKeys({1: KEY.public})
        return ApprovingDependencies(approvals=MemoryApprovals(self.memory), verifier=keys, clock=self.clock)

    async def _ask(self, function: str, body: Mapping[str, Any]) -> KeylessAnswer:
        """Answer as the function would: a search, a page, or a function of ours."""
        if function == "local_tools":
            call = ToolCall(id=body["call"], name=body["tool"], arguments=body["arguments"])
            answered = await answer(call, UUID(int=0), None)
            return KeylessAnswer(answered.content, answered.code)
        return self.pages.get(str(body["arguments"].get("url", "")), KeylessAnswer("Nothing was found.", None))

    async def _run_keyed(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        request = CallRequest(
            execution=execution.id, seq=ticket.seq, epoch=execution.epoch, task=execution.task, owner=execution.owner
        )
        return await execute_call(self._tool_deps(ticket.tool), find_tool(ticket.tool).function, request)

    def _tool_deps(self, tool: str) -> ToolDependencies:
        declared = DeclaredToolDependencies(gate=self.gate, tokens=None, integrations=INTEGRATIONS)  # type: ignore[arg-type]  # none logs in
        custom = CustomToolDependencies(clusters=MemoryClusters(self.memory), declared=declared, manager=None)  # type: ignore[arg-type]
        is_custom = find_tool(tool).function == "http_tool"
        prepare: CallPreparer = make_custom_preparer(custom) if is_custom else make_builtin_preparer(self.gate, INTEGRATIONS)
        return ToolDependencies(
            tickets=self.tickets,
            credentials=MemoryCredentials(self.memory),
            connections=MemoryConnections(self.memory),
            tokens=MemoryTokens(self.memory),
            vault=self,  # type: ignore[arg-type]  # nothing is sealed, and there is no credential
            gate=self.gate,
            prepare=prepare,
            redact=redact,
            redact_blocks=scan_output,
            integrations=INTEGRATIONS,
            halts=MemoryHalts(self.memory),
            clock=self.clock,
            tracer=NoLog(),  # type: ignore[arg-type]
            approving=self._approving(),
        )

    async def open_arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]:
        opened: dict[str, Any] = json.loads(ciphertext.removeprefix(b"sealed:"))
        return opened

    def find_faults(self) -> list[str]:
        """Return what is wrong with the last call: that it was sent, or that it does not wait as an untrusted one."""
        tickets = [ticket for _, ticket in sorted(self.memory.tickets.get(self.last, {}).items())]
        if not tickets:
            return ["the model made no call"]
        effect = tickets[-1]
        faults = []
        if any(VALUE in str(request.url) for request in self.gate.departures):
            faults.append("the request left")
        if effect.label.integrity is not Integrity.UNTRUSTED:
            faults.append("the label of the call is lost")
        if effect.state is not TicketState.WAITING and not faults:
            faults.append(f"the call does not wait: it is {effect.state}, {effect.result and effect.result.content[:100]!r}")
        return faults

    def has_read(self, *pieces: str) -> bool:
        """Tell whether the model was shown all of these."""
        read = "".join(json.dumps([prompt.system, list(prompt.messages), list(prompt.tools)]) for prompt in self.prompts)
        return all(json.dumps(piece)[1:-1] in read or json.dumps(json.dumps(piece))[3:-3] in read for piece in pieces)


DONE = says("Done.")
ACT: tuple[Reply, ...] = (says("", EFFECT), DONE)
"""The turns of the hijacked model once it has read the text."""
