"""One attempt: the request that a task's worker gets, and what is noted of the answer."""

import base64
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import grpc
from google.cloud import tasks_v2

from emulator.identity import IdentityTokens

CODES = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    403: grpc.StatusCode.PERMISSION_DENIED,
    404: grpc.StatusCode.NOT_FOUND,
    409: grpc.StatusCode.ABORTED,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    500: grpc.StatusCode.INTERNAL,
    501: grpc.StatusCode.UNIMPLEMENTED,
    503: grpc.StatusCode.UNAVAILABLE,
    504: grpc.StatusCode.DEADLINE_EXCEEDED,
}
OURS = ("x-cloudtasks-", "x-google-", "x-appengine-")
"""Headers that a worker believes, so a task's maker may not write them."""


def find_method(task: Any) -> str:
    """Return the HTTP method by name."""
    return str(tasks_v2.HttpMethod(task.http_request.http_method).name)


def build_headers(task: Any, tokens: IdentityTokens) -> dict[str, str]:
    """Return the headers of the next attempt, their names in lower case."""
    request = task.http_request
    lowered = {name.lower(): value for name, value in request.headers.items()}
    forwarded = {name: value for name, value in lowered.items() if not name.startswith(OURS)}
    # They belong to the connection, and a worker must not be told two stories about where a request ends.
    for name in ("host", "content-length", "transfer-encoding", "connection"):
        forwarded.pop(name, None)
    if request.body:
        forwarded.setdefault("content-type", "application/octet-stream")
    queue, name = task.name.split("/queues/")[1].split("/tasks/")
    sent = {
        "User-Agent": "Google-Cloud-Tasks",
        "X-CloudTasks-QueueName": queue,
        "X-CloudTasks-TaskName": name,
        "X-CloudTasks-TaskRetryCount": str(task.dispatch_count),
        "X-CloudTasks-TaskExecutionCount": str(task.response_count),
        "X-CloudTasks-TaskETA": f"{task.schedule_time.ToMicroseconds() / 1e6:.6f}",
    }
    if request.HasField("oidc_token"):
        token = tokens.mint(request.oidc_token.service_account_email, request.oidc_token.audience or request.url)
        sent["Authorization"] = f"Bearer {token}"
    return forwarded | {name.lower(): value for name, value in sent.items()}


def describe(task: Any, headers: Mapping[str, str]) -> dict[str, object]:
    """Return the attempt as the admin answers it: without the token; a body that is no UTF-8 is in base64."""
    body: bytes = task.http_request.body
    seen = {name: "" if name == "authorization" else value for name, value in headers.items()}
    request = {"name": task.name, "method": find_method(task), "url": task.http_request.url, "headers": seen}
    try:
        return {**request, "body": body.decode()}
    except UnicodeDecodeError:
        return {**request, "body_base64": base64.b64encode(body).decode()}


def begin(task: Any, now: datetime) -> None:
    """Note on a Task that it is being sent."""
    task.dispatch_count += 1
    attempt = task.last_attempt
    attempt.Clear()
    attempt.schedule_time.CopyFrom(task.schedule_time)
    attempt.dispatch_time.FromDatetime(now)
    if task.dispatch_count == 1:
        task.first_attempt.dispatch_time.FromDatetime(now)


def record_answer(task: Any, status: int, now: datetime) -> None:
    """Note on a Task what its worker answered."""
    task.response_count += 1
    task.last_attempt.response_time.FromDatetime(now)
    code = grpc.StatusCode.OK if 200 <= status < 300 else CODES.get(status, grpc.StatusCode.UNKNOWN)
    task.last_attempt.response_status.code = code.value[0]
    task.last_attempt.response_status.message = f"HTTP status code {status}"


def record_failure(task: Any, now: datetime) -> None:
    """Note on a Task that no answer came."""
    task.last_attempt.response_time.FromDatetime(now)
    task.last_attempt.response_status.code = grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
