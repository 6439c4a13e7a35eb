"""Routes of the console: the request that a page gets, and the page or redirect that it returns."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ferryman.domain.console_sessions.session import ConsoleSession
from ferryman.serving.console.api_client import ApiClient
from ferryman.serving.console.cookies import SignedSession
from ferryman.serving.console.forms import Form
from ferryman.serving.console.uploads import Upload

ROOT = "/console"
_NEXT = re.compile(rf"{ROOT}(?:/(?!\.|%2[eE])[A-Za-z0-9_.~%-]+)*", re.ASCII)
"""A path of the console, no part of which is empty or begins with a dot: it leads nowhere else."""

PARTS_HEADER = "ferryman-parts"
"""The header of a request for some elements of a page: their ids, separated by commas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleRequest:
    """A request of a person who is signed in. `params` are the parts of its path, `form` the fields of a change,
    and `upload` is the file of a form that brings one."""

    request: Request = field(repr=False)
    path: str
    session: ConsoleSession
    signed: SignedSession = field(repr=False)
    api: ApiClient = field(repr=False)
    now: datetime
    params: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    form: Form = field(default_factory=dict, repr=False)
    upload: Upload | None = field(default=None, repr=False)

    @property
    def is_partial(self) -> bool:
        """Whether an open page asks for some of its parts alone."""
        return PARTS_HEADER in self.request.headers

    def read_field(self, name: str) -> str:
        """Return the value of a field of the form, "" where it is not there. Raise 400 where it is there more than once."""
        values = self.form.get(name, ("",))
        if len(values) != 1:
            raise HTTPException(400, f"{name}: is in the form more than once")
        return values[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolePage:
    """The template that shows `values`, and the page's title; `cookies` are set with it, each as Starlette describes one."""

    template: str
    title: str
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    status: int = 200
    cookies: Sequence[Mapping[str, Any]] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """The answer to a successful change: another page, with the sentence of `notices` that `done` names.

    `path` may have a query.
    """

    path: str
    done: str = ""

    @property
    def target(self) -> str:
        """The address of the page, from the root."""
        return f"{self.path}{'&' if '?' in self.path else '?'}done={self.done}" if self.done else self.path


PageHandler = Callable[[ConsoleRequest], Awaitable[ConsolePage | Redirect | Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleRoute:
    """A page at `path` (`{name}` is an id, `{name:path}` anything), and the actions of its forms by their field `do`.

    `section` is the entry of the menu that it belongs to.
    """

    path: str
    show: PageHandler
    section: str = ""
    actions: Mapping[str, PageHandler] = field(default_factory=dict)


def check_next(path: str) -> str:
    """Return a path of the console that a form names as the page after it; any other is the overview."""
    return path if _NEXT.fullmatch(path) else ROOT


def find_relative(origin: str, target: str) -> str:
    """Return the relative reference from the page at the path `origin` to `target`, both from the root of this function.

    Whatever is in front of the function may serve it below a path of its own.
    """
    if not target.startswith("/"):
        return target
    return "../" * (origin.count("/") - 1) + (target[1:] or "./")
