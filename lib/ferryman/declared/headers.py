"""Headers and bodies: which ones a declared tool may have, for its method and its type (S1-19 … S1-26)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ferryman.declared import templates
from ferryman.declared.fields import join_place, report
from ferryman.declared.templates import MalformedTemplateError
from ferryman.domain.http.headers import is_declarable_header, normalize_header
from ferryman.domain.http.parts import FILENAME_RULE, MEDIA_RULE, NAME_RULE, is_filename, is_part_media, is_part_name
from ferryman.domain.http.request import BodyType, Method, Template, Text
from ferryman.domain.json_tree import walk
from ferryman.domain.problem import Problem

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}", re.ASCII)
_PRINTABLE = re.compile(r"[\x20-\x7e]*", re.ASCII)
_JSON = re.compile(r"application/(?:json|[!#$&^_.+a-z0-9-]+\+json)\s*(?:;.*)?", re.IGNORECASE)
_FORM = re.compile(r"application/x-www-form-urlencoded\s*(?:;.*)?", re.IGNORECASE)
_PART = ("content", "filename", "content_type")
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
    if body_type is BodyType.MULTIPART:
        return "is set when the body is sent, with a boundary that nobody can know before"
    if body_type not in _MEDIA:
        return "is for a body, and body_type query sends none"
    pattern, expected = _MEDIA[body_type]
    return None if pattern.fullmatch(value) else f"must be {expected} for body_type {body_type}"


def find_body_problems(method: Method, body_type: BodyType, body: Any, where: str) -> Iterator[Problem]:
    """Yield what is wrong with `body`, except for the names in its templates."""
    if body is None:
        return
    if body_type is not BodyType.QUERY and not method.has_body:
        yield report(f"is not sent with {method}: only with POST, PUT, PATCH, DELETE, or with body_type query", where)
    if body_type is BodyType.JSON:
        yield from _find_templated_names(body, where)
    elif isinstance(body, Mapping) and body_type is BodyType.MULTIPART:
        for name, part in body.items():
            yield from _find_part_problems(name, part, where)
    elif isinstance(body, Mapping):
        yield from find_pair_problems(body, where)
    elif not _is_one_name(body):
        yield report(f"must be an object, or a single {{{{name}}}} whose value is an object, for body_type {body_type}", where)


def _find_part_problems(name: str, part: Any, where: str) -> Iterator[Problem]:
    """Yield what is wrong with a field of a multipart body: a value, a list of values, or a part that says what it is."""
    if "{{" in name or not is_part_name(name):
        yield report(f"has a field whose name is not {NAME_RULE}, written out", where)
    if not isinstance(part, Mapping):
        yield from find_nesting(part, where, name)
        return
    if "content" not in part or any(field not in _PART for field in part):
        yield report(
            "must be a value, or an object with content and, where it has them, filename and content_type", where, name
        )
        return
    yield from _find_templated_names(part["content"], join_place(where, name, "content"))
    for field, is_valid, rule in (("filename", is_filename, FILENAME_RULE), ("content_type", is_part_media, MEDIA_RULE)):
        text = part.get(field)
        if text is None:
            continue
        if not isinstance(text, str) or ("{{" not in text and not is_valid(text)):
            yield report(f"must be {rule}", where, name, field)
        elif any(placed.store is not None for _, placed, _ in templates.list_placed_names([(field, text)])):
            yield report("has a secret, which every log on the way would have: write it into the content", where, name, field)


def find_pair_problems(values: Mapping[str, Any], where: str) -> Iterator[Problem]:
    """Yield what keeps `values` from being the pairs of a query or a form."""
    yield from _find_templated_names(values, where)
    for name, value in values.items():
        if not name:
            yield report("has a parameter without a name", where)
        yield from find_nesting(value, where, name)


def find_nesting(value: Any, *place: object) -> Iterator[Problem]:
    """Yield a problem unless `value` is a scalar, or a list of scalars."""
    items = value if isinstance(value, list | tuple) else (value,)
    if any(isinstance(item, Mapping | list | tuple) for item in items):
        yield report("must be a text, a number, true, false, or a list of these", *place)


def _find_templated_names(value: Any, where: str) -> Iterator[Problem]:
    for path, _ in walk(value):
        if path and "{{" in str(path[-1]):
            yield report("has a template for a name: names must be written out", where, *path[:-1])


def _is_one_name(value: Any) -> bool:
    try:
        return isinstance(value, str) and templates.get_only_name(templates.parse(value)) is not None
    except MalformedTemplateError:
        return False
