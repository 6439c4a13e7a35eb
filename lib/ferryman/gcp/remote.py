"""Functions of tools, called: the tool's own executes a call, and a key holder scans output and seals credentials again."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.keyless_answer import KeylessAnswer, read_answer
from ferryman.domain.conversations.window import WindowPart
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block
from ferryman.domain.receipts import settlement
from ferryman.domain.stale import StaleError
from ferryman.gcp.functions import FunctionClient
from ferryman.ports.errors import RejectedError

SCANNING_FUNCTION = "api_call"
"""The key holder that scans the model's output."""

RESEALING_FUNCTION = "api_call"
"""The key holder that seals credentials again, to another version of the key."""


ALERTING_FUNCTION = "webhook"
"""The key holder that sends alerts."""


class RemoteTools:
    """`ports.ReplyScanner`, and the handler of tools: POST with an identity token to the function of the tool."""

    def __init__(self, functions: FunctionClient) -> None:
        self._functions = functions

    async def run(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        # task and owner only locate the documents: what these hold is believed
        locations = {"task": execution.task, "owner": execution.owner}
        answer = await self._post(
            find_tool(ticket.tool).function,
            "/",
            {"execution": execution.id, "call": ticket.seq, "epoch": execution.epoch, **locations},
        )
        return settlement.read_settlement(ticket, answer)

    async def ask(self, function: str, body: Mapping[str, Any]) -> KeylessAnswer:
        """Return what a function without keys says of a call. Raise `UnavailableError` or `RejectedError`."""
        try:
            return read_answer(await self._functions.ask(function, "/", body))
        except ValueError as error:  # no JSON, or of another shape
            raise RejectedError(f"{function} returned an invalid answer: {error}") from None

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
        body = {"execution": execution.id, "task": execution.task, "epoch": execution.epoch, "content": list(content)}
        answer = await self._post(SCANNING_FUNCTION, "/scan", body)
        return tuple(answer["content"])

    async def scan_window(self, execution: Execution, texts: Sequence[str]) -> Sequence[WindowPart]:
        body = {"execution": execution.id, "task": execution.task, "epoch": execution.epoch, "texts": list(texts)}
        answer = await self._post(SCANNING_FUNCTION, "/window", body)
        return tuple(WindowPart(str(text), int(decided)) for text, decided in answer["parts"])

    async def _post(self, function: str, path: str, body: Mapping[str, Any]) -> Any:
        expected = (httpx.codes.CONFLICT, httpx.codes.UNPROCESSABLE_ENTITY)
        answer = await self._functions.post(function, path, body, expected=expected)
        if answer.status_code == httpx.codes.CONFLICT:
            raise StaleError(f"function {function} did not take the call")
        if answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY:
            raise RejectedError(str(answer.json()["detail"]))
        return answer.json()


class RemoteWorkCanceller:
    """`ports.RemoteWork`: POST to the key holder's route."""

    def __init__(self, functions: FunctionClient) -> None:
        self._functions = functions

    async def cancel(self, ticket: Ticket, *, execution: Execution) -> None:
        body = {
            "execution": execution.id,
            "call": ticket.seq,
            "epoch": execution.epoch,
            "task": execution.task,
            "continuation": base64.b64encode(ticket.continuation).decode(),
        }
        answer = await self._functions.post(find_tool(ticket.tool).function, "/abandon", body, expected=(httpx.codes.CONFLICT,))
        if answer.status_code == httpx.codes.CONFLICT:
            raise StaleError("the lease has ended")


class RemoteAlertSender:
    """`ports.AlertSender`: POST to the key holder's route."""

    def __init__(self, functions: FunctionClient) -> None:
        self._functions = functions

    async def send(self, alert: str) -> int | None:
        answer = await self._functions.post(ALERTING_FUNCTION, "/alert", {"alert": alert})
        attempts = answer.json()["attempts"]
        return None if attempts is None else int(attempts)


class RemoteResealer:
    """`rotate.Resealer`: POST to the key holder's route."""

    def __init__(self, functions: FunctionClient) -> None:
        self._functions = functions

    async def reseal(self, task: str, *, version: int) -> Sequence[str]:
        """Return the names of the credentials that do not open. Raise `UnavailableError`."""
        answer = await self._functions.post(RESEALING_FUNCTION, "/reseal", {"task": task, "version": version})
        return [str(name) for name in answer.json()["unreadable"]]
