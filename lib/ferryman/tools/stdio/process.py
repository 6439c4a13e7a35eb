"""The process of a local MCP server: lines in, lines out, both bounded, and a process group that ends with it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping
from typing import Self

from ferryman.tools.mcp.protocol.bounds import ANSWER_BYTES_MAX

LINE_BYTES_MAX = ANSWER_BYTES_MAX
"""Of one message."""

ERRORS_BYTES_MAX = 4_096
"""Of what the process writes to standard error, so much is remembered: the end of it."""

ENDS_S = 2.0
"""How long the process has to end once its input is closed, and again once it is asked to."""

_CHUNK_BYTES = 65_536


class ServerEndedError(Exception):
    """The process has ended, or what it wrote was no line of at most `LINE_BYTES_MAX` bytes."""


class ServerProcess:
    """A process that was started. `async with await ServerProcess.start(…) as process`; its group ends with the block."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._errors = bytearray()
        self.errors_bytes = 0
        self._reading_errors = asyncio.create_task(self._read_errors())

    @classmethod
    async def start(cls, command: tuple[str, ...], *, cwd: str, env: Mapping[str, str]) -> Self:
        """Start `command` with `env` for its whole environment, as the leader of a group of its own. Raise OSError."""
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            limit=LINE_BYTES_MAX,
        )
        return cls(process)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def pid(self) -> int:
        """The process, which leads the group of this number."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.returncode is None

    @property
    def errors_end(self) -> bytes:
        """The end of what it wrote to standard error: a stranger's text, in which its secrets may be."""
        return bytes(self._errors)

    async def write_line(self, line: bytes) -> None:
        """Write one message. Raise `ServerEndedError`."""
        assert self._process.stdin is not None, "it is a pipe"
        try:
            self._process.stdin.write(line + b"\n")
            await self._process.stdin.drain()
        except OSError:
            raise ServerEndedError("the process of the MCP server has ended") from None

    async def read_line(self) -> bytes:
        """Return the next line without its end. Raise `ServerEndedError`, after which nothing can be read."""
        assert self._process.stdout is not None, "it is a pipe"
        try:
            line = await self._process.stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            raise ServerEndedError("the process of the MCP server has ended") from None
        except asyncio.LimitOverrunError:
            self._signal(signal.SIGKILL)
            raise ServerEndedError(f"the MCP server wrote a line of more than {LINE_BYTES_MAX:,} bytes") from None
        return line[:-1].removesuffix(b"\r")

    async def close(self) -> None:
        """End the process and its group: by the end of its input, by SIGTERM, by SIGKILL."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            for ending in (None, signal.SIGTERM, signal.SIGKILL):
                if ending is not None:
                    self._signal(ending)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._process.wait(), ENDS_S)
                    break
        finally:
            self._signal(signal.SIGKILL)  # what it has started and left behind
            self._reading_errors.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reading_errors

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _read_errors(self) -> None:
        assert self._process.stderr is not None, "it is a pipe"
        while chunk := await self._process.stderr.read(_CHUNK_BYTES):
            self.errors_bytes += len(chunk)
            self._errors += chunk
            del self._errors[:-ERRORS_BYTES_MAX]
