"""Outcomes: what an execution is to an MCP client, as the result of a tool, whether it has ended or not.

What a tool read is handed on as it is stored: framed, with its label beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.catalog.tools import FINDERS
from ferryman.composition.api import ApiDependencies
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.labelling import label_ticket
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.conversations.reading import fit_ticket
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.labels.label import Integrity
from ferryman.serving.api.mcp.resources import name_resource
from ferryman.serving.api.mcp.waiting import waits_for_person

GET_EXECUTION = "get_execution"

OUTPUT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "ok": {"type": ["boolean", "null"], "description": "Whether it did what it was told; null: it has not ended"},
        "code": {"type": ["string", "null"], "description": "What failed, in lower case; null: nothing did"},
        "suggestion": {"type": ["string", "null"], "description": "What to do next"},
        "status": {"type": "string", "enum": [*(status.value for status in Status), "waiting"]},
        "execution_id": {"type": "string", "description": f"Pick it up with {GET_EXECUTION}, from any client"},
        "conversation_id": {"type": "string", "description": "Of an answer: the conversation to go on with"},
        "integrity": {
            "enum": [integrity.value for integrity in Integrity],
            "description": "untrusted: strangers may have written it",
        },
        "approval_url": {"type": "string", "description": "Where a person decides about it, while it waits"},
    },
    "required": ["ok"],
}
"""Of every tool: nobody knows what the text of a result holds."""

WAITING = "waiting"

SUGGESTIONS = {
    Status.FAILED: "read the text, and change what it names",
    Status.TIMEOUT: "give it less to do at once",
    Status.KILLED: "it was stopped: start it again if it is still needed",
}


async def build_outcome(deps: ApiDependencies, execution: Execution, *, url: str) -> dict[str, Any]:
    """Return the CallToolResult of an execution: its result, or how it is picked up. `url` is that of the API."""
    if execution.status.terminal:
        return await _build_ended(deps, execution)
    about: dict[str, Any] = {"ok": None, "code": None, "suggestion": None, **_identify(execution)}
    again = f'Call {GET_EXECUTION} with {{"execution_id": "{execution.id}"}} for its result.'
    if await waits_for_person(deps, execution):
        link = build_link(url, execution.waiting_for)
        about |= {"status": WAITING, "approval_url": link}
        return write_result(f"A person has to decide about a call first, at {link}\n{again}", about, is_error=False)
    about["status"] = execution.status.value
    return write_result(f"It has not ended yet, and goes on. {again}", about, is_error=False)


def build_link(url: str, approval: str) -> str:
    """Return the address of the page where a person decides about an approval."""
    return f"{url}/console/approvals/{approval}"


def write_result(text: str, about: Mapping[str, Any], *, is_error: bool) -> dict[str, Any]:
    """Return a CallToolResult with one text."""
    return {"content": [{"type": "text", "text": text}], "structuredContent": dict(about), "isError": is_error}


async def _build_ended(deps: ApiDependencies, execution: Execution) -> dict[str, Any]:
    about = {**_identify(execution), "status": execution.status.value}
    if execution.called_tool and execution.status is Status.COMPLETED:
        tickets = await deps.executions.tickets(execution.id, most=1)
        if tickets and tickets[0].result is not None:
            fitted = fit_ticket(tickets[0], execution.surface, finders=FINDERS).result
            assert fitted is not None, "it has settled"
            about["integrity"] = label_ticket(tickets[0]).integrity.value
            written = write_result(fitted.content, {**_describe(fitted), **about}, is_error=not fitted.ok)
            return {**written, "content": [*written["content"], *map(_link_file, _list_files(fitted))]}
    is_ok = execution.status is Status.COMPLETED
    text = "\n\n".join(
        filter(None, (execution.output, None if is_ok else f"Error: {execution.error or execution.status.value}"))
    )
    code = None if is_ok else execution.status.value
    described = {"ok": is_ok, "code": code, "suggestion": SUGGESTIONS.get(execution.status)}
    return write_result(text, {**described, **about, "integrity": Integrity.UNTRUSTED.value}, is_error=not is_ok)


def _list_files(result: ToolCallResult) -> list[Part]:
    return [part for part in result.parts if part.kind is PartKind.FILE and part.file]


def _link_file(part: Part) -> dict[str, Any]:
    """Return the link to a file of the workspace that the rest of a result was kept in."""
    link: dict[str, Any] = {"type": "resource_link", "uri": name_resource(part.file or ""), "name": part.file}
    if part.media_type:
        link["mimeType"] = part.media_type
    return link if part.size_bytes is None else {**link, "size": part.size_bytes}


def _describe(result: ToolCallResult) -> dict[str, Any]:
    return {"ok": result.ok, "code": result.code, "suggestion": result.suggestion}


def _identify(execution: Execution) -> dict[str, Any]:
    conversation = {"conversation_id": execution.conversation} if execution.answer else {}
    return {"execution_id": execution.id, **conversation}
