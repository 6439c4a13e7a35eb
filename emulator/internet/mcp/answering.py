"""Answering: what comes of each method, in each revision: notifications and requests, then the result."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from emulator.clock import EmulatorClock
from emulator.internet.mcp import tools
from emulator.internet.mcp.messages import McpRefusedError, Message
from emulator.internet.mcp.revisions import (
    CAPABILITIES,
    CAPABILITY_MISSING,
    LEGACY,
    PARAMS,
    TASKS,
    UNKNOWN_METHOD,
)
from emulator.internet.mcp.rules import McpRules

INFO = {"name": "simulated", "title": "A simulated server", "version": "1.0.0"}
META_INFO = {"io.modelcontextprotocol/serverInfo": INFO}
ANSWER_S = 30.0
TTL_MS = 3_600_000


@dataclass(slots=True, kw_only=True)
class StartedTask:
    """A task of the Tasks extension."""

    arguments: Mapping[str, Any]
    created: str
    polled: int = 0
    cancelled: bool = False


@dataclass(slots=True)
class Answering:
    """What one server remembers: the calls of its tools, what people answered, its tasks, and questions that are open."""

    host: str
    clock: EmulatorClock
    calls: list[dict[str, object]] = field(default_factory=list)
    answered: list[object] = field(default_factory=list)
    tasks: dict[str, StartedTask] = field(default_factory=dict)
    _states: dict[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    _open: dict[str, asyncio.Future[Any]] = field(default_factory=dict)

    def initialize(self, rules: McpRules) -> dict[str, Any]:
        """Return the result of `initialize`, which offers 2025-11-25 whatever was asked for."""
        return {
            "protocolVersion": LEGACY,
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": INFO,
            "instructions": rules.instructions,
        }

    async def answer_modern(self, rules: McpRules, method: str, params: Message) -> AsyncIterator[Message]:
        """Yield what comes of a request of 2026-07-28. Raise McpRefusedError."""
        meta: Any = params.get("_meta")
        capabilities = meta.get(CAPABILITIES) if isinstance(meta, dict) else None
        extensions = capabilities.get("extensions", {}) if isinstance(capabilities, dict) else {}
        takes_tasks = isinstance(extensions, dict) and TASKS in extensions
        if method == "server/discover":
            yield self._discover(rules)
        elif method == "tools/list":
            yield {"resultType": "complete", **_list_page(rules, params), "ttlMs": 0, "cacheScope": "private"}
        elif method == "tools/call":
            async for item in self._call_modern(rules, params, takes_tasks=takes_tasks):
                yield item
        elif method in ("tasks/get", "tasks/update", "tasks/cancel"):
            if not takes_tasks:
                needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
                raise McpRefusedError(CAPABILITY_MISSING, "the client takes no tasks", data=needed)
            yield self._answer_task(rules, method, params)
        else:
            raise McpRefusedError(UNKNOWN_METHOD, f"no method {method}", status=404)

    async def answer_legacy(
        self, rules: McpRules, method: str, params: Message, capabilities: Message
    ) -> AsyncIterator[Message]:
        """Yield what comes of a request of 2025-11-25. Raise McpRefusedError."""
        if method == "ping":
            yield {}
        elif method == "tools/list":
            yield _list_page(rules, params)
        elif method == "tools/call":
            name, arguments = self._take_call(rules, params)
            if name == "slow":
                async for item in _progress(rules, params, arguments):
                    yield item
            if name in ("book_table", "link_account"):
                if rules.answers != "sse" or "elicitation" not in capabilities:
                    yield {**tools.text("this client cannot be asked"), "isError": True}
                    return
                number = f"question-{secrets.token_hex(8)}"
                self._open[number] = asyncio.get_running_loop().create_future()
                question = tools.describe_form() if name == "book_table" else self._describe_page(number)
                yield {"jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": question}
                answer = await self._await_answer(number)
                yield tools.confirm_booking(arguments.get("day"), answer) if name == "book_table" else _link(answer)
                return
            yield tools.answer_call(name, arguments)
        else:
            raise McpRefusedError(UNKNOWN_METHOD, f"no method {method}")

    def take_answer(self, message: Message) -> None:
        """Take the client's answer to a question; one that nobody has open is noted and goes nowhere."""
        self.answered.append(message.get("result", message.get("error")))
        waiting = self._open.get(str(message.get("id")))
        if waiting is not None and not waiting.done():
            waiting.set_result(message.get("result"))

    def _discover(self, rules: McpRules) -> dict[str, Any]:
        return {
            "resultType": "complete",
            "supportedVersions": list(rules.revisions),
            "capabilities": {"tools": {}, "extensions": {TASKS: {}}},
            "instructions": rules.instructions,
            "_meta": META_INFO,
            "ttlMs": 0,
            "cacheScope": "private",
        }

    async def _call_modern(self, rules: McpRules, params: Message, *, takes_tasks: bool) -> AsyncIterator[Message]:
        name, arguments = self._take_call(rules, params)
        responses = params.get("inputResponses")
        state = params.get("requestState")
        if name in ("book_table", "link_account"):
            known = self._states.pop(str(state), None) if state is not None else None
            if known is None or not isinstance(responses, dict):
                if state is not None:
                    raise McpRefusedError(PARAMS, "the state is unknown or used")
                new = secrets.token_urlsafe(24)
                self._states[new] = (name, arguments)
                yield tools.ask_form(new) if name == "book_table" else tools.ask_page(self.host, new)
                return
            if known != (name, arguments):
                raise McpRefusedError(PARAMS, "the state is that of another call")
            self.answered.append(dict(responses))
            answer = responses.get("booking" if name == "book_table" else "link")
            answer = answer if isinstance(answer, dict) else {}
            result = tools.confirm_booking(arguments.get("day"), answer) if name == "book_table" else _link(answer)
            yield {"resultType": "complete", **result}
            return
        if name == "count_words" and takes_tasks:
            identifier = secrets.token_urlsafe(24)
            self.tasks[identifier] = StartedTask(arguments=arguments, created=self.clock.now().isoformat())
            yield {"resultType": "task", **self._describe_task(rules, identifier)}
            return
        if name == "slow":
            async for item in _progress(rules, params, arguments):
                yield item
        yield {"resultType": "complete", **tools.answer_call(name, arguments)}

    def _take_call(self, rules: McpRules, params: Message) -> tuple[str, dict[str, Any]]:
        name, arguments = params.get("name"), params.get("arguments")
        arguments = arguments if isinstance(arguments, dict) else {}
        if not isinstance(name, str) or name not in [tool["name"] for tool in tools.list_tools(rules)]:
            raise McpRefusedError(PARAMS, f"no tool {name}")
        self.calls.append({"name": name, "arguments": arguments})
        return name, arguments

    def _answer_task(self, rules: McpRules, method: str, params: Message) -> dict[str, Any]:
        task = self.tasks.get(str(params.get("taskId")))
        if task is None:
            raise McpRefusedError(PARAMS, "there is no such task")
        if method == "tasks/cancel":
            task.cancelled = True
        if method != "tasks/get":
            return {"resultType": "complete"}
        task.polled += 1
        return {"resultType": "complete", **self._describe_task(rules, str(params["taskId"]))}

    def _describe_task(self, rules: McpRules, identifier: str) -> dict[str, Any]:
        task = self.tasks[identifier]
        is_done = task.polled >= rules.polls
        status = "cancelled" if task.cancelled else "completed" if is_done else "working"
        return {
            "taskId": identifier,
            "status": status,
            "createdAt": task.created,
            "lastUpdatedAt": self.clock.now().isoformat(),
            "ttlMs": TTL_MS,
            "pollIntervalMs": rules.poll_ms,
            **({"result": tools.answer_call("count_words", task.arguments)} if status == "completed" else {}),
        }

    def _describe_page(self, number: str) -> dict[str, Any]:
        page = f"https://{self.host}/link?state={number}"
        return {"mode": "url", "message": "Link your account.", "url": page, "elicitationId": number}

    async def _await_answer(self, number: str) -> Mapping[str, Any]:
        try:
            answer = await asyncio.wait_for(self._open[number], ANSWER_S)
        except TimeoutError:
            answer = {"action": "cancel"}
        finally:
            del self._open[number]
        return answer if isinstance(answer, dict) else {"action": "cancel"}


def _link(answer: Mapping[str, Any]) -> dict[str, Any]:
    return tools.text(f"the person chose: {answer.get('action')}")


def _list_page(rules: McpRules, params: Message) -> dict[str, Any]:
    listed = tools.list_tools(rules)
    if not rules.page:
        return {"tools": listed}
    try:
        first = int(str(params.get("cursor", "0")))
    except ValueError:
        raise McpRefusedError(PARAMS, "the cursor is unknown") from None
    after = first + rules.page
    return {"tools": listed[first:after], **({"nextCursor": str(after)} if after < len(listed) else {})}


async def _progress(rules: McpRules, params: Message, arguments: Message) -> AsyncIterator[Message]:
    """Yield progress where the client takes it, while time passes."""
    meta: Any = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    steps = int(arguments.get("steps", 3))
    for step in range(1, steps + 1):
        await asyncio.sleep(rules.slow_s / steps)
        if token is not None:
            progress = {"progressToken": token, "progress": step, "total": steps, "message": f"step {step} of {steps}"}
            yield {"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}
