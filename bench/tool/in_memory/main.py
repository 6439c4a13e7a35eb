"""The function api_call with its stores in memory, all else as it is deployed.

BENCH_EXECUTIONS are its rounds, the executions of each, and how many of them run at once.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from threading import Thread

from bench.tool.journal import Journal, build_names
from ferryman.composition.tool import ToolFunction
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.serving import tool
from ferryman.settings import Settings
from ferryman.vault.seal import PublicKey


class MemoryToolFunction(ToolFunction):
    """`ToolFunction` without Firestore."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        memory = Memory()
        rounds, executions, at_once = map(int, os.environ["BENCH_EXECUTIONS"].split(","))
        names = [name for number in range(rounds) for name in build_names(f"e{number}", executions, at_once)]
        filling = Thread(target=lambda: asyncio.run(Journal(PublicKey.parse(settings.sealing_public_key)).fill(memory, names)))
        filling.start()
        filling.join()
        self.dependencies = replace(
            self.dependencies,
            tickets=MemoryTickets(memory),
            credentials=MemoryCredentials(memory),
            halts=MemoryHalts(memory),
            tokens=MemoryTokens(memory),
        )


main = tool.serve_tool("api_call", MemoryToolFunction, {})
