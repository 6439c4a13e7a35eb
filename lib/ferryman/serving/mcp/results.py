"""Results of methods: complete, waiting for input of the client, or a task that goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

CACHEABLE = frozenset(
    ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")
)
"""Methods whose complete results say how long they are fresh, and for whom."""


@dataclass(frozen=True, slots=True)
class Complete:
    """The result of a request that is done: `content` has the members of the result, without those of the protocol.

    `ttl_ms` is for how many milliseconds the client may use it again, and `scope` whether it is the caller's alone; both are
    sent for the methods in `CACHEABLE` alone.
    """

    content: Mapping[str, Any] = field(default_factory=dict)
    ttl_ms: int = 0
    scope: Literal["private", "public"] = "private"


@dataclass(frozen=True, slots=True)
class InputRequired:
    """The result of a request that needs input of the client first: `requests` by key, an object with `method` and `params`
    each, and the signed `state` that the client sends back with the same request (`states.sign_state`).

    One of them may be empty. For tools/call, resources/read and prompts/get alone.
    """

    requests: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    state: str | None = None


@dataclass(frozen=True, slots=True)
class TaskCreated:
    """The result of a tools/call that goes on as a task; `task` has the members of the extension's `Task`.

    The task must be stored before: tasks/get finds it. For clients that declare the extension alone.
    """

    task: Mapping[str, Any]


Result = Complete | InputRequired | TaskCreated


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification of the server: `method`, such as notifications/tools/list_changed, and its `params`."""

    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
