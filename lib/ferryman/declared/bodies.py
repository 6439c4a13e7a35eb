"""Bodies: what a declared body may be for its method and its type (S1-19 … S1-26)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ferryman.declared import templates
from ferryman.declared.fields import at
from ferryman.declared.templates import MalformedTemplateError
from ferryman.domain.http.request import BodyType, Method
from ferryman.domain.problem import Problem


def problems(method: Method, body_type: BodyType, body: Any, where: str) -> Iterator[Problem]:
    """What is wrong with `body`, but for what its templates name."""
    if body is None:
        return
    if body_type is not BodyType.QUERY and not method.carries_body:
        yield Problem(field=where, message=f"is not sent with {method}: only with POST, PUT, PATCH, or with body_type query")
    if body_type is BodyType.JSON:
        yield from _names(body, where)
    elif isinstance(body, Mapping):
        yield from flat(body, where)
    elif not _one_name(body):
        yield Problem(field=where, message=f"must be an object, or one {{{{name}}}} that is one, for body_type {body_type}")


def flat(values: Mapping[str, Any], where: str) -> Iterator[Problem]:
    """What keeps `values` from being the pairs of a query or a form."""
    yield from _names(values, where)
    for name, value in values.items():
        if not name:
            yield Problem(field=where, message="has a parameter without a name")
        several = value if isinstance(value, list | tuple) else (value,)
        if any(isinstance(each, Mapping | list | tuple) for each in several):
            yield Problem(field=at(where, name), message="must be a text, a number, true, false, or a list of these")


def _names(value: Any, where: str) -> Iterator[Problem]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if "{{" in name:
                yield Problem(field=where, message="has a template for a name: names must be written out")
            yield from _names(inner, at(where, name))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _names(inner, at(where, index))


def _one_name(value: Any) -> bool:
    try:
        return isinstance(value, str) and templates.whole(templates.parse(value)) is not None
    except MalformedTemplateError:
        return False
