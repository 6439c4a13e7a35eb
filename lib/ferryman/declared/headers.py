"""Headers: which ones an owner may set on a declared tool, and which values they may have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ferryman.declared.fields import report
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


def find_name_problem(name: str) -> str | None:
    """Return what is wrong with the name of a header, or None."""
    if not _TOKEN.fullmatch(name):
        return "must be an HTTP header name of at most 64 characters"
    if not is_declarable_header(name):
        return "is a header that frames or routes the request: an owner may not set it"
    return None


def find_literal_problem(text: str) -> str | None:
    """Return what is wrong with text in the value of a header, or None."""
    return None if _PRINTABLE.fullmatch(text) else "must be printable ASCII on one line"


def is_sendable(value: Text) -> bool:
    """Say whether `value` is one line of printable ASCII, not empty, without outer spaces."""
    pieces = value.pieces if isinstance(value, Template) else (value,)
    # The value of a credential is visible ASCII, so that its name can represent it here.
    line = "".join(piece if isinstance(piece, str) else piece.name for piece in pieces)
    return bool(line) and line == line.strip(" ") and _PRINTABLE.fullmatch(line) is not None


def find_header_problems(values: Mapping[str, str], body_type: BodyType, where: str) -> Iterator[Problem]:
    """Yield what is wrong with `values`, except for the names in their templates."""
    seen: set[str] = set()
    for name, value in values.items():
        fault = find_name_problem(name)
        if fault is None and normalize_header(name) in seen:
            fault = "is declared twice: gateways read an underscore as a hyphen, and capitals as small letters"
        seen.add(normalize_header(name))
        fault = fault or find_literal_problem(value)
        if fault is None and name.lower() == "content-type":
            fault = _find_media_problem(value, body_type)
        if fault is None and (value != value.strip(" ") or not value):
            fault = "must not be empty, nor begin or end with a space"
        if fault is not None:
            yield report(fault, where, name)


def _find_media_problem(value: str, body_type: BodyType) -> str | None:
    if "{{" in value:
        return "must be written out"
    if body_type not in _MEDIA:
        return "is for a body, and body_type query sends none"
    pattern, expected = _MEDIA[body_type]
    return None if pattern.fullmatch(value) else f"must be {expected} for body_type {body_type}"
