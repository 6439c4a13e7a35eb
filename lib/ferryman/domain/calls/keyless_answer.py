"""What a function without keys says of a call: read strictly, since what it has parsed may have taken it over."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.calls.call import URL_CHARACTERS_MAX
from ferryman.domain.calls.model_use import ModelUse
from ferryman.domain.owners.user_changes import UserChanges, read_changes

SIZE_MAX = 2**53 - 1
"""Bytes of a response, as it is told: the largest integer that every reader of JSON has."""

_METHOD = re.compile(r"[A-Z]{1,16}", re.ASCII)
_URL = re.compile(r"[\x21-\x7e]*", re.ASCII)


class InvalidAnswerError(ValueError):
    """The answer is none. The text names the member, and has nothing of its value."""


@dataclass(frozen=True, slots=True)
class KeylessAnswer:
    """What a function without keys says of a call, and what of its user's documents it would change; `code` names a failure.

    A function with a network tells the `url` that it was answered by in the end, the `method`, the `response_status` and the
    `response_size_bytes`. `truncated` tells that `content` is not all there is, and says so itself. `about` is for the call's
    hook alone (`ferryman.tools.keyless.hook`): neither model nor record has it. `is_json` and `model_use`, what a model was
    asked for the call, are told by no function, but by this process alone.
    """

    content: str = field(repr=False)
    code: str | None = None
    changes: UserChanges = field(default_factory=UserChanges)
    url: str | None = field(default=None, kw_only=True, repr=False)
    method: str | None = field(default=None, kw_only=True)
    response_status: int | None = field(default=None, kw_only=True)
    response_size_bytes: int | None = field(default=None, kw_only=True)
    truncated: bool = field(default=False, kw_only=True)
    about: Mapping[str, Any] = field(default_factory=dict, kw_only=True, repr=False)
    is_json: bool = field(default=False, kw_only=True)
    model_use: ModelUse | None = field(default=None, kw_only=True)


def read_answer(document: Any) -> KeylessAnswer:
    """Return the answer that `document`, the JSON of a function, says.

    Members: `content`, `code` (a text, or null), and where the function has them `changes`, `url`, `method`, `response_status`,
    `response_size_bytes`, `truncated` and `about`. Raise `InvalidAnswerError`, or `UserChangesError` for invalid changes.
    """
    if not isinstance(document, Mapping):
        raise InvalidAnswerError("it is no object")
    values = {name: _read(name, document[name]) for name in _READERS if name in document}
    if "content" not in values or "code" not in document:
        raise InvalidAnswerError("content and code are needed")
    return KeylessAnswer(**values)


def _read(name: str, value: Any) -> Any:
    if value is None and name in _OPTIONAL:
        return None
    try:
        return _READERS[name](value)
    except TypeError:
        raise InvalidAnswerError(f"{name} is of another kind") from None


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _read_url(value: Any) -> str:
    if not isinstance(value, str) or len(value) > URL_CHARACTERS_MAX or not _URL.fullmatch(value):
        raise TypeError
    return value


def _read_method(value: Any) -> str:
    if not isinstance(value, str) or not _METHOD.fullmatch(value):
        raise TypeError
    return value


def _read_number(first: int, last: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or not first <= value <= last:
            raise TypeError
        return value

    return read


def _read_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _read_about(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError
    return value


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "content": _read_text,
    "code": _read_text,
    "changes": read_changes,
    "url": _read_url,
    "method": _read_method,
    "response_status": _read_number(100, 599),
    "response_size_bytes": _read_number(0, SIZE_MAX),
    "truncated": _read_flag,
    "about": _read_about,
}
_OPTIONAL = frozenset(("code", "url", "method", "response_status", "response_size_bytes"))
