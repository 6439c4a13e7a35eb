"""Results of tools/call: complete, waiting for a person's input (page mrtr), or a task at the server (extension Tasks)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ferryman.tools.mcp.protocol.bounds import (
    ANSWER_BYTES_MAX,
    CONTENT_MAX,
    ID_CHARACTERS_MAX,
    INPUTS_MAX,
    STATE_CHARACTERS_MAX,
    TEXT_CHARACTERS_MAX,
)
from ferryman.tools.mcp.protocol.eras import ClientCapabilities
from ferryman.tools.mcp.protocol.errors import InvalidServerAnswerError, ServerError
from ferryman.tools.mcp.protocol.messages import read_error

DURATION_MS_MAX = 2**53 - 1


class ContentKind(StrEnum):
    """What a block of content is."""

    TEXT = "text"
    IMAGE = "image"
    AUDIO = "audio"
    LINK = "resource_link"
    RESOURCE = "resource"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentBlock:
    """One block of a result, in a stranger's words. `text` is what it says; of bytes only the number is kept, `size_bytes`.

    A link is an address (`uri`) with a `name`, which nothing follows by itself.
    """

    kind: ContentKind
    text: str = field(default="", repr=False)
    mime_type: str = field(default="", repr=False)
    uri: str = field(default="", repr=False)
    name: str = field(default="", repr=False)
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A call that is done; `structured` is any JSON, None where there is none, `is_error` the tool's own word for a failure.

    `size_bytes` is the size of the answer that it was in; where nobody says, it may be as large as any.
    """

    content: tuple[ContentBlock, ...] = field(default=(), repr=False)
    structured: Any = field(default=None, repr=False)
    is_error: bool = False
    size_bytes: int = ANSWER_BYTES_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Elicitation:
    """A question of the server to a person: fields of a form by their `schema`, or a `url` to visit."""

    mode: str
    message: str = field(repr=False)
    schema: Mapping[str, Any] | None = field(default=None, repr=False)
    url: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsInput:
    """A call that a person has to answer something for first, by key; `state` goes back with the answers as it is."""

    requests: Mapping[str, Elicitation] = field(default_factory=dict)
    state: str | None = field(default=None, repr=False)


class RemoteTaskStatus(StrEnum):
    """The states of a task at its server."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether nothing changes any more."""
        return self not in (RemoteTaskStatus.WORKING, RemoteTaskStatus.INPUT_REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteTask:
    """A task at its server. `ttl_ms` counts from its creation, None: without end; `poll_ms` is how long to wait between two
    questions about it. `outcome` is the result of a completed one, `error` of a failed one, `requests` what one waits for."""

    id: str = field(repr=False)
    status: RemoteTaskStatus
    message: str = field(default="", repr=False)
    ttl_ms: int | None = None
    poll_ms: int | None = None
    outcome: Completed | None = None
    error: ServerError | None = field(default=None, repr=False)
    requests: Mapping[str, Elicitation] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Started:
    """A call that goes on as a task."""

    task: RemoteTask


CallOutcome = Completed | NeedsInput | Started


def read_call_result(result: Mapping[str, Any], capabilities: ClientCapabilities) -> CallOutcome:
    """Return the result of tools/call. Raise `InvalidServerAnswerError`, also for what the client did not offer."""
    kind = result.get("resultType", "complete")
    if kind == "complete":
        return read_completed(result)
    if kind == "input_required":
        return _read_input_required(result, capabilities)
    if kind == "task" and capabilities.tasks:
        return Started(read_task(result, capabilities))
    raise InvalidServerAnswerError("the MCP server sent a result of a type that this client does not have")


def check_complete(result: Mapping[str, Any]) -> None:
    """Raise `InvalidServerAnswerError` unless a result of another method is complete."""
    if result.get("resultType", "complete") != "complete":
        raise InvalidServerAnswerError("the MCP server sent a result of a type that this request does not have")


def read_completed(result: Mapping[str, Any]) -> Completed:
    """Return a complete result of tools/call. Raise `InvalidServerAnswerError`."""
    content, is_error = result.get("content", []), result.get("isError", False)
    if not isinstance(content, list) or not isinstance(is_error, bool):
        raise InvalidServerAnswerError("the MCP server sent a result whose content is not a list")
    if len(content) > CONTENT_MAX:
        raise InvalidServerAnswerError(f"the MCP server sent a result of more than {CONTENT_MAX:,} blocks")
    blocks = tuple(_read_block(block) for block in content)
    return Completed(content=blocks, structured=result.get("structuredContent"), is_error=is_error)


def _read_block(block: Any) -> ContentBlock:
    kind = block.get("type") if isinstance(block, Mapping) else None
    if kind not in list(ContentKind):
        raise InvalidServerAnswerError("the MCP server sent content of a type that the protocol does not have")
    kind = ContentKind(kind)
    if kind is ContentKind.TEXT:
        return ContentBlock(kind=kind, text=_get_text(block, "text"))
    if kind in (ContentKind.IMAGE, ContentKind.AUDIO):
        return ContentBlock(
            kind=kind, mime_type=_get_text(block, "mimeType"), size_bytes=_measure_base64(_get_text(block, "data"))
        )
    if kind is ContentKind.LINK:
        return ContentBlock(
            kind=kind,
            uri=_get_text(block, "uri"),
            name=_get_text(block, "name"),
            mime_type=_get_text(block, "mimeType", ""),
            text=_get_text(block, "description", ""),
        )
    resource = block.get("resource")
    if not isinstance(resource, Mapping):
        raise InvalidServerAnswerError("the MCP server sent a resource that is not an object")
    uri, mime_type = _get_text(resource, "uri"), _get_text(resource, "mimeType", "")
    if "text" in resource:
        return ContentBlock(kind=kind, uri=uri, mime_type=mime_type, text=_get_text(resource, "text"))
    size_bytes = _measure_base64(_get_text(resource, "blob"))
    return ContentBlock(kind=kind, uri=uri, mime_type=mime_type, size_bytes=size_bytes)


def _get_text(outer: Mapping[str, Any], name: str, absent: str | None = None) -> str:
    value = outer.get(name, absent)
    if not isinstance(value, str):
        raise InvalidServerAnswerError(f"the MCP server sent content without {name}, a text")
    return value


def _measure_base64(data: str) -> int:
    """Return how many bytes `data` decodes to. What it decodes to is never looked at."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def _read_input_required(result: Mapping[str, Any], capabilities: ClientCapabilities) -> NeedsInput:
    requests = read_inputs(result.get("inputRequests", {}), capabilities)
    state = result.get("requestState")
    if state is not None and (not isinstance(state, str) or len(state) > STATE_CHARACTERS_MAX):
        raise InvalidServerAnswerError(f"the MCP server sent a state of more than {STATE_CHARACTERS_MAX:,} characters")
    if not requests and state is None:
        raise InvalidServerAnswerError("the MCP server requires input, and does not say which")
    return NeedsInput(requests=requests, state=state)


def read_inputs(requests: Any, capabilities: ClientCapabilities) -> dict[str, Elicitation]:
    """Return the questions to a person, by key. Raise `InvalidServerAnswerError`, also for sampling and roots."""
    if not isinstance(requests, Mapping) or len(requests) > INPUTS_MAX:
        raise InvalidServerAnswerError(f"the MCP server sent more than {INPUTS_MAX} input requests, or none as an object")
    if any(not 0 < len(key) <= ID_CHARACTERS_MAX for key in requests):
        raise InvalidServerAnswerError(
            f"the MCP server sent an input request with a key of more than {ID_CHARACTERS_MAX:,} characters"
        )
    return {key: _read_input(asking, capabilities) for key, asking in requests.items()}


def _read_input(asking: Any, capabilities: ClientCapabilities) -> Elicitation:
    if not isinstance(asking, Mapping) or asking.get("method") != "elicitation/create":
        raise InvalidServerAnswerError("the MCP server asks for what this client does not offer: sampling, roots or another")
    return read_elicitation(asking.get("params"), capabilities)


def read_elicitation(params: Any, capabilities: ClientCapabilities) -> Elicitation:
    """Return one question to a person. Raise `InvalidServerAnswerError`, also for a mode that was not offered."""
    if not isinstance(params, Mapping):
        raise InvalidServerAnswerError("the MCP server sent an elicitation without params")
    mode, message = params.get("mode", "form"), params.get("message")
    if not isinstance(message, str) or len(message) > TEXT_CHARACTERS_MAX:
        raise InvalidServerAnswerError(
            f"the MCP server asks a person without a message of at most {TEXT_CHARACTERS_MAX:,} characters"
        )
    if mode == "form" and capabilities.form:
        schema = params.get("requestedSchema")
        if not isinstance(schema, Mapping):
            raise InvalidServerAnswerError("the MCP server sent an elicitation without a schema")
        return Elicitation(mode="form", message=message, schema=schema)
    if mode == "url" and capabilities.url:
        url = params.get("url")
        if not isinstance(url, str) or len(url) > TEXT_CHARACTERS_MAX:
            raise InvalidServerAnswerError(
                f"the MCP server asks a person without a URL of at most {TEXT_CHARACTERS_MAX:,} characters"
            )
        return Elicitation(mode="url", message=message, url=url)
    raise InvalidServerAnswerError("the MCP server sent an elicitation of a mode that this client does not offer")


def read_task(task: Mapping[str, Any], capabilities: ClientCapabilities) -> RemoteTask:
    """Return the task in a result of tools/call or tasks/get. Raise `InvalidServerAnswerError`."""
    task_id, status = task.get("taskId"), task.get("status")
    if not isinstance(task_id, str) or not 0 < len(task_id) <= ID_CHARACTERS_MAX or not task_id.isprintable():
        raise InvalidServerAnswerError(f"the MCP server sent a task without an id of at most {ID_CHARACTERS_MAX:,} characters")
    if status not in list(RemoteTaskStatus):
        raise InvalidServerAnswerError("the MCP server sent a task without a status that tasks have")
    status = RemoteTaskStatus(status)
    message = task.get("statusMessage", "")
    if not isinstance(message, str):
        raise InvalidServerAnswerError("the MCP server sent a task whose statusMessage is not a text")
    outcome, error, requests = None, None, dict[str, Elicitation]()
    if status is RemoteTaskStatus.COMPLETED and "result" in task:
        outcome = _read_outcome(task["result"])
    if status is RemoteTaskStatus.FAILED and "error" in task:
        error = read_error(task["error"])
    if status is RemoteTaskStatus.INPUT_REQUIRED:
        requests = read_inputs(task.get("inputRequests", {}), capabilities)
    return RemoteTask(
        id=task_id,
        status=status,
        message=message[:TEXT_CHARACTERS_MAX],
        ttl_ms=_read_duration(task, "ttlMs"),
        poll_ms=_read_duration(task, "pollIntervalMs"),
        outcome=outcome,
        error=error,
        requests=requests,
    )


def _read_outcome(result: Any) -> Completed:
    if not isinstance(result, Mapping) or result.get("resultType", "complete") != "complete":
        raise InvalidServerAnswerError("the MCP server sent a completed task without a result")
    return read_completed(result)


def _read_duration(task: Mapping[str, Any], name: str) -> int | None:
    value = task.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= DURATION_MS_MAX:
        raise InvalidServerAnswerError(f"the MCP server sent a task whose {name} is not a number of milliseconds")
    return int(value)
