"""Jobs that are killed: one run of a deletion from its first delivery to its end, with a death at a chosen point.

A process that dies stops at that line, by an exception that nothing catches; the store remembers what was committed. Beside the
workspace that is deleted there is another, of which nothing may be missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from ferryman.domain.executions.execution import Status
from ferryman.domain.jobs.job import Job, JobKind, JobStatus
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.jobs import MemoryJobQueue
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.queue import MemoryQueue
from ferryman.jobs.dependencies import JobDependencies
from ferryman.jobs.run import deliver
from ferryman.ports.errors import UnavailableError
from ferryman.ports.executions import ExecutionEnding
from ferryman.vault import sign
from tests.campaigns.crash.points import Counting, Point, instrument
from tests.contracts.belongings import COUNTS, OF_AGENT, build_job, fill
from tests.contracts.conftest import Stores
from tests.contracts.values import EXECUTION, LEASE, NOW

DELIVERIES_MAX = 80
PRIVATE = bytes(range(32))
JOB_WORKER = "jobs"

EXPECTED = {
    JobKind.DELETE_WORKSPACE: {**COUNTS, "executions": COUNTS["executions"] + 1, "workspaces": 1},
    JobKind.DELETE_AGENT: {**OF_AGENT, "agents": 1, "executions": OF_AGENT["executions"] + 1},
    JobKind.DELETE_CONVERSATION: {"conversations": 1, "messages": 2, "executions": 1},
    JobKind.END_EXECUTIONS: {"executions": 2},
    JobKind.TAKE_OVER_EXECUTIONS: {"executions": 2},
}
"""What each kind counts of a workspace that `fill` filled, with one more execution that is under way."""

SUBJECTS = {JobKind.DELETE_WORKSPACE: "ws_1", JobKind.DELETE_AGENT: "agent_1", JobKind.DELETE_CONVERSATION: "chat_ws_1"}


class Killed(BaseException):
    """The process died."""


@dataclass(kw_only=True)
class JobRun:
    """One run in this process. `target` is where it dies, or is answered by nobody (`lost`), once; `passed` are all points.

    `begins` is called before the first delivery of the job, `ends` after the last one.
    """

    stores: Stores
    kind: JobKind = JobKind.DELETE_WORKSPACE
    target: Point | None = None
    lost: bool = False
    together: int = 1
    documents: int = 4
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))
    queue: MemoryQueue = field(default_factory=MemoryQueue)
    job_queue: MemoryJobQueue = field(default_factory=MemoryJobQueue)
    passed: list[Point] = field(default_factory=list)
    hit: bool = False
    begins: Callable[[], None] = lambda: None
    ends: Callable[[], None] = lambda: None
    _holders: int = 0

    async def perform(self) -> Job:
        """Fill two workspaces, start the job in one, and deliver until nothing waits. Return the job as it is stored."""
        for workspace, agent in (("ws_1", "agent_1"), ("ws_2", "agent_2")):
            await fill(self.stores, workspace, agent, person="person_1")
        await self._begin("running")
        job = build_job(self.kind, SUBJECTS.get(self.kind, "person_1"), successor="person_2")
        return await self.drive(job)

    async def drive(self, job: Job) -> Job:
        """Start a job and deliver until nothing waits; a process that dies acknowledges nothing, and its lease runs out."""
        await self.stores.jobs.start(job)
        await self.job_queue.enqueue(job.id, slice=0)
        self.begins()
        await self.deliver_all()
        self.ends()
        stored = await self.stores.jobs.get(job.id)
        assert stored is not None
        return stored

    async def deliver_all(self) -> None:
        """Deliver what waits in the queue until nothing does."""
        meet = Counting(JOB_WORKER, self._meet)
        acknowledged = set[tuple[str, int, str]]()
        for _ in range(DELIVERIES_MAX):
            await self._end_executions()
            waiting = [item for item in self.job_queue.waiting if (item.job, item.slice, item.wake_up) not in acknowledged]
            if not waiting:
                break
            first = waiting[0]
            self.clock.turn(first.after)
            if any(await asyncio.gather(*(self._deliver(first.job, first.slice, meet) for _ in range(self.together)))):
                acknowledged.add((first.job, first.slice, first.wake_up))
            else:
                self.clock.turn(LEASE + timedelta(seconds=1))

    async def _begin(self, name: str) -> None:
        """Store an execution that is under way, and waits for its next slice."""
        place = {"workspace": "ws_1", "agent": "agent_1", "person": "person_1"}
        execution = replace(EXECUTION, id=name, task="task_ws_1", **place)
        await self.stores.executions.start(execution, most=10)
        claimed, _ = await self.stores.executions.claim(name, slice=0, holder="h", now=NOW, lease=LEASE)
        await self.stores.executions.hand_over(claimed, now=NOW)

    async def _end_executions(self) -> None:
        """Do as the orchestrator does with executions that are woken after their cancel, again where it was not answered."""
        while (woken := self.queue.take()) is not None:
            for _ in range(DELIVERIES_MAX):
                with suppress(UnavailableError):
                    await self._end(woken.execution, slice=woken.slice)
                    break
                self.clock.turn(LEASE + timedelta(seconds=1))

    async def _end(self, execution: str, *, slice: int) -> None:
        now = self.clock.now()
        claimed, is_ours = await self.stores.executions.claim(execution, slice=slice, holder="o", now=now, lease=LEASE)
        if is_ours:
            await self.stores.executions.finish(claimed, ExecutionEnding(status=Status.KILLED, error="cancelled"), now=now)

    async def _deliver(self, job: str, slice: int, meet: Counting) -> bool:
        self._holders += 1
        deps = JobDependencies(
            jobs=self.stores.jobs,
            work=self.stores.job_work,
            files=None,
            executions=self.stores.executions,
            queue=self.queue,
            job_queue=self.job_queue,
            signing=_Signing(),
            clock=self.clock,
            tracer=RecordingLog(),
            lease=LEASE,
            documents=self.documents,
            per_commit=3,
        )
        try:
            return await deliver(instrument(deps, meet), job, slice=slice, holder=f"h{self._holders}")
        except Killed:
            return False

    async def _meet(self, point: Point) -> None:
        self.passed.append(point)
        if point == self.target and not self.hit:
            self.hit = True
            if self.lost:
                raise UnavailableError("the answer was lost", lost=True)
            raise Killed


class _Signing:
    """`ports.SigningKeys`: one key, always the same."""

    async def key(self) -> sign.SigningKey:
        return sign.SigningKey(1, PRIVATE)


async def find_broken(run: JobRun, job: Job) -> list[str]:
    """Return what is not as it has to be after a run: the job, what is left of its subject, and the other workspace."""
    stores, findings = run.stores, list[str]()
    is_deletion = run.kind in SUBJECTS
    if job.status is not JobStatus.DONE:
        return [f"lost: the job is {job.status}"]
    counts: Any = job.receipt.counts if job.receipt is not None else job.counts
    expected = {**EXPECTED[run.kind]}
    if dict(counts) != expected:
        findings.append(f"counted: {dict(counts)} where there were {expected}")
    if is_deletion != (job.receipt is not None):
        findings.append("receipt: there is none, or one of nothing")
    if job.receipt is not None and job.receipt.sign(sign.SigningKey(1, PRIVATE).sign) != job.receipt:
        findings.append("receipt: it is not signed as it is")
    findings += await _find_left(stores, run.kind)
    return findings + await _find_missing(stores)


async def _find_left(stores: Stores, kind: JobKind) -> list[str]:
    executions = list(await stores.executions.list("ws_1"))
    if kind is JobKind.DELETE_CONVERSATION:
        messages = len(await stores.conversations.list_messages("chat_ws_1"))
        answers = int(await stores.executions.get("answer_ws_1") is not None)
        return [f"left: {count} {name}" for name, count in {"messages": messages, "answers": answers}.items() if count]
    if kind in SUBJECTS:
        rest = {
            "tasks": len([*await stores.tasks.list("ws_1")]),
            "executions": len(executions),
            "credentials": sum(map(len, await stores.credentials.read_all("task_ws_1"))),
            "clusters": len(await stores.clusters.list("task_ws_1")),
            "steps": len(await stores.executions.steps("exec_ws_1")),
            "calls": len(await stores.executions.tickets("exec_ws_1")),
            "agents": sum(agent.id == "agent_1" for agent in await stores.agents.list("ann", "ws_1")),
        }
        if kind is JobKind.DELETE_WORKSPACE:
            rest["workspaces"] = int(await stores.workspaces.get("ws_1", owner="ann") is not None)
        return [f"left: {count} {name}" for name, count in rest.items() if count]
    named = [await stores.executions.get(name) for name in ("running", "queued_ws_1")]
    if kind is JobKind.END_EXECUTIONS:
        return [f"left: {item and item.id} has not ended" for item in named if item is None or not item.status.terminal]
    return [f"left: {item and item.id} has no successor" for item in named if item is None or item.taken_over_by != "person_2"]


async def _find_missing(stores: Stores) -> list[str]:
    """Delete the other workspace as well: what it counts is what was there."""
    other = await JobRun(stores=stores, documents=100).drive(build_job(id="job_2", workspace="ws_2", subject="ws_2"))
    counts = {} if other.receipt is None else dict(other.receipt.counts)
    expected = {**COUNTS, "workspaces": 1}
    findings = [] if counts == expected else [f"touched: the other workspace had {counts}, of {expected}"]
    entries = [len(await stores.ledger.of_execution(f"exec_ws_{number}")) for number in (1, 2)]
    return findings if entries == [1, 1] else [*findings, f"ledger: {entries} entries are left"]
