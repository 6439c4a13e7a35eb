"""Folk: the processes of one run, each with the libraries imported by the server it is forked from, each with its own clients.

What they tell outlives them: a file of lines that each is appended to in one write.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import struct
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import google.cloud.firestore  # noqa: F401 - imported before the fork, so that no child pays for it
import httpcore

from ferryman.domain.address import Address
from ferryman.domain.call import ToolCallResult
from ferryman.domain.execution import Execution
from ferryman.domain.message import Block
from ferryman.domain.refusal import Refused
from ferryman.egress import tls
from ferryman.egress.gate import Gate
from ferryman.egress.local import Pretend
from ferryman.gcp.clients import Clients
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.halts import FirestoreHalts
from ferryman.gcp.ledger import FirestoreLedger
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.tasks import FirestoreCredentials, FirestoreTasks
from ferryman.gcp.tickets import FirestoreTickets
from ferryman.local.clock import START
from ferryman.local.log import KeptLog
from ferryman.loop.run import deliver
from ferryman.ports import NOW, Rejected, Stale, Summons, Unavailable
from ferryman.settings import Settings
from ferryman.tools.carry import carry, look_through
from tests.crash.ground import Keys, Ports, loop_house, tool_house
from tests.crash.points import BOTH, ORCHESTRATOR, OTHER, SCANNER, TOOL, Counting, Crossed, Point
from tests.crash.stories import Story

DEAD = 75
"""The exit code of whoever died where it was told to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a process of a run has to know. `listing` asks for the points that are passed."""

    story: Story
    folder: Path
    project: str
    firestore: str
    pretend: Path
    target: Point | None = None
    way: str = ""
    listing: bool = False

    @property
    def socket(self) -> str:
        return str(self.folder / "tool")


class FileTally:
    """`Tally`: lines of a file; what was written is there, whoever dies next."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "tally"

    def add(self, kind: str, **line: Any) -> None:
        written = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(written, json.dumps([kind, line]).encode() + b"\n")
        os.close(written)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [line for each, line in self._lines() if each == kind]

    def _lines(self) -> Iterator[tuple[str, dict[str, Any]]]:
        if self._path.exists():
            for text in self._path.read_text().splitlines():
                kind, line = json.loads(text)
                yield kind, line


class FileClock:
    """A clock that all processes of a run share; it stands still until somebody turns it."""

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

    async def enqueue(self, execution: str, *, slice: int, after: timedelta = NOW, nudge: str = "") -> None:
        self._tally.add("queued", slice=slice, due=(self._clock.now() + after).isoformat(), nudge=nudge)


class Fate:
    """Meets the points of one process, and dies where it was told to, unless somebody did already."""

    def __init__(self, errand: Errand, tally: FileTally) -> None:
        self._errand, self._tally = errand, tally
        self.orchestrator = 0
        """The process id of who asked, in a tool function: it may have to die with it, or without it."""

    async def __call__(self, point: Point) -> None:
        errand = self._errand
        if errand.listing:
            self._tally.add("passed", role=point.role, crossing=point.crossing, nth=point.nth, side=point.side)
        if point != errand.target or self._tally.of("hit"):
            return
        self._tally.add("hit")
        if self.orchestrator and errand.way in (BOTH, OTHER):
            os.kill(self.orchestrator, signal.SIGKILL)
        if errand.way != OTHER:
            os._exit(DEAD)


class Dialled:
    """A dialer whose every connection is met at what is written to it."""

    def __init__(self, inner: Pretend, meet: Callable[[str, str], Awaitable[None]]) -> None:
        self._inner, self._meet = inner, meet

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        return _Written(await self._inner.dial(address, port, timeout_s=timeout_s), self._meet)


class _Written(httpcore.AsyncNetworkStream):
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
        return _Written(await self._inner.start_tls(ssl_context, server_hostname, timeout), self._meet)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def cloud_ports(clients: Clients) -> Ports:
    return Ports(
        owners=FirestoreOwners(clients),
        tasks=FirestoreTasks(clients),
        credentials=FirestoreCredentials(clients),
        executions=FirestoreExecutions(clients),
        tickets=FirestoreTickets(clients),
        halts=FirestoreHalts(clients),
        ledger=FirestoreLedger(clients),
    )


def clients_of(project: str, firestore: str) -> Clients:
    """Clients of a project on a local Firestore."""
    os.environ["FIRESTORE_EMULATOR_HOST"] = firestore  # which the client reads while it is made
    clients = Clients(Settings(project=project, firestore_host=firestore))
    clients.firestore()
    return clients


class Away:
    """`ports.Toolbox` and `ports.Scanner`: a tool function in another process, by a socket."""

    def __init__(self, socket: str) -> None:
        self._socket = socket

    async def run(self, tool: str, *, execution: Execution, seq: int) -> ToolCallResult:
        summons = Summons(execution=execution.id, seq=seq, epoch=execution.epoch, task=execution.task, owner=execution.owner)
        result: ToolCallResult = await self._ask((os.getpid(), TOOL, tool, summons))
        return result

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
        seen: Sequence[Block] = await self._ask((os.getpid(), SCANNER, execution.id, execution.epoch, list(content)))
        return seen

    async def _ask(self, asked: Any) -> Any:
        try:
            reader, writer = await asyncio.open_unix_connection(self._socket)
            try:
                await _send(writer, asked)
                answer = await _receive(reader)
            finally:
                writer.close()
        except (OSError, asyncio.IncompleteReadError):
            raise Unavailable("the tool function did not answer") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


async def _send(writer: asyncio.StreamWriter, what: Any) -> None:
    packed = pickle.dumps(what)
    writer.write(struct.pack("!I", len(packed)) + packed)
    await writer.drain()


async def _receive(reader: asyncio.StreamReader) -> Any:
    (length,) = struct.unpack("!I", await reader.readexactly(4))
    return pickle.loads(await reader.readexactly(length))  # written by our own other half


def orchestrate(errand: Errand, slice: int, holder: str) -> None:
    """The orchestrator's process: one delivery. Its exit code is 0 when it was acknowledged, 1 when it is to come again."""
    os._exit(asyncio.run(_orchestrate(errand, slice, holder)))


async def _orchestrate(errand: Errand, slice: int, holder: str) -> int:
    tally, clock = FileTally(errand.folder), FileClock(errand.folder)
    doors = cloud_ports(clients_of(errand.project, errand.firestore))
    house = loop_house(
        doors,
        errand.story,
        queue=FileQueue(tally, clock),
        tally=tally,
        clock=clock,
        remote=Away(errand.socket),
        meet=Counting(f"{ORCHESTRATOR} {slice}" if slice else ORCHESTRATOR, Fate(errand, tally)),
    )
    return 0 if await deliver(house, "e", slice=slice, holder=holder) else 1


def serve(errand: Errand) -> None:
    """The tool functions' process, until it is killed."""
    asyncio.run(_serve(errand))


async def _serve(errand: Errand) -> None:
    tally, clock = FileTally(errand.folder), FileClock(errand.folder)
    doors = cloud_ports(clients_of(errand.project, errand.firestore))
    fate = Fate(errand, tally)
    tool, scanner = Counting(TOOL, fate), Counting(SCANNER, fate)
    pretend = Pretend(errand.pretend)
    gate = Gate(
        names=Crossed(pretend, "names", tool),
        dial=Crossed(Dialled(pretend, tool), "dialer", tool),
        tls=tls.context(pretend.ca),
        tracer=KeptLog(),
    )
    carrying = tool_house(doors, gate, clock=clock, meet=tool, keys=Keys())
    scanning = tool_house(doors, gate, clock=clock, meet=scanner, keys=Keys())

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        fate.orchestrator, kind, *asked = await _receive(reader)
        answer: Any
        try:
            if kind == TOOL:
                answer = await carry(carrying, *asked)
            else:
                execution, epoch, content = asked
                answer = await look_through(scanning, execution=execution, epoch=epoch, content=content)
        except (Stale, Unavailable) as error:
            answer = type(error)(str(error))
        except Refused as refused:
            answer = Rejected(refused.refusal.message)
        except Exception as error:  # noqa: BLE001 - as the function answers 500
            answer = Unavailable(f"the tool function answered 500 ({type(error).__name__})")
        try:
            await _send(writer, answer)
            writer.close()
        except OSError:
            return  # who asked is gone

    server = await asyncio.start_unix_server(handle, errand.socket)
    await server.serve_forever()
