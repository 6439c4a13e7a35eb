"""The harness: a Firestore, the upstreams, and the processes of each run, which it starts and kills."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import shutil
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

import grpc

from emulator.firestore import SERVER_OPTIONS, FirestoreEmulator
from emulator.internet.authority import Authority
from ferryman.domain.approvals.approval import Approval
from ferryman.ports.errors import UnavailableError
from ferryman.tools.files.workspace_files import WorkspaceFiles
from tests.campaigns.crash import workers
from tests.campaigns.crash.bucket import collect
from tests.campaigns.crash.deciding import DEVICES, TRIES_MAX, Devices
from tests.campaigns.crash.driver import Task, drive
from tests.campaigns.crash.fixtures import NAMES, PUBLIC, SEALER, Ports, store_task
from tests.campaigns.crash.invariants import Record
from tests.campaigns.crash.points import FILES, TOOL, Point
from tests.campaigns.crash.remote import PATH, Upstream, store_server
from tests.campaigns.crash.scenarios import Scenario
from tests.campaigns.crash.simulated import record
from tests.campaigns.crash.storage import Storage, open_bucket, run_storage
from tests.campaigns.crash.workers import FileClock, FileQueue, FileTally, WorkerRequest

INDEXES = Path(__file__).parents[3] / "infra/firestore.indexes.json"
ANSWER = b'{"done":true}'
RESPONSE = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)

LOOK_S = 0.002
"""How often a hurried person looks whether a call waits."""


def forkserver() -> ForkServerContext:
    """Start the process that all others are forked from: it has the libraries, and no channel was ever opened in it.

    Call it before anything else opens one.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.campaigns.crash.preload"])
    first = context.Process(target=int)
    first.start()
    first.join()
    return context


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioResult:
    """What a run left, the points it passed where it was asked to list them, and whether its target was hit."""

    record: Record
    passed: list[Point]
    hit: bool
    deliveries: int


@dataclass(kw_only=True)
class Harness:
    """Executes runs, each with a project, a folder and upstreams of its own."""

    folder: Path
    firestore: str
    ca: Path
    client: Path
    tls: ssl.SSLContext
    storage: Storage
    context: ForkServerContext
    runs: int = 0

    async def run(
        self, scenario: Scenario, target: Point | None = None, way: str = "", *, together: int = 1, impatient: bool = False
    ) -> ScenarioResult:
        """Execute one run, from its first delivery to its end; without a target it lists the points it passes."""
        self.runs += 1
        project = f"p-{self.runs}"
        folder = self.folder / str(self.runs)
        folder.mkdir()
        tally, clock = FileTally(folder), FileClock(folder)
        clients = workers.build_clients(project, self.firestore)
        ports = workers.build_ports(clients)
        async with self._upstreams(folder, tally) as internet:
            request = WorkerRequest(
                scenario=scenario,
                folder=folder,
                project=project,
                firestore=self.firestore,
                internet=internet,
                storage=self.storage.url,
                target=target,
                way=way,
                listing=target is None,
            )
            run = _Run(request=request, context=self.context)
            try:
                await store_task(ports, scenario)
                if scenario.remote:
                    await store_server(clients, SEALER)
                if scenario.files is not None:
                    await self.storage.create_bucket(project)
                await FileQueue(tally, clock).enqueue("e", slice=0)
                devices = Devices(
                    scenario, ports, FileQueue(tally, clock), clock, None, UnavailableError, tally=tally
                )  # which says what waits: each decision has a process of its own

                async def deliver(slice: int) -> bool:
                    delivering = asyncio.ensure_future(run.deliver(slice))
                    while scenario.hurried and not delivering.done():
                        await run.decide(await devices.list_pending())
                        await asyncio.sleep(LOOK_S)
                    is_done = await delivering
                    await run.decide(await devices.list_pending())
                    return is_done

                deliveries = await drive(deliver, lambda: _tasks(tally), clock, together=together, impatient=impatient)
                outcome = await self._record(ports, scenario, tally, clock, project)
            finally:
                await run.close()
                await clients.close()
        passed, hit = [Point(**item) for item in tally.list_lines("passed")], bool(tally.list_lines("hit"))
        shutil.rmtree(folder)
        return ScenarioResult(record=outcome, passed=passed, hit=hit, deliveries=deliveries)

    async def _record(self, ports: Ports, scenario: Scenario, tally: FileTally, clock: FileClock, bucket: str) -> Record:
        ended = await record(ports, scenario, tally)
        if scenario.files is None:
            return ended
        files, stored = WorkspaceFiles(open_bucket(self.storage.url, bucket)), self.storage.stored[bucket]
        return replace(ended, files=await collect(ended.execution, files, ports.file_quotas, clock, stored=stored))

    @asynccontextmanager
    async def _upstreams(self, folder: Path, tally: FileTally) -> AsyncIterator[Path]:
        """Serve every name, counting requests before they are answered; yield the table of the simulated internet."""

        upstream = Upstream(lambda tool: tally.add("effect", path=f"/{tool}", method="POST", key=None))

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError, asyncio.IncompleteReadError):
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                method, path, _ = head.split("\r\n", 1)[0].split(" ")
                lines = (line.partition(":") for line in head.split("\r\n")[1:])
                headers = {name.lower(): value.strip() for name, _, value in lines}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if path == PATH:
                    writer.write(await upstream.respond(headers, body))
                else:
                    tally.add("effect", path=path, method=method, key=headers.get("idempotency-key"))
                    writer.write(RESPONSE)
                await writer.drain()
            writer.close()

        server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=self.tls)
        dial = {PUBLIC: server.sockets[0].getsockname()[1]}
        table = {"names": NAMES, "dial": dial, "ca": str(self.ca), "client": str(self.client)}
        internet = folder / "internet"
        internet.write_text(json.dumps(table))
        try:
            yield internet
        finally:
            server.close()


def _tasks(tally: FileTally) -> Sequence[Task]:
    """Return the queue's tasks: a name that was used is not used again, as in Cloud Tasks."""
    named: dict[tuple[int, str], Task] = {}
    for item in tally.list_lines("queued"):
        task = Task(due=datetime.fromisoformat(item["due"]), slice=item["slice"], wake_up=item["wake_up"])
        named.setdefault((task.slice, task.wake_up), task)
    return list(named.values())


@dataclass(kw_only=True)
class _Run:
    """The processes of one run."""

    request: WorkerRequest
    context: ForkServerContext
    _functions: dict[str, ForkServerProcess] = field(default_factory=dict)
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _deciding: asyncio.Lock = field(default_factory=asyncio.Lock)
    _holders: int = 0

    async def deliver(self, slice: int) -> bool:
        async with self._starting:
            for role in (TOOL,) if self.request.scenario.files is None else (TOOL, FILES):
                await self._start_function(role)
        self._holders += 1
        process = self.context.Process(target=workers.orchestrate, args=(self.request, slice, f"h{self._holders}"))
        process.start()
        await _wait_for_exit(process)
        return process.exitcode == 0

    async def decide(self, pending: Sequence[Approval]) -> None:
        """Have every device decide about each of `pending`, all at once, and again on those whose process died."""
        async with self._deciding:
            for approval in pending:
                await asyncio.gather(*(self._decide(approval, device) for device in range(DEVICES)))

    async def _decide(self, approval: Approval, device: int) -> None:
        for _ in range(TRIES_MAX):
            about = (self.request, approval.id, approval.seq, device)
            process = self.context.Process(target=workers.decide, args=about)
            process.start()
            await _wait_for_exit(process)
            if process.exitcode == 0:
                return

    async def _start_function(self, role: str) -> None:
        """Start the process of a function, unless it is alive."""
        if role in self._functions and self._functions[role].is_alive():
            return
        socket = self.request.socket(role)
        with suppress(FileNotFoundError):
            os.unlink(socket)
        self._functions[role] = self.context.Process(target=workers.serve, args=(self.request, role))
        self._functions[role].start()
        while not os.path.exists(socket):  # noqa: ASYNC110, ASYNC240 - another process's doing
            await asyncio.sleep(0.002)

    async def close(self) -> None:
        for process in self._functions.values():
            process.kill()
            await _wait_for_exit(process)


async def _wait_for_exit(process: ForkServerProcess) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(process.sentinel, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(process.sentinel)
    process.join()


@asynccontextmanager
async def start_harness(folder: Path, context: ForkServerContext) -> AsyncIterator[Harness]:
    """Run a harness whose Firestore and upstreams are in this process."""
    authority = Authority(folder / "authority")
    firestore = FirestoreEmulator(path=None, indexes=INDEXES)
    server = grpc.aio.server(options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await firestore.start()
    await server.start()
    try:
        async with run_storage() as storage:
            yield Harness(
                folder=folder,
                firestore=address,
                ca=authority.path,
                client=authority.client(),
                tls=authority.context(lambda name: name in NAMES),
                storage=storage,
                context=context,
            )
    finally:
        await server.stop(0)
        await firestore.close()
