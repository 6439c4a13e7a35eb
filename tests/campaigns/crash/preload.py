"""What the server of the campaign has ready before it forks a process: every library, converter and cache, and a fork server.

The processes share the server of the offload workers. On its own each would start one, and import for longer than it runs.
"""

from __future__ import annotations

import asyncio
import gc

from ferryman.domain.executions.execution import ExecutionSummary
from ferryman.domain.flow.judging import judge_flow
from ferryman.gcp import documents
from ferryman.inmemory.memory import Memory
from ferryman.offload.fork_server import server
from tests.campaigns.crash import workers  # noqa: F401 - it imports what the processes do
from tests.campaigns.crash.scenarios import SCENARIOS
from tests.campaigns.crash.simulated import SimulatedRun, memory_ports


class SharedProcess:
    """The fork server as a process sees it that is not its parent: alive, until its socket says something else."""

    def poll(self) -> None:
        """Return None: it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Return at once: only a parent can wait."""
        return 0


def warm_up() -> None:
    """Execute every scenario in memory, and convert all that it recorded to documents and back."""
    documents.prepare()
    for scenario in SCENARIOS:
        record = asyncio.run(SimulatedRun(scenario=scenario, ports=memory_ports(Memory())).perform())
        values = (record.execution, record.opening, record.balance, *record.steps, *record.tickets, *record.entries)
        for value in filter(None, (*values, *record.approvals)):
            documents.read(type(value), documents.write(value))
        documents.read(ExecutionSummary, documents.write(record.execution))
    for channel in server.worker(judge_flow):  # starts the server, with all that workers import
        channel.close()
    server._child = SharedProcess()  # type: ignore[assignment]
    gc.collect()
    gc.freeze()  # otherwise the first collection in a process copies the memory that it shares with this one


warm_up()
