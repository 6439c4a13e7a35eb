"""What the fixtures remember: tasks, in files that every instance reads, and what one process alone knows."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ferryman.serving.mcp import McpError, McpExchange, Notification

POLL_S = 0.05
TTL_MS = 3_600_000
POLL_MS = 200


class SystemClock:
    """The time."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass
class Tasks:
    """Tasks in `folder`, a file each. A task's state follows from its file and the time: no process has to live for it."""

    folder: Path
    clock: SystemClock = field(default_factory=SystemClock)

    def create(self, *, seconds: float, result: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """Store a task that is done after `seconds`, with `result` or what `more` says, and return how it begins."""
        now = self.clock.now()
        record = {"taskId": secrets.token_urlsafe(24), "createdAt": now.isoformat(), "lastUpdatedAt": now.isoformat()}
        record |= {
            "due": (now + timedelta(seconds=seconds)).isoformat(),
            "result": result,
            "requests": {},
            "answers": {},
            **more,
        }
        self._write(record)
        return self._describe(record, "working")

    def get(self, name: str) -> dict[str, Any] | None:
        """Return the task as tasks/get has it, None where there is none of this name."""
        record = self._read(name)
        if record is None:
            return None
        if record.get("cancelled"):
            return self._describe(record, "cancelled")
        open_requests = {key: value for key, value in record["requests"].items() if key not in record["answers"]}
        if open_requests:
            return {**self._describe(record, "input_required"), "inputRequests": open_requests}
        if self.clock.now() < datetime.fromisoformat(record["due"]):
            return self._describe(record, "working")
        if "error" in record:
            return {**self._describe(record, "failed"), "error": record["error"]}
        result = record["result"] or {"content": [{"type": "text", "text": f"answers: {json.dumps(record['answers'])}"}]}
        return {**self._describe(record, "completed"), "result": result}

    def update(self, name: str, answers: Mapping[str, Any]) -> bool:
        """Store the answers to requests that are open; False where there is no such task."""
        record = self._read(name)
        if record is None:
            return False
        fitting = {key: value for key, value in answers.items() if key in record["requests"] and key not in record["answers"]}
        record["answers"] |= fitting
        self._write(record)
        return True

    def cancel(self, name: str) -> bool:
        """Cancel the task unless it has ended; False where there is no such task."""
        task = self.get(name)
        if task is None:
            return False
        if task["status"] in ("working", "input_required"):
            self._write({**(self._read(name) or {}), "cancelled": True})
        return True

    def _describe(self, record: Mapping[str, Any], status: str) -> dict[str, Any]:
        copied = {key: record[key] for key in ("taskId", "createdAt", "lastUpdatedAt")}
        return {**copied, "status": status, "ttlMs": TTL_MS, "pollIntervalMs": POLL_MS}

    def _read(self, name: str) -> dict[str, Any] | None:
        if not name.replace("-", "").replace("_", "").isalnum():
            return None
        try:
            record: dict[str, Any] = json.loads((self.folder / name).read_text())
        except FileNotFoundError:
            return None
        return record

    def _write(self, record: Mapping[str, Any]) -> None:
        written = self.folder / f"{record['taskId']}.{secrets.token_hex(4)}"
        written.write_text(json.dumps({**record, "lastUpdatedAt": self.clock.now().isoformat()}))
        written.replace(self.folder / record["taskId"])


@dataclass
class Process:
    """What one process knows: who listens, the log levels of sessions of 2025, and the answers that it waits for."""

    listeners: set[asyncio.Queue[Notification]] = field(default_factory=set)
    levels: dict[str, str] = field(default_factory=dict)
    subscribed: set[tuple[str, str]] = field(default_factory=set)
    waiting: dict[tuple[str, str], asyncio.Future[Mapping[str, Any]]] = field(default_factory=dict)

    def announce(self, method: str) -> None:
        """Tell every listener of a change."""
        for queue in self.listeners:
            queue.put_nowait(Notification(method))

    @contextmanager
    def listen(self) -> Iterator[asyncio.Queue[Notification]]:
        """Yield a queue of the changes from now on."""
        queue: asyncio.Queue[Notification] = asyncio.Queue()
        self.listeners.add(queue)
        try:
            yield queue
        finally:
            self.listeners.discard(queue)

    async def ask(self, exchange: McpExchange, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a request to a client of 2025, and return its result. Raise `McpError` with the client's error."""
        key = (exchange.session, secrets.token_hex(8))
        future = self.waiting[key] = asyncio.get_running_loop().create_future()
        try:
            await exchange.send({"jsonrpc": "2.0", "id": key[1], "method": method, "params": dict(params)})
            message = await future
        finally:
            del self.waiting[key]
        if "error" in message:
            raise McpError(-32603, "the client could not answer")
        result: Mapping[str, Any] = message["result"]
        return result

    async def receive_answer(self, session: str, message: Mapping[str, Any]) -> None:
        """Take what a client answered."""
        future = self.waiting.get((session, str(message["id"])))
        if future is not None and not future.done():
            future.set_result(message)


async def watch(tasks: Tasks, process: Process, names: list[str]) -> AsyncGenerator[Notification, None]:
    """Yield changes of lists, and the tasks `names` each time that their status is another one."""
    known: dict[str, str] = {}
    with process.listen() as queue:
        while True:
            for name in names:
                task = tasks.get(name)
                if task is not None and known.get(name) != task["status"]:
                    known[name] = task["status"]
                    yield Notification("notifications/tasks", task)
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    notification = await queue.get()
                    yield notification
