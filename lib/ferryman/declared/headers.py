"""Headers: which an owner may set on a declared tool, and what may stand in their values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ferryman.declared.fields import at
from ferryman.domain.http.headers import is_declarable_header, normalize_header
from ferryman.domain.http.request import BodyType, Template, Text
from ferryman.domain.problem import Problem

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}", re.ASCII)
_PRINTABLE = re.compile(r"[\x20-\x7e]*", re.ASCII)
_JSON = re.compile(r"application/(?:json|[!#$&^_.+a-z0-9-]+\+json)\s*(?:;.*)?", re.IGNORECASE)
_FORM = re.compile(r"application/x-www-form-urlencoded\s*(?:;.*)?", re.IGNORECASE)
_MEDIA = {
    BodyType.JSON: (_JSON, "application/json or …+json"),
    BodyType.FORM: (_FORM, "application/x-www-form-urlencoded"),
}


def name_problem(name: str) -> str | None:
    """What is wrong with a header's name, or None."""
    if not _TOKEN.fullmatch(name):
        return "must be an HTTP header name of at most 64 characters"
    if not is_declarable_header(name):
        return "is a header that frames or routes the request: it is not an owner's to set"
    return None


def media_problem(value: str, body_type: BodyType) -> str | None:
    """What is wrong with an explicit Content-Type for a body of `body_type`, or None."""
    if body_type not in _MEDIA:
        return "is for a body, and body_type query sends none"
    pattern, named = _MEDIA[body_type]
    return None if pattern.fullmatch(value) else f"must be {named} for body_type {body_type}"


def literal_problem(text: str) -> str | None:
    """What is wrong with a text that stands in a header's value, or None."""
    return None if _PRINTABLE.fullmatch(text) else "must be printable ASCII on one line"


def sendable(value: Text) -> bool:
    """Whether `value` is one line of printable ASCII without outer spaces, and something."""
    pieces = value.pieces if isinstance(value, Template) else (value,)
    # A credential's value is visible ASCII, so its name stands for it.
    shown = "".join(each if isinstance(each, str) else each.name for each in pieces)
    return bool(shown) and shown == shown.strip(" ") and _PRINTABLE.fullmatch(shown) is not None


def problems(values: Mapping[str, str], body_type: BodyType, where: str) -> Iterator[Problem]:
    """What is wrong with `values`, but for what their templates name."""
    seen: set[str] = set()
    for name, value in values.items():
        place = at(where, name)
        wrong = name_problem(name)
        if wrong is None and normalize_header(name) in seen:
            wrong = "stands twice: gateways read an underscore as a hyphen, and capitals as small letters"
        seen.add(normalize_header(name))
        wrong = wrong or literal_problem(value)
        if wrong is None and name.lower() == "content-type":
            wrong = "must be written out" if "{{" in value else media_problem(value, body_type)
        if wrong is not None:
            yield Problem(field=place, message=wrong)
        elif value != value.strip(" ") or not value:
            yield Problem(field=place, message="must be something, and not begin or end with a space")
