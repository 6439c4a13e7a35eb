"""How long the writer of a turn waits: until what it writes was scanned and stored, on any machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from ferryman.domain.conversations.window import WindowPart
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block
from ferryman.loop.live import STORE_S
from ferryman.ports.model import ReplyScanner as ScannerPort

Answer = TypeVar("Answer")


class LivePace:
    """How long the writer of a chat's turn waits: each turn is scanned, shown and stored once while the model writes it, and
    the model goes on only then, on any machine."""

    def __init__(self) -> None:
        self._stored, self._scanned = asyncio.Event(), asyncio.Event()
        self._begins = True

    async def pause(self, seconds: float) -> None:
        """Wait, as `LoopDependencies.pause`: for nothing before the turn is stored, and then until it is over."""
        if seconds == STORE_S:
            if self._begins:
                self._begins = False
                return
            self._stored.set()
        await asyncio.Event().wait()

    async def end_turn(self) -> None:
        """Wait until the turn under way was scanned and stored, and be ready for the next one."""
        await self._stored.wait()
        await self._scanned.wait()
        self._stored, self._scanned, self._begins = asyncio.Event(), asyncio.Event(), True

    async def watch(self, scanning: Awaitable[Answer]) -> Answer:
        """Return what the scan of a window answers, and note that there was one, however it ends."""
        try:
            return await scanning
        finally:
            self._scanned.set()


class PacedScanner:
    """`ports.ReplyScanner` that tells the pace of each window that was scanned."""

    def __init__(self, inner: ScannerPort, pace: LivePace) -> None:
        self._inner, self._pace = inner, pace

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
        return await self._inner.scan(execution, content)

    async def scan_window(self, execution: Execution, texts: Sequence[str]) -> Sequence[WindowPart]:
        return await self._pace.watch(self._inner.scan_window(execution, texts))
