"""A request as the client describes it, before anything is sent, and how its answer is read."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote
from uuid import uuid4

import httpx

from ferryman.client.errors import ApiRefusedError, parse_problem
from ferryman.domain.ids import ID_ABOUT, is_id
from ferryman.settings import read_workspace

TIMEOUT_S = 30.0
LIMITS = httpx.Limits(keepalive_expiry=1.0)
"""A connection is closed before the server closes it, which the local API does after 2 s in which nobody uses it, and others
after 5: a request that meets its end may have been done, and one without an idempotency key is not sent again."""

NO_CONTENT = 204
PAGE_MAX = 100
"""What the service answers at most at once."""

KEY_HEADER = "Idempotency-Key"
WORKSPACE_HEADER = "Ferryman-Workspace"
OUTSIDE: Mapping[str, str] = {WORKSPACE_HEADER: ""}
"""Headers of what is asked in the key's own workspace, whichever the client acts in: nothing is found in a deleted one."""

_KEY = re.compile(r"[\x20-\x21\x23-\x5b\x5d-\x7e]{1,255}", re.ASCII)

Json = dict[str, Any]
Answer = TypeVar("Answer")
Item = TypeVar("Item")


def build_headers(key: str, workspace: str | None) -> dict[str, str]:
    """Return the headers of every request of a client that acts with `key` in `workspace`; "" is no key, as before one joins.

    Without a workspace, that of the environment counts; "" names none, so that the service takes the key's own. Raise
    `ValueError`, and `MisconfiguredError` where it is the environment that is wrong.
    """
    if workspace and not is_id(workspace):
        raise ValueError(f"workspace: must be the id of a workspace: {ID_ABOUT}")
    chosen = read_workspace() if workspace is None else workspace
    authorization = {"Authorization": f"Bearer {key}"} if key else {}
    return {**authorization, **({WORKSPACE_HEADER: chosen} if chosen else {})}


class AnswerPage(list[Item]):
    """Some items of a list of the service; `next` is the cursor of those after them, None on the last page."""

    def __init__(self, items: list[Item], next: str | None = None) -> None:  # noqa: A002 - the member's name in the API
        super().__init__(items)
        self.next = next


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest(Generic[Answer]):
    """A request to the API, and how its answer is read."""

    method: str
    path: str
    read: Callable[[Any], Answer]
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    content: bytes | None = field(default=None, repr=False)
    """In the place of a body of JSON."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    within_s: float = TIMEOUT_S
    repeatable: bool = False
    waits_for_turn: bool = False
    """Whether it is sent again where the service is busy (429 or 503) and says when: one of many, by a client that has time."""

    @property
    def is_keyed(self) -> bool:
        """Whether it may be sent again without a further effect."""
        return self.repeatable or KEY_HEADER in self.headers

    def parse(self, status: int, headers: Mapping[str, str], content: bytes) -> Answer:
        """Return what the service answered. Raise `ApiRefusedError`."""
        if status >= 400:
            raise parse_problem(status, headers, content)
        if status == NO_CONTENT:
            return self.read({})
        try:
            document = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ApiRefusedError(status, "the answer is not JSON: is this the URL of a Ferryman API?") from error
        return self.read(document)

    def with_query(self, **query: str) -> ApiRequest[Answer]:
        """Return the request with further parameters in its query."""
        return replace(self, query={**self.query, **query})

    def turn_page(self, cursor: str) -> ApiRequest[Answer]:
        """Return the request for the page at `cursor`."""
        return replace(self, query={**self.query, "cursor": cursor})


def generate_secret() -> str:
    """Return a secret of who joins a workspace, which decides their first API key: 256 random bits in base64url."""
    return secrets.token_urlsafe(32)


def get(
    path: str, read: Callable[[Any], Answer], *, headers: Mapping[str, str] | None = None, **query: object
) -> ApiRequest[Answer]:
    """Return a GET; parameters that are None are left out of its query."""
    chosen = {name: str(value) for name, value in query.items() if value is not None}
    return ApiRequest(method="GET", path=path, read=read, query=chosen, headers=headers or {})


def post(
    path: str,
    read: Callable[[Any], Answer],
    body: Mapping[str, Any] | None = None,
    *,
    key: str | None = None,
    headers: Mapping[str, str] | None = None,
    within_s: float = TIMEOUT_S,
) -> ApiRequest[Answer]:
    """Return a POST under the idempotency key `key`, a new one unless it is given: attempts at it have one effect."""
    if key is not None and not _KEY.fullmatch(key):
        raise ValueError("an idempotency key is 1 to 255 printable ASCII characters, without quotes and backslashes")
    keyed = {**(headers or {}), KEY_HEADER: f'"{key or uuid4()}"'}
    return ApiRequest(method="POST", path=path, read=read, body=body, headers=keyed, within_s=within_s)


def patch(path: str, read: Callable[[Any], Answer], body: Mapping[str, Any]) -> ApiRequest[Answer]:
    """Return a PATCH."""
    return ApiRequest(method="PATCH", path=path, read=read, body=body)


def put(path: str, read: Callable[[Any], Answer], body: Mapping[str, Any]) -> ApiRequest[Answer]:
    """Return a PUT."""
    return ApiRequest(method="PUT", path=path, read=read, body=body)


def delete_by_job(
    path: str, read: Callable[[Any], Answer], *, headers: Mapping[str, str] | None = None, **query: str
) -> ApiRequest[Answer]:
    """Return a DELETE whose work a job does: however often it is sent, it is answered with that job."""
    return ApiRequest(method="DELETE", path=path, read=read, query=query, headers=headers or {}, repeatable=True)


def delete(path: str, **query: str) -> ApiRequest[None]:
    """Return a DELETE whose answer says only that it was done."""
    return ApiRequest(method="DELETE", path=path, read=read_none, query=query)


def build_path(*parts: str) -> str:
    """Return the path of `parts` below the API's version; none of them reaches another route."""
    return "/".join(["/v1", *map(_quote, parts)])


def _quote(text: str) -> str:
    # a name of dots alone would be taken for a step up the path
    return quote(text, safe="") if text.strip(".") else "%00"


def read_as(_: type[Answer]) -> Callable[[Any], Answer]:
    """Return what takes an answer as it is, which the description of the API says to be of this type."""
    return lambda document: cast(Answer, document)


def read_page(name: str) -> Callable[[Any], AnswerPage[Any]]:
    """Return what reads a page of the list that an answer has under `name`."""
    return lambda document: AnswerPage(list(document[name]), document.get("next"))


def read_none(_: Any) -> None:
    """Ignore an answer that says only that it was done."""
