"""The API's answers to the console with other numbers in them: what a page shows is one of those, or wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ferryman.serving.api.access import KEY_DIGEST

NAMING = frozenset(
    [
        "after",
        "answer",
        "branch",
        "call",
        "edits",
        "end",
        "event",
        "first_call",
        "following",
        "head",
        "iteration",
        "key",
        "key_version",
        "number",
        "parent",
        "previous",
        "question",
        "receipt",
        "seq",
        "start",
        "status",
        "summarizes",
        "through",
        "titled_answer",
        "turn",
        "version",
    ]
)
"""Fields whose numbers name something: pages follow them, to the next message or to a call, and they stay as they are."""

DECIMAL = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,9})?", re.ASCII)
Place = tuple[str, ...]


@dataclass
class VariedAnswers:
    """Middleware in front of the API: each number of an answer to the console becomes another one."""

    app: ASGIApp
    record: AnswerRecord

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or KEY_DIGEST not in scope:
            await self.app(scope, receive, send)
            return
        start: Message = {}
        parts: list[bytes] = []

        async def hold(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                text = b"".join(parts)
                is_json = any(name.lower() == b"content-type" and b"json" in value for name, value in start["headers"])
                content = self.record.vary(scope["path"], scope["query_string"].decode(), text) if is_json else text
                headers = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
                await send({**start, "headers": [*headers, (b"content-length", str(len(content)).encode())]})
                await send({"type": "http.response.body", "body": content})

        await self.app(scope, receive, hold)


@dataclass
class AnswerRecord:
    """What the API answered, as the page was given it: path, query and body of each, whose numbers are all distinct."""

    following: int = 0
    step: int = 1
    answers: list[tuple[str, str, Any]] = field(default_factory=list)

    def begin(self, first: int, step: int) -> None:
        """Forget all answers; those that come have the number `first`, and each one more by `step` than the one before."""
        self.following, self.step = first, step
        self.answers.clear()

    def vary(self, path: str, query: str, text: bytes) -> bytes:
        """Return the JSON of an answer with other numbers."""
        body = self._vary(json.loads(text), "")
        self.answers.append((path, query, body))
        return json.dumps(body).encode()

    def _vary(self, value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {key: self._vary(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self._vary(item, name) for item in value]
        if name in NAMING or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str(Decimal(self._take()) / 10_000) if DECIMAL.fullmatch(value) else value
        if isinstance(value, float):
            return self._take() + 0.5
        return self._take() if isinstance(value, int) else value

    def _take(self) -> int:
        self.following += self.step
        return self.following - self.step


def list_leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """Yield every number and text of an answer as text, with the names of the fields that lead to it."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from list_leaves(item, (*place, str(key)))
    elif isinstance(value, list):
        for item in value:
            yield from list_leaves(item, place)
    elif not isinstance(value, bool) and value is not None:
        yield place, str(value)
