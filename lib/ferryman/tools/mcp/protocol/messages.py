"""Messages of JSON-RPC 2.0: those that the client writes, and the reading of those that a server sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman import offload
from ferryman.domain.strict_json import NotStrictJsonError, TooManyValuesError, parse_json
from ferryman.tools.mcp.protocol.bounds import DEPTH_MAX, SMALL_BYTES, TEXT_CHARACTERS_MAX, VALUES_MAX
from ferryman.tools.mcp.protocol.errors import AnswerTooLargeError, InvalidServerAnswerError, ServerError

JsonObject = Mapping[str, Any]

SMALL_VALUES = 1_000
"""A message with more values takes longer to read than its bytes say."""

_SIGNS = (b"[", b"{", b",")


def write_request(request_id: int, method: str, params: JsonObject) -> dict[str, Any]:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params)}


def write_notification(method: str, params: JsonObject | None = None) -> dict[str, Any]:
    """Return a notification."""
    return {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": dict(params)})}


def write_response(request_id: Any, result: JsonObject) -> dict[str, Any]:
    """Return the answer to a request of the server's."""
    return {"jsonrpc": "2.0", "id": request_id, "result": dict(result)}


def write_refusal(request_id: Any, code: int, message: str) -> dict[str, Any]:
    """Return the error that a request of the server's is answered with."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


@dataclass(frozen=True, slots=True)
class ResultMessage:
    """The result of a request."""

    result: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ServerNotification:
    """A notification of the server's."""

    method: str
    params: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """A request of the server's (2025-11-25)."""

    id: str | int
    method: str
    params: dict[str, Any] = field(repr=False)


async def parse_message(owner: str, text: bytes, *, inline: bool = True) -> dict[str, Any]:
    """Return the one JSON object in `text`, read in a worker process where it is not small, or not to be read `inline`.

    Raise `InvalidServerAnswerError` for anything else.
    """
    if inline and len(text) <= SMALL_BYTES and sum(map(text.count, _SIGNS)) <= SMALL_VALUES:
        value, fault = read_object(text)
    else:
        try:
            value, fault = await offload.run(owner, offload.TEXT, read_object, text)
        except (offload.OverBudgetError, offload.TooManyJobsError, offload.JobFailedError):
            raise AnswerTooLargeError("the MCP server sent an answer that takes too long to read") from None
    if fault is not None:
        raise InvalidServerAnswerError(f"the MCP server sent an invalid message: {fault}")
    return value


def read_object(text: bytes) -> tuple[dict[str, Any], str | None]:
    """Return the object in a JSON text, and why it is none; a function for worker processes."""
    try:
        value = parse_json(text, depth_max=DEPTH_MAX, values_max=VALUES_MAX)
    except TooManyValuesError:
        return {}, f"it has more than {VALUES_MAX:,} values"
    except NotStrictJsonError as error:
        return {}, str(error)
    return (value, None) if isinstance(value, dict) else ({}, "it is not an object")


offload.preload(read_object)


def read_message(
    message: dict[str, Any],
    request_id: int,
    *,
    status: int = 200,
) -> ResultMessage | ServerNotification | ServerRequest:
    """Return what `message` is to the sender of the request `request_id`.

    Raise `ServerError` for an error of that request, also where an HTTP `status` that says no has one without an id, and
    `InvalidServerAnswerError` for the answer to another request and for what is no message.
    """
    if message.get("jsonrpc") != "2.0":
        raise InvalidServerAnswerError('the MCP server sent a message that is not of JSON-RPC "2.0"')
    if "method" in message:
        return _read_incoming(message)
    if ("result" in message) == ("error" in message):
        raise InvalidServerAnswerError("the MCP server sent a message that is no request, no result and no error")
    answered = message.get("id")
    is_ours = type(answered) is int and answered == request_id
    if "error" in message:
        if not is_ours and not (answered is None and (status >= 400 or "id" in message)):
            raise InvalidServerAnswerError("the MCP server answered a request that was not this one")
        raise read_error(message["error"], status=status)
    if not is_ours:
        raise InvalidServerAnswerError("the MCP server answered a request that was not this one")
    result = message["result"]
    if not isinstance(result, dict):
        raise InvalidServerAnswerError("the MCP server sent a result that is not an object")
    return ResultMessage(result)


def _read_incoming(message: dict[str, Any]) -> ServerNotification | ServerRequest:
    method, params = message["method"], message.get("params", {})
    if not isinstance(method, str) or not isinstance(params, dict) or "result" in message or "error" in message:
        raise InvalidServerAnswerError("the MCP server sent a request that is not of JSON-RPC")
    if "id" not in message:
        return ServerNotification(method, params)
    request_id = message["id"]
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        raise InvalidServerAnswerError("the MCP server sent a request with an id that is no text and no integer")
    return ServerRequest(request_id, method, params)


def read_error(error: Any, *, status: int = 200) -> ServerError:
    """Return the error in the member `error` of a message. Raise `InvalidServerAnswerError` where it is none."""
    if not isinstance(error, dict):
        raise InvalidServerAnswerError("the MCP server sent an error that is not an object")
    code, message = error.get("code"), error.get("message", "")
    if isinstance(code, bool) or not isinstance(code, int) or abs(code) >= 2**53 or not isinstance(message, str):
        raise InvalidServerAnswerError("the MCP server sent an error without a code and a message")
    return ServerError(code, message[:TEXT_CHARACTERS_MAX], error.get("data"), status=status)
