"""What a queue or a task must be like to be accepted, and what is filled in where nothing is said."""

import re
from datetime import datetime, timedelta
from typing import Any

from google.cloud import tasks_v2
from grpc import StatusCode

from emulator.delivery import is_local
from emulator.rpc import RpcError, invalid
from emulator.storage import micros

QUEUE = re.compile(r"(projects/[^/]+/locations/[^/]+)/queues/[A-Za-z0-9-]{1,100}")
TASK = re.compile(r"(projects/[^/]+/locations/[^/]+/queues/[^/]+)/tasks/[A-Za-z0-9_-]{1,500}")
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE = re.compile(r"([!-~]([\t -~]*[!-~])?)?")
TASK_SIZE = 100 * 1024
URL_LENGTH = 2083
AHEAD = timedelta(days=30)
DEADLINE = timedelta(minutes=10)
DEADLINES_S = (15, 30 * 60)
BODILESS = {tasks_v2.HttpMethod.GET, tasks_v2.HttpMethod.HEAD, tasks_v2.HttpMethod.DELETE, tasks_v2.HttpMethod.OPTIONS}
RATE, CONCURRENT = 500, 5000
"""The most that a queue may be allowed: dispatches a second, and at once."""


def queue(expected: Any) -> None:
    """Complete a Queue in place. Raise INVALID_ARGUMENT for limits outside what a queue may have."""
    rates, retries = expected.rate_limits, expected.retry_config
    if not 0 <= rates.max_dispatches_per_second <= RATE:
        raise invalid(f"rate_limits.max_dispatches_per_second must be between 0 and {RATE}.")
    if not 0 <= rates.max_concurrent_dispatches <= CONCURRENT:
        raise invalid(f"rate_limits.max_concurrent_dispatches must be between 0 and {CONCURRENT}.")
    if expected.HasField("http_target") or expected.HasField("app_engine_routing_override"):
        raise RpcError(StatusCode.UNIMPLEMENTED, "Queue-level targets are not supported here.")
    rates.max_dispatches_per_second = rates.max_dispatches_per_second or RATE
    rates.max_concurrent_dispatches = rates.max_concurrent_dispatches or 1000
    rates.max_burst_size = max(1, min(100, int(rates.max_dispatches_per_second / 5)))
    retry(retries)


def retry(config: Any) -> None:
    """Complete a RetryConfig in place. Raise INVALID_ARGUMENT for limits that contradict each other."""
    if config.max_attempts < -1 or config.max_doublings < 0:
        raise invalid("retry_config.max_attempts must be at least -1, and max_doublings at least 0.")
    config.max_attempts = config.max_attempts or 100
    if not config.HasField("min_backoff"):
        config.min_backoff.FromMilliseconds(100)
    if not config.HasField("max_backoff"):
        config.max_backoff.FromSeconds(3600)
    config.max_doublings = config.max_doublings or 16
    if not 0 <= config.min_backoff.ToMicroseconds() <= config.max_backoff.ToMicroseconds():
        raise invalid("retry_config.min_backoff must not be negative, nor longer than max_backoff.")
    if config.max_retry_duration.ToMicroseconds() < 0:
        raise invalid("retry_config.max_retry_duration must not be negative.")


def task(expected: Any, parent: str, now: datetime) -> None:
    """Complete a Task in place, all but its name. Raise INVALID_ARGUMENT for what no task may be."""
    parts = TASK.fullmatch(expected.name)
    if expected.name and (parts is None or parts[1] != parent):
        raise invalid(f"The task name must be of the form {parent}/tasks/TASK_ID.")
    if expected.WhichOneof("message_type") != "http_request":
        raise RpcError(StatusCode.UNIMPLEMENTED, "Only tasks with an http_request are supported here.")
    if expected.ByteSize() > TASK_SIZE:
        raise invalid(f"The task is larger than {TASK_SIZE} bytes.")
    target(expected.http_request)
    if expected.HasField("retry_config"):
        retry(expected.retry_config)
    if not expected.HasField("dispatch_deadline"):
        expected.dispatch_deadline.FromTimedelta(DEADLINE)
    if not DEADLINES_S[0] * 1000 <= expected.dispatch_deadline.ToMilliseconds() <= DEADLINES_S[1] * 1000:
        raise invalid("The dispatch_deadline must be between [15s, 30m].")
    start = expected.schedule_time.ToMicroseconds() if expected.HasField("schedule_time") else 0
    if start > micros(now + AHEAD):
        raise invalid("The schedule_time must be at most 30 days in the future.")
    if start < micros(now):
        expected.schedule_time.FromDatetime(now)
    expected.create_time.FromDatetime(now)
    for field in ("dispatch_count", "response_count", "first_attempt", "last_attempt"):
        expected.ClearField(field)


def target(request: Any) -> None:
    """Complete an HttpRequest in place. Raise INVALID_ARGUMENT for one that could not be sent."""
    if not re.match(r"https?://[^/]", request.url) or len(request.url) > URL_LENGTH:
        raise invalid("The http_request.url must start with 'http://' or 'https://', with 2083 characters at most.")
    if not is_local(request.url):
        raise invalid("The http_request.url must name this machine: the local cloud calls nobody else.")
    for name, value in request.headers.items():
        if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
            raise invalid("The http_request.headers must have names and values that HTTP allows, in ASCII.")
    request.http_method = request.http_method or tasks_v2.HttpMethod.POST
    if request.body and request.http_method in BODILESS:
        raise invalid("The http_request.http_method does not allow a body.")
    if request.HasField("oauth_token"):
        raise RpcError(StatusCode.UNIMPLEMENTED, "OAuth tokens are not supported here; OIDC tokens are.")
    if request.HasField("oidc_token") and not request.oidc_token.service_account_email:
        raise invalid("The http_request.oidc_token.service_account_email is required.")
