"""Bodies: what a declared body may be for its method and its type (S1-19 … S1-26)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ferryman.declared import templates
from ferryman.declared.fields import report
from ferryman.declared.templates import MalformedTemplateError
from ferryman.domain.http.request import BodyType, Method
from ferryman.domain.json_tree import walk
from ferryman.domain.problem import Problem


def find_body_problems(method: Method, body_type: BodyType, body: Any, where: str) -> Iterator[Problem]:
    """Yield what is wrong with `body`, except for the names in its templates."""
    if body is None:
        return
    if body_type is not BodyType.QUERY and not method.has_body:
        yield report(f"is not sent with {method}: only with POST, PUT, PATCH, or with body_type query", where)
    if body_type is BodyType.JSON:
        yield from _find_templated_names(body, where)
    elif isinstance(body, Mapping):
        yield from find_pair_problems(body, where)
    elif not _is_one_name(body):
        yield report(f"must be an object, or a single {{{{name}}}} whose value is an object, for body_type {body_type}", where)


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
