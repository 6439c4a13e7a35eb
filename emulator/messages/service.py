"""The service: POST /v1/messages, the scripts it plays, and the record of what it was asked."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from emulator.messages import reply
from emulator.messages.cache import PromptCache
from emulator.messages.pacing import DELTA, BrokenOffError, pace_events
from emulator.messages.rules import check_expected, check_request, system_texts
from emulator.messages.script import Failure, ScriptStep, begins_again, locate_request, read_roles, read_script, repeat_step
from emulator.reading import InvalidRequestError, read_object
from emulator.web import Receive, Scope, Send

REQUESTS_MAX = 10_000
DEFAULT = "default"


@dataclass(slots=True)
class _ScriptProgress:
    """A script and how far it has come."""

    steps: tuple[ScriptStep, ...]
    begins_again: bool = False
    roles: Mapping[str, str] = field(default_factory=dict)
    answered: Counter[int] = field(default_factory=Counter)
    failed: Counter[int] = field(default_factory=Counter)
    broken: Counter[int] = field(default_factory=Counter)
    unexpected: list[str] = field(default_factory=list)


class _ScriptedError(Exception):
    """The error that the script wants here."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Messages:
    """
    The application, and its scripts by name. The model `scripted/<name>` answers from script `<name>` (`scripted` from
    `default`); the step is the number of assistant messages in the request, so a repeated request gets the same reply. A script
    with `each_question` counts those since the last message of a person: it says the same in every answer of a conversation.
    `opens` says whether an API key is a good one, `now` the time, by which what the prompt cache holds ends.
    """

    def __init__(self, opens: Callable[[str], bool], now: Callable[[], datetime] = partial(datetime.now, UTC)) -> None:
        self._opens = opens
        self._now = now
        self._cache = PromptCache()
        self._scripts: dict[str, _ScriptProgress] = {}
        self._requests: deque[dict[str, Any]] = deque(maxlen=REQUESTS_MAX)

    def put(self, name: str, script: object) -> None:
        """Set a script, from JSON, and reset its counts; raise InvalidRequestError."""
        self._scripts[name] = _ScriptProgress(
            read_script(name, script), begins_again=begins_again(script), roles=read_roles(script)
        )

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
        """Return the requests, oldest first: `at`, `body`, `script`, `step`, `status`, `problem`. No headers, so no key.

        Of one that was streamed at a pace also `deltas`, how many were sent, and `is_whole`, whether all were.
        """
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
        record["at"] = self._now().isoformat()
        self._requests.append(record)
        try:
            if "anthropic-version" not in request.headers:
                raise InvalidRequestError("anthropic-version: header is required")
            body = record["body"] = _parse(raw)
            step = self._step(body, record)
            cached = self._cache.use(body, self._now())
        except _ScriptedError as scripted:
            record["status"] = scripted.failure.status
            return _failure(scripted.failure, number)
        except InvalidRequestError as error:
            record["status"], record["problem"] = 400, str(error)
            if progress := self._scripts.get(record["script"]):
                progress.unexpected.append(f"step {record['step']}: {error}" if record["step"] is not None else str(error))
            return _refusal(400, "invalid_request_error", str(error), number)
        whole = reply.message(step, body, number.replace("req_", "msg_"), cached)
        if body.get("stream") and step.pace is not None:
            events = reply.stream(whole, step.pace.characters)
            paced = self._pace(events, step, record)
            return _PacedStream(paced, media_type="text/event-stream", headers={"request-id": number})
        if body.get("stream"):
            return _EventStream(_iterate_pieces(whole), media_type="text/event-stream", headers={"request-id": number})
        return JSONResponse(whole, headers={"request-id": number})

    async def _pace(self, events: Iterable[bytes], step: ScriptStep, record: dict[str, Any]) -> AsyncIterator[bytes]:
        """Yield the events of a step at its pace; the record counts those that were taken by the client."""
        assert step.pace is not None, "a step without a pace is streamed at once"
        progress = self._scripts[record["script"]]
        breaks = step.pace.breaks_after is not None and progress.broken[record["step"]] < step.pace.times
        progress.broken[record["step"]] += breaks
        record["deltas"] = 0
        async for event in pace_events(events, step.pace, breaks=breaks):
            yield event
            record["deltas"] += event.startswith(DELTA)
        record["is_whole"] = not breaks

    def _step(self, body: Mapping[str, Any], record: dict[str, Any]) -> ScriptStep:
        model = body.get("model")
        family, _, name = (model if isinstance(model, str) else "").partition("/")
        record["script"] = (name or DEFAULT) if family == "scripted" else None
        check_request(body)
        if family != "scripted":
            raise InvalidRequestError(f"model: {model!r} is not scripted; name a script as scripted/<name>")
        record["script"] = self._find_role(record["script"], body)
        progress = self._scripts.get(record["script"])
        if progress is None:
            raise InvalidRequestError(f"model: there is no script {record['script']!r}")
        place = locate_request(body["messages"])
        at = place.step if progress.begins_again else place.turn
        record["step"] = at
        if at >= len(progress.steps):
            raise InvalidRequestError(f"the script {record['script']!r} ends after {len(progress.steps)} steps")
        step = progress.steps[at]
        if progress.begins_again:
            step = repeat_step(step, place.turn)
        check_expected(step.expect, body)
        if step.failure and progress.failed[at] < step.failure.times:
            progress.failed[at] += 1
            raise _ScriptedError(step.failure)
        progress.answered[at] += 1
        return step

    def _find_role(self, name: str, body: Mapping[str, Any]) -> str:
        """Return the script that answers a request to the script `name`: of the first role whose text its system prompt has."""
        progress, system = self._scripts.get(name), "\n".join(system_texts(body))
        roles = progress.roles if progress is not None else {}
        return next((other for text, other in roles.items() if text in system), name)


def _key(request: Request) -> str:
    # The SDK sends it as a bearer token, other clients in the header of its own.
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return request.headers.get("x-api-key") or (token.strip() if scheme.lower() == "bearer" else "")


class _PacedStream(StreamingResponse):
    """Events that come by and by: they end where the client goes, and where the stream is to break off."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them; one that breaks off is never ended, so that the server closes the connection."""
        try:
            await super().__call__(scope, receive, send)
        except* BrokenOffError:
            pass


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
