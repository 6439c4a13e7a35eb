"""`make soak-money`: many workers run many executions of few owners under tight caps, and die at random; no cap is exceeded.

Every credit is a Decimal, compared exactly.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal

import grpc

from emulator.firestore import SERVER_OPTIONS, FirestoreEmulator
from ferryman.domain.calls.call import Ticket
from ferryman.domain.credits.balance import CreditBalance, CreditPart, list_parts, name_owner_balance
from ferryman.domain.credits.ledger import name_account, sum_accounts
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.message import Block
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PRO, Plan
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import START, ManualClock
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.queue import MemoryQueue
from ferryman.loop.run import deliver
from ferryman.ports.errors import UnavailableError
from ferryman.ports.tickets import CallRequest
from ferryman.tools.execute_call import execute_call, scan_output
from tests.campaigns.crash.fixtures import LEASE, Ports, build_loop_deps, build_tool_deps, unseal_arguments
from tests.campaigns.crash.harness import INDEXES
from tests.campaigns.crash.peers import SimulatedTransport
from tests.campaigns.crash.scenarios import Scenario, post_call, read_call
from tests.campaigns.crash.simulated import KeptTally, Killed, memory_ports, read_balance
from tests.campaigns.crash.workers import build_clients, build_ports

NOTHING = Decimal(0)
DELIVERIES_MAX = 400
SCENARIO = Scenario(name="soak", turns=((post_call("paid"), read_call("no-credential")),))


@dataclass(kw_only=True)
class Soak:
    """Tight caps for the month of owners, tasks and conversations and for executions; `risk` is that of dying at a call of a
    port. Each owner has one agent, with so many `conversations`."""

    ports: Ports
    chance: random.Random
    owners: int
    tasks: int
    conversations: int
    executions: int
    month: Decimal
    task_month: Decimal
    conversation_month: Decimal
    most: Decimal
    risk: float
    deaths: int = 0
    findings: list[str] = field(default_factory=list)
    _plan: Plan = PRO

    async def run(self, workers: int) -> list[Execution]:
        """Run everything to its end and return the executions; each breach of a rule is in `findings`."""
        self._plan = replace(PRO, credits_per_month=self.month)
        await self._furnish()
        names = [f"e{number}" for number in range(self.executions)]
        todo = list(names)

        async def work() -> None:
            while todo:
                await self._execute(todo.pop())

        await asyncio.gather(*(work() for _ in range(workers)))
        ended = [execution for name in names if (execution := await self.ports.executions.get(name)) is not None]
        self.findings += await self._books(ended)
        return ended

    async def _furnish(self) -> None:
        for number in range(self.owners):
            await self.ports.owners.put(Owner(id=f"o{number}", plan="tight", created_at=START))
            await self.ports.agents.create(
                Agent(
                    id=f"a{number}",
                    owner=f"o{number}",
                    workspace=derive_default_workspace(f"o{number}"),
                    name="soak",
                    conversation_credits_max=self.conversation_month,
                    created_at=START,
                    updated_at=START,
                )
            )
        for number in range(self.tasks):
            await self.ports.tasks.create(
                Task(
                    id=f"t{number}",
                    owner=f"o{number % self.owners}",
                    agent=f"a{number % self.owners}",
                    name="soak",
                    task_prompt="Do it.",
                    model="scripted/x",
                    tools=("api_call", "http_post"),
                    integrations=("plain",),
                    max_credits=self.most,
                    max_credits_month=self.task_month,
                    max_tokens=200,
                    created_at=START,
                    updated_at=START,
                )
            )
        for number in range(self.executions):
            task = number % self.tasks
            owner, conversation = task % self.owners, number // self.tasks % self.conversations
            place = {"owner": f"o{owner}", "agent": f"a{owner}", "conversation": f"c{conversation}"}
            execution = Execution(id=f"e{number}", task=f"t{task}", created_at=START, **place)
            await self.ports.executions.start(execution, most=self.executions)

    async def _execute(self, name: str) -> None:
        clock, tally = ManualClock(), KeptTally()
        for attempt in range(DELIVERIES_MAX):
            current = await self.ports.executions.get(name)
            assert current is not None
            if current.status.terminal:
                return
            tools = _Tools(self, clock, tally)
            deps = build_loop_deps(
                self.ports,
                SCENARIO,
                queue=MemoryQueue(),
                tally=tally,
                clock=clock,
                remote=tools,
                meet=self._meet,
                seal=unseal_arguments,
                plans={"tight": self._plan},
            )
            both = 2 if self.chance.random() < 0.1 else 1
            await asyncio.gather(
                *(_until_killed(deliver(deps, name, slice=current.slice, holder=f"{attempt}.{n}")) for n in range(both))
            )
            clock.turn(LEASE + timedelta(seconds=10))
        self.findings.append(f"{name} is not over after {DELIVERIES_MAX} deliveries")

    async def _meet(self, operation: str, side: str) -> None:
        await asyncio.sleep(0)
        if operation in ("executions.open", "executions.finish") and side == "after":
            await self._caps()
        if self.chance.random() < self.risk:
            self.deaths += 1
            raise Killed

    async def _caps(self) -> None:
        owner = self.chance.randrange(self.owners)
        for name, (count, limit) in self._count(owner, await read_balance(self.ports, f"o{owner}")).items():
            if count.credits_used + count.credits_reserved > limit:
                self.findings.append(f"{name} used {count.credits_used} and {count.credits_reserved} are reserved of {limit}")

    def _count(self, owner: int, balance: CreditBalance) -> dict[str, tuple[CreditBalance | CreditPart, Decimal]]:
        """Return what is counted for an owner and for each task and conversation of the owner, by name, with its limit."""
        limits = {f"task:t{number}": self.task_month for number in range(owner, self.tasks, self.owners)}
        limits |= {f"conversation:a{owner}/c{number}": self.conversation_month for number in range(self.conversations)}
        parts = {name: (balance.parts.get(name, CreditPart()), limit) for name, limit in limits.items()}
        return {balance.id: (balance, self.month), **parts}

    async def _books(self, ended: Sequence[Execution]) -> list[str]:
        findings = [f"{item.id} is {item.status}" for item in ended if not item.status.terminal]
        findings += [f"{entry.id} used {entry.credits_used}" for entry in ended if entry.credits_used > self.most]
        owed: Counter[str] = Counter()
        for value in ended:
            owed[name_owner_balance(value.owner)] += value.credits_used
            for part in list_parts(value):
                owed[part] += value.credits_used
        for number in range(self.owners):
            name = name_owner_balance(f"o{number}")
            entries = await self.ports.ledger.of_owner(f"o{number}", since=START, until=START + timedelta(days=9))
            totals = sum_accounts(entries)
            if sum(totals.values(), NOTHING):
                findings.append(f"the ledger of {name} sums to {sum(totals.values(), NOTHING)}")
            if -totals.get(name, NOTHING) != owed[name]:
                findings.append(f"{name} paid {-totals.get(name, NOTHING)} of {owed[name]}")
            findings += [
                f"{totals[name_account(element)]} are left in {element.id}"
                for element in ended
                if totals.get(name_account(element))
            ]
        for number in range(self.owners):
            balance = await read_balance(self.ports, f"o{number}")
            for name, (count, limit) in self._count(number, balance).items():
                if (count.credits_used, count.credits_reserved) != (owed[name], NOTHING) or count.credits_used > limit:
                    findings.append(
                        f"{name} says {count.credits_used} and {count.credits_reserved} reserved, of {owed[name]} and {limit}"
                    )
            findings += [
                f"{name} has used {part.credits_used} of {owed[name]}"
                for name, part in balance.parts.items()
                if part.credits_used != owed[name]
            ]
        return findings


class _Tools:
    """The tool functions of one delivery, in this process; one that dies does not answer."""

    def __init__(self, soak: Soak, clock: ManualClock, tally: KeptTally) -> None:
        self._deps = build_tool_deps(soak.ports, SimulatedTransport(tally), clock=clock, meet=soak._meet, keys=None)

    async def run(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        call_request = CallRequest(
            execution=execution.id, seq=ticket.seq, epoch=execution.epoch, task=execution.task, owner=execution.owner
        )
        try:
            return await execute_call(self._deps, ticket.tool, call_request)
        except Killed:
            raise UnavailableError("the tool function died") from None

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
        return await scan_output(
            self._deps, execution=execution.id, task=execution.task, epoch=execution.epoch, content=content
        )


async def _until_killed(delivery: Awaitable[bool]) -> bool:
    try:
        return await delivery
    except Killed:
        return False


async def main(executions: int, workers: int, seed: int) -> int:
    firestore = FirestoreEmulator(path=None, indexes=INDEXES)
    server = grpc.aio.server(options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await firestore.start()
    await server.start()
    clients = build_clients("soak", address)
    failed = False
    stores: dict[str, Callable[[], Ports]] = {
        "memory": lambda: memory_ports(Memory()),
        "FirestoreEmulator": lambda: build_ports(clients),
    }
    for name, make in stores.items():
        begun = time.monotonic()
        soak = Soak(
            ports=make(),
            chance=random.Random(seed),
            owners=3,
            tasks=7,
            conversations=2,
            executions=executions,
            month=Decimal(executions) * Decimal("2.5"),
            task_month=Decimal(executions) * Decimal("1.1"),
            conversation_month=Decimal(executions) * Decimal("1.2"),
            most=Decimal(30),
            risk=0.01,
        )
        ended = await soak.run(workers)
        statuses = Counter(item.status for item in ended)
        print(*soak.findings, sep="\n", end="\n" if soak.findings else "")
        print(
            f"{name}: {len(ended)} executions ({statuses[Status.COMPLETED]} completed, {statuses[Status.FAILED]} failed),"
            f" {workers} workers, {soak.deaths} deaths, {len(soak.findings)} findings, {time.monotonic() - begun:.0f} s",
            flush=True,
        )
        failed = failed or bool(soak.findings) or not statuses[Status.COMPLETED] or not statuses[Status.FAILED]
    await clients.close()
    await server.stop(0)
    await firestore.close()
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.crash.soak", description=__doc__)
    parser.add_argument("--executions", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}", flush=True)
    sys.exit(asyncio.run(main(chosen.executions, chosen.workers, chosen.seed)))
