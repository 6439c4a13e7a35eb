"""The service: POST /v1/messages, the scripts it plays, and the record of what it was asked."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from emulator.messages import reply
from emulator.messages.rules import check_expected, check_request
from emulator.messages.script import Failure, ScriptStep, read_script
from emulator.reading import InvalidRequestError, read_object
from emulator.web import Receive, Scope, Send

REQUESTS_MAX = 10_000
DEFAULT = "default"


@dataclass(slots=True)
class _ScriptProgress:
    """A script and how far it has come."""

    steps: tuple[ScriptStep, ...]
    answered: Counter[int] = field(default_factory=Counter)
    failed: Counter[int] = field(default_factory=Counter)
    unexpected: list[str] = field(default_factory=list)


class _ScriptedError(Exception):
    """The error that the script wants here."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Messages:
    """
    The application, and its scripts by name. The model `scripted/<name>` answers from script `<name>` (`scripted` from
    `default`); the step is the number of assistant messages in the request, so a repeated request gets the same reply.
    `opens` says whether an API key is a good one.
    """

    def __init__(self, opens: Callable[[str], bool]) -> None:
        self._opens = opens
        self._scripts: dict[str, _ScriptProgress] = {}
        self._requests: deque[dict[str, Any]] = deque(maxlen=REQUESTS_MAX)

    def put(self, name: str, script: object) -> None:
        """Set a script, from JSON, and reset its counts; raise InvalidRequestError."""
        self._scripts[name] = _ScriptProgress(read_script(name, script))

    def remove(self, name: str) -> bool:
        """Forget a script; false if it was not there."""
        return self._scripts.pop(name, None) is not None

    def report(self, name: str) -> dict[str, Any] | None:
        """Return how often each step was answered and what differed from the script; None for an unknown script."""
        progress = self._scripts.get(name)
        if progress is None:
            return None
        unplayed = [f"step {n} was never played" for n in range(len(progress.steps)) if not progress.answered[n]]
        return {
            "name": name,
            "steps": [{"played": progress.answered[n], "errors": progress.failed[n]} for n in range(len(progress.steps))],
            "problems": [*progress.unexpected, *unplayed],
        }

    def names(self) -> list[str]:
        """Return the scripts there are."""
        return sorted(self._scripts)

    def requests(self) -> list[dict[str, Any]]:
        """Return the requests, oldest first: `body`, `script`, `step`, `status`, `problem`. No headers, so no key."""
        return list(self._requests)

    def forget(self) -> None:
        """Drop the record of requests."""
        self._requests.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, receive)
        try:
            raw = await request.body()
        except ClientDisconnect:
            return
        number = "req_" + sha256(raw).hexdigest()[:24]
        await self._answer(request, raw, number)(scope, receive, send)

    def _answer(self, request: Request, raw: bytes, number: str) -> Response:
        if not self._opens(_key(request)):
            needed = "an x-api-key or Authorization: Bearer header with the token of this local cloud is required"
            return _refusal(401, "authentication_error", needed, number)
        if (request.method, request.url.path) != ("POST", "/v1/messages"):
            return _refusal(404, "not_found_error", f"no {request.method} {request.url.path} here", number)
        record: dict[str, Any] = {"body": None, "script": None, "step": None, "status": 200, "problem": None}
        self._requests.append(record)
        try:
            if "anthropic-version" not in request.headers:
                raise InvalidRequestError("anthropic-version: header is required")
            body = record["body"] = _parse(raw)
            step = self._step(body, record)
        except _ScriptedError as scripted:
            record["status"] = scripted.failure.status
            return _failure(scripted.failure, number)
        except InvalidRequestError as error:
            record["status"], record["problem"] = 400, str(error)
            if progress := self._scripts.get(record["script"]):
                progress.unexpected.append(f"step {record['step']}: {error}" if record["step"] is not None else str(error))
            return _refusal(400, "invalid_request_error", str(error), number)
        whole = reply.message(step, body, number.replace("req_", "msg_"))
        if body.get("stream"):
            return _EventStream(_iterate_pieces(whole), media_type="text/event-stream", headers={"request-id": number})
        return JSONResponse(whole, headers={"request-id": number})

    def _step(self, body: Mapping[str, Any], record: dict[str, Any]) -> ScriptStep:
        model = body.get("model")
        family, _, name = (model if isinstance(model, str) else "").partition("/")
        record["script"] = (name or DEFAULT) if family == "scripted" else None
        check_request(body)
        if family != "scripted":
            raise InvalidRequestError(f"model: {model!r} is not scripted; name a script as scripted/<name>")
        progress = self._scripts.get(record["script"])
        if progress is None:
            raise InvalidRequestError(f"model: there is no script {record['script']!r}")
        at = sum(message["role"] == "assistant" for message in body["messages"])
        record["step"] = at
        if at >= len(progress.steps):
            raise InvalidRequestError(f"the script {record['script']!r} ends after {len(progress.steps)} steps")
        step: ScriptStep = progress.steps[at]
        check_expected(step.expect, body)
        if step.failure and progress.failed[at] < step.failure.times:
            progress.failed[at] += 1
            raise _ScriptedError(step.failure)
        progress.answered[at] += 1
        return step


def _key(request: Request) -> str:
    # The SDK sends it as a bearer token, other clients in the header of its own.
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return request.headers.get("x-api-key") or (token.strip() if scheme.lower() == "bearer" else "")


class _EventStream(StreamingResponse):
    """Events that are all known: nothing has to be watched while they are sent."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them; the server drops what a client that has gone does not take."""
        del scope, receive
        await self.stream_response(send)


async def _iterate_pieces(whole: Mapping[str, Any]) -> AsyncIterator[bytes]:
    for piece in reply.split_stream(reply.stream(whole)):
        yield piece


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        return read_object(json.loads(raw), "request")
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(f"The request body is not valid JSON: {error}") from error


def _refusal(status: int, kind: str, text: str, number: str) -> Response:
    return JSONResponse(reply.error(kind, text, number), status, headers={"request-id": number})


def _failure(failure: Failure, number: str) -> Response:
    response = _refusal(failure.status, failure.type, failure.message, number)
    if failure.retry_after_s is not None:
        response.headers["retry-after"] = f"{failure.retry_after_s:g}"
    return response
