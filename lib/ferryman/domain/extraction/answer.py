"""Answers of the quarantined model: read strictly, since the text that it has read may have told it what to answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, NoReturn

from ferryman.domain.extraction.schema import ITEMS_DEFAULT, LENGTH_DEFAULT
from ferryman.domain.json_tree import is_unicode

ANSWER_CHARACTERS_MAX = 20_000
INTEGER_MAX = 2**53 - 1
"""The largest whole number that every reader of JSON has."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_EMAIL = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){1,8}", re.ASCII)


class ExtractionAnswerError(ValueError):
    """An answer is not of the form, or its value not of the schema; the text has names of the schema, and nothing of the
    answer."""


class ValueNotFoundError(Exception):
    """The quarantined model says that the text has no such value."""


def read_answer(text: str, schema: Mapping[str, Any]) -> Any:
    """Return the value of an answer: of `{"found": true, "value": …}`.

    Raise `ExtractionAnswerError`, or `ValueNotFoundError` for `{"found": false}`.
    """
    if len(text) > ANSWER_CHARACTERS_MAX:
        raise ExtractionAnswerError(f"the answer has more than {ANSWER_CHARACTERS_MAX:,} characters")
    try:
        answer = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_read_object)
    except (ValueError, RecursionError):
        raise ExtractionAnswerError("the answer is not one JSON value") from None
    if not isinstance(answer, dict) or not isinstance(answer.get("found"), bool):
        raise ExtractionAnswerError("the answer is no object with found")
    if answer["found"] is False and set(answer) == {"found"}:
        raise ValueNotFoundError
    if answer["found"] is not True or set(answer) != {"found", "value"}:
        raise ExtractionAnswerError("the answer has other members than found and value")
    _check(answer["value"], schema, "value")
    return answer["value"]


def _check(value: Any, schema: Mapping[str, Any], where: str) -> None:
    fault = _RULES[schema["type"]](value, schema)
    if fault is not None:
        raise ExtractionAnswerError(f"{where} {fault}")
    if schema["type"] == "object":
        for name, inner in schema["properties"].items():
            _check(value[name], inner, f"{where}.{name}")
    elif schema["type"] == "array":
        for index, item in enumerate(value):
            _check(item, schema["items"], f"{where}[{index}]")


def _check_object(value: Any, schema: Mapping[str, Any]) -> str | None:
    is_fit = isinstance(value, dict) and value.keys() == schema["properties"].keys()
    return None if is_fit else "must be an object with exactly the properties of its schema"


def _check_array(value: Any, schema: Mapping[str, Any]) -> str | None:
    most = schema.get("maxItems", ITEMS_DEFAULT)
    return None if isinstance(value, list) and len(value) <= most else f"must be a list of at most {most} items"


def _check_string(value: Any, schema: Mapping[str, Any]) -> str | None:
    most = schema.get("maxLength", LENGTH_DEFAULT)
    if not isinstance(value, str) or len(value) > most or not is_unicode(value):
        return f"must be a text of at most {most:,} characters"
    if "enum" in schema and value not in schema["enum"]:
        return "must be one of the choices of its schema"
    kind = schema.get("format")
    return None if kind is None or _FORMATS[kind](value) else f"must be a text of the format {kind}"


def _check_integer(value: Any, schema: Mapping[str, Any]) -> str | None:
    if type(value) is not int or abs(value) > INTEGER_MAX:
        return "must be a whole number"
    return _check_bounds(value, schema)


def _check_number(value: Any, schema: Mapping[str, Any]) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > INTEGER_MAX:
        return "must be a number"
    return _check_bounds(value, schema)


def _check_bounds(value: float, schema: Mapping[str, Any]) -> str | None:
    if value < schema.get("minimum", value) or value > schema.get("maximum", value):
        return "must be within the bounds of its schema"
    return None


def _check_boolean(value: Any, _: Mapping[str, Any]) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def _is_date(text: str) -> bool:
    try:
        return _DATE.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _is_moment(text: str) -> bool:
    try:
        return len(text) <= 40 and datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _is_email(text: str) -> bool:
    return len(text) <= 254 and _EMAIL.fullmatch(text) is not None


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError  # a name twice: which one counts is up to the reader
    return values


_FORMATS: Mapping[str, Callable[[str], bool]] = {"date": _is_date, "date-time": _is_moment, "email": _is_email}
_RULES: Mapping[str, Callable[[Any, Mapping[str, Any]], str | None]] = {
    "object": _check_object,
    "array": _check_array,
    "string": _check_string,
    "integer": _check_integer,
    "number": _check_number,
    "boolean": _check_boolean,
}
