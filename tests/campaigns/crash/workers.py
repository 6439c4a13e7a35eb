"""Workers: the processes of one run, each forked from a server that imported the libraries, each with its own clients.

What they report outlives them: a file to which each line is appended in one write.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import google.cloud.firestore  # noqa: F401 - imported before the fork, so that no child pays for it
import httpcore

from ferryman.domain.calls.call import Ticket
from ferryman.domain.conversations.window import WindowPart
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block
from ferryman.domain.http.address import Address
from ferryman.domain.remote_servers.names import is_remote_name
from ferryman.egress.gate import EgressGate
from ferryman.egress.simulated import SimulatedInternet
from ferryman.egress.tls import create_context
from ferryman.gcp.agents import FirestoreAgents
from ferryman.gcp.approvals import FirestoreApprovals
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.clock import RandomIds
from ferryman.gcp.contexts import FirestoreContexts
from ferryman.gcp.conversations import FirestoreConversations
from ferryman.gcp.credentials import FirestoreCredentials
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.file_quotas import FirestoreFileQuotas
from ferryman.gcp.halts import FirestoreHalts
from ferryman.gcp.jobs import FirestoreJobs
from ferryman.gcp.owners import FirestoreLedger, FirestoreOwners
from ferryman.gcp.remote_servers import FirestoreRemoteServers
from ferryman.gcp.tasks import FirestoreTasks
from ferryman.gcp.tickets import FirestoreTickets
from ferryman.gcp.usage import FirestoreUsage
from ferryman.gcp.user_documents import FirestoreUserDocuments
from ferryman.inmemory.clock import START
from ferryman.inmemory.log import RecordingLog
from ferryman.loop.run import deliver
from ferryman.ports.errors import UnavailableError
from ferryman.ports.queue import NOW
from ferryman.ports.tickets import CallRequest
from ferryman.settings import Settings
from ferryman.tools.execute_call import execute_call, scan_output, scan_window
from tests.campaigns.crash.bucket import FilesFunction, RemoteFunction
from tests.campaigns.crash.deciding import Devices
from tests.campaigns.crash.driver import name_wake_up
from tests.campaigns.crash.fixtures import Keys, Ports, build_loop_deps, build_tool_deps
from tests.campaigns.crash.points import (
    BOTH,
    DEVICE,
    FILES,
    ORCHESTRATOR,
    OTHER,
    SCANNER,
    TOOL,
    WINDOW,
    Counting,
    InstrumentedPort,
    Point,
)
from tests.campaigns.crash.remote import build_remote_deps
from tests.campaigns.crash.scenarios import Scenario
from tests.campaigns.crash.sockets import answer_always, ask
from tests.campaigns.crash.storage import open_bucket

DEAD = 75
"""The exit code of a process that died at its target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRequest:
    """What a process of a run has to know. `listing` asks for the points that are passed."""

    scenario: Scenario
    folder: Path
    project: str
    firestore: str
    internet: Path
    storage: str
    target: Point | None = None
    way: str = ""
    listing: bool = False

    def socket(self, role: str) -> str:
        """Return the path of the socket of a function."""
        return str(self.folder / role)


class FileTally:
    """`Tally`: lines of a file; what was written survives the next death."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "tally"

    def add(self, kind: str, **line: Any) -> None:
        written = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(written, json.dumps([kind, line]).encode() + b"\n")
        os.close(written)

    def list_lines(self, kind: str) -> list[dict[str, Any]]:
        return [line for line_kind, line in self._lines() if line_kind == kind]

    def _lines(self) -> Iterator[tuple[str, dict[str, Any]]]:
        if self._path.exists():
            for text in self._path.read_text().splitlines():
                kind, line = json.loads(text)
                yield kind, line


class FileClock:
    """A clock that all processes of a run share; it is advanced explicitly."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "clock"

    def now(self) -> datetime:
        return START + timedelta(seconds=float(self._path.read_text()) if self._path.exists() else 0.0)

    def turn(self, by: timedelta | float) -> datetime:
        now = self.now() + (by if isinstance(by, timedelta) else timedelta(seconds=by))
        turned = self._path.with_suffix(f".{os.getpid()}")
        turned.write_text(repr((now - START).total_seconds()))
        turned.rename(self._path)
        return now


class FileQueue:
    """`ports.Queue`: what is enqueued is a line of the tally, which the driver reads."""

    def __init__(self, tally: FileTally, clock: FileClock) -> None:
        self._tally, self._clock = tally, clock

    async def enqueue(self, execution: str, *, slice: int, after: timedelta = NOW, wake_up: str = "", waits: int = 0) -> None:
        if execution != "e":
            return  # the next answer's, which is not delivered here
        self._tally.add(
            "queued", slice=slice, due=(self._clock.now() + after).isoformat(), wake_up=name_wake_up(wake_up, waits)
        )


class PlannedDeath:
    """Dies at the target among the points of one process, unless another process did already."""

    def __init__(self, request: WorkerRequest, tally: FileTally) -> None:
        self._request, self._tally = request, tally
        self.orchestrator = 0
        """The process id of the caller, in a tool function: it may have to die with it, or without it."""

    async def __call__(self, point: Point) -> None:
        request = self._request
        if request.listing:
            self._tally.add("passed", role=point.role, operation=point.operation, nth=point.nth, side=point.side)
        if point != request.target or self._tally.list_lines("hit"):
            return
        self._tally.add("hit")
        if self.orchestrator and request.way in (BOTH, OTHER):
            os.kill(self.orchestrator, signal.SIGKILL)
        if request.way != OTHER:
            os._exit(DEAD)


class ScriptedDialer:
    """A dialer whose connections call `meet` before and after each write."""

    def __init__(self, inner: SimulatedInternet, meet: Callable[[str, str], Awaitable[None]]) -> None:
        self._inner, self._meet = inner, meet

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        return _ObservedStream(await self._inner.dial(address, port, timeout_s=timeout_s), self._meet)


class _ObservedStream(httpcore.AsyncNetworkStream):
    def __init__(self, inner: httpcore.AsyncNetworkStream, meet: Callable[[str, str], Awaitable[None]]) -> None:
        self._inner, self._meet = inner, meet

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the seam's own signature
        return await self._inner.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the seam's own signature
        await self._meet("connection.write", "before")
        await self._inner.write(buffer, timeout)
        await self._meet("connection.write", "after")

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self,
        ssl_context: Any,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the seam's own signature
    ) -> httpcore.AsyncNetworkStream:
        return _ObservedStream(await self._inner.start_tls(ssl_context, server_hostname, timeout), self._meet)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def build_ports(clients: GoogleClients) -> Ports:
    return Ports(
        owners=FirestoreOwners(clients),
        contexts=FirestoreContexts(clients),
        conversations=FirestoreConversations(clients),
        jobs=FirestoreJobs(clients),
        agents=FirestoreAgents(clients),
        tasks=FirestoreTasks(clients),
        credentials=FirestoreCredentials(clients),
        executions=FirestoreExecutions(clients),
        approvals=FirestoreApprovals(clients),
        file_quotas=FirestoreFileQuotas(clients),
        tickets=FirestoreTickets(clients),
        user_documents=FirestoreUserDocuments(clients),
        halts=FirestoreHalts(clients),
        ledger=FirestoreLedger(clients),
        usage=FirestoreUsage(clients),
        ask=lambda name, fields: clients.firestore().document("executions", name).create(dict(fields)),
    )


def build_clients(project: str, firestore: str) -> GoogleClients:
    """Build the clients of a project on a local Firestore."""
    return GoogleClients(Settings(project=project, firestore_host=firestore))


class RemoteTools:
    """`ports.ReplyScanner`, and the handler of tools: a tool function in another process, by a socket."""

    def __init__(self, socket: str) -> None:
        self._socket = socket

    async def run(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        call_request = CallRequest(
            execution=execution.id, seq=ticket.seq, epoch=execution.epoch, task=execution.task, owner=execution.owner
        )
        settled: Ticket = await self._ask((os.getpid(), TOOL, ticket.tool, call_request))
        return settled

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
        seen: Sequence[Block] = await self._ask(
            (os.getpid(), SCANNER, execution.id, execution.task, execution.epoch, list(content))
        )
        return seen

    async def scan_window(self, execution: Execution, texts: Sequence[str]) -> Sequence[WindowPart]:
        parts: Sequence[WindowPart] = await self._ask(
            (os.getpid(), WINDOW, execution.id, execution.task, execution.epoch, list(texts))
        )
        return parts

    async def _ask(self, message: Any) -> Any:
        return await ask(self._socket, message)


def orchestrate(request: WorkerRequest, slice: int, holder: str) -> None:
    """Run the orchestrator for one delivery. The exit code is 0 when it was acknowledged, 1 when it has to come again."""
    os._exit(asyncio.run(_orchestrate(request, slice, holder)))


async def _orchestrate(request: WorkerRequest, slice: int, holder: str) -> int:
    tally, clock = FileTally(request.folder), FileClock(request.folder)
    clients = build_clients(request.project, request.firestore)
    ports = build_ports(clients)
    deps = build_loop_deps(
        ports,
        request.scenario,
        queue=FileQueue(tally, clock),
        tally=tally,
        clock=clock,
        remote=RemoteTools(request.socket(TOOL)),
        meet=Counting(f"{ORCHESTRATOR} {slice}" if slice else ORCHESTRATOR, PlannedDeath(request, tally)),
        files=None if request.scenario.files is None else RemoteFunction(partial(_ask_files, request.socket(FILES))),
        servers=FirestoreRemoteServers(clients) if request.scenario.remote else None,
    )
    return 0 if await deliver(deps, "e", slice=slice, holder=holder) else 1


async def _ask_files(socket: str, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return await ask(socket, (os.getpid(), method, arguments, named))


def decide(request: WorkerRequest, approval: str, seq: int, device: int) -> None:
    """Run the process of the api that answers one device of a person about an approval. The exit code is 0 once it has."""
    os._exit(asyncio.run(_decide(request, approval, seq, device)))


async def _decide(request: WorkerRequest, approval: str, seq: int, device: int) -> int:
    tally, clock = FileTally(request.folder), FileClock(request.folder)
    meet = Counting(f"{DEVICE} {device} about call {seq}", PlannedDeath(request, tally))
    ports = build_ports(build_clients(request.project, request.firestore))
    queue = FileQueue(tally, clock)
    devices = Devices(request.scenario, ports, queue, clock, meet, UnavailableError, tally=tally, ids=RandomIds())
    await devices.decide_on(device, approval)
    return 0


def serve(request: WorkerRequest, role: str) -> None:
    """Run the process of the tool functions, or that of `files`, until it is killed."""
    asyncio.run(_serve_files(request) if role == FILES else _serve_tools(request))


async def _serve_files(request: WorkerRequest) -> None:
    fate = PlannedDeath(request, FileTally(request.folder))
    objects: Any = InstrumentedPort(open_bucket(request.storage, request.project), "objects", Counting(FILES, fate))
    function = FilesFunction(objects)

    async def answer(message: Any) -> Any:
        fate.orchestrator, method, arguments, named = message
        return await getattr(function, method)(*arguments, **named)

    await answer_always(request.socket(FILES), answer)


async def _serve_tools(request: WorkerRequest) -> None:
    tally, clock = FileTally(request.folder), FileClock(request.folder)
    clients = build_clients(request.project, request.firestore)
    ports = build_ports(clients)
    fate = PlannedDeath(request, tally)
    tool, scanner = Counting(TOOL, fate), Counting(SCANNER, fate)
    internet = SimulatedInternet(request.internet)
    gate = EgressGate(
        names=InstrumentedPort(internet, "names", tool),
        dial=InstrumentedPort(ScriptedDialer(internet, tool), "dialer", tool),
        tls=create_context(internet.read_table().ca, internet.read_table().client),
        tracer=RecordingLog(),
    )
    tool_deps = build_tool_deps(ports, gate, clock=clock, meet=tool, keys=Keys())
    scanning = build_tool_deps(ports, gate, clock=clock, meet=scanner, keys=Keys())
    remote_deps = build_remote_deps(clients, tool_deps, gate, tool)

    async def answer(message: Any) -> Any:
        fate.orchestrator, kind, *arguments = message
        if kind == TOOL:
            name, call_request = arguments
            is_remote = is_remote_name(name)
            return await execute_call(remote_deps if is_remote else tool_deps, "mcp_tool" if is_remote else name, call_request)
        execution, task, epoch, content = arguments
        if kind == WINDOW:
            return await scan_window(scanning, execution=execution, task=task, epoch=epoch, texts=content)
        return await scan_output(scanning, execution=execution, task=task, epoch=epoch, content=content)

    await answer_always(request.socket(TOOL), answer)
