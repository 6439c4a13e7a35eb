"""What the server of the campaign has ready before it forks a process: every library, converter and cache, and a fork server.

The processes share the server of the offload workers. On its own each would start one, and import for longer than it runs.
"""

from __future__ import annotations

import asyncio

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
    """Execute one run in memory, and convert all that it stored to documents and back."""
    record = asyncio.run(SimulatedRun(scenario=SCENARIOS[0], ports=memory_ports(Memory())).perform())
    stored = (record.execution, record.opening, *record.steps, *record.tickets, *record.entries, record.balance)
    for value in stored:
        documents.read(type(value), documents.write(value))
    for channel in server.worker(judge_flow):  # starts the server, with all that workers import
        channel.close()
    server._child = SharedProcess()  # type: ignore[assignment]


warm_up()
