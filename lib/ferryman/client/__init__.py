"""The client of the API, for Python programs: `Client` blocks, `AsyncClient` is awaited; both have the same methods.

Requests, retries, events and errors are described once, without any I/O (`routes`, `attempts`, `events`, `errors`); the two
clients only send what these describe, with httpx.
"""

from __future__ import annotations

from ferryman.client.answer_events import AnswerEvent
from ferryman.client.asynchronous import AsyncClient
from ferryman.client.attempts import RETRY_WAITS_S
from ferryman.client.errors import (
    ApiConflictError,
    ApiError,
    ApiFailedError,
    ApiForbiddenError,
    ApiInvalidError,
    ApiNotFoundError,
    ApiRateLimitedError,
    ApiRefusedError,
    ApiUnauthorizedError,
    ApiUnreachableError,
    FieldError,
)
from ferryman.client.events import StreamedEvent
from ferryman.client.request import PAGE_MAX, AnswerPage, Json
from ferryman.client.synchronous import Client

__all__ = [
    "PAGE_MAX",
    "RETRY_WAITS_S",
    "AnswerEvent",
    "AnswerPage",
    "ApiConflictError",
    "ApiError",
    "ApiFailedError",
    "ApiForbiddenError",
    "ApiInvalidError",
    "ApiNotFoundError",
    "ApiRateLimitedError",
    "ApiRefusedError",
    "ApiUnauthorizedError",
    "ApiUnreachableError",
    "AsyncClient",
    "Client",
    "FieldError",
    "Json",
    "StreamedEvent",
]
