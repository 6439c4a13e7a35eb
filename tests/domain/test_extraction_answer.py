"""Answers of the quarantined model: exactly a value of the schema, or none; a fault says nothing of what was answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferryman.domain.extraction.answer import (
    ANSWER_CHARACTERS_MAX,
    INTEGER_MAX,
    ExtractionAnswerError,
    ValueNotFoundError,
    read_answer,
)
from ferryman.domain.extraction.schema import ITEMS_DEFAULT, LENGTH_DEFAULT

TEXT, SECRET = {"type": "string"}, "obey-me"
MAIL, DAY, MOMENT = ({"type": "string", "format": kind} for kind in ("email", "date", "date-time"))
PAIR = {"type": "object", "properties": {"a": {"type": "integer"}, "b": TEXT}}
BOUNDED = {"type": "number", "minimum": 1, "maximum": 2}


def answer(value: Any, schema: dict[str, Any]) -> Any:
    return read_answer(json.dumps({"found": True, "value": value}), schema)


def refuse(text: str, schema: dict[str, Any]) -> str:
    with pytest.raises(ExtractionAnswerError) as refused:
        read_answer(text, schema)
    return str(refused.value)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("é\n", TEXT),
        ("x" * LENGTH_DEFAULT, TEXT),
        ("a", {**TEXT, "enum": ["a", "b"]}),
        ("ann@mail.example", MAIL),
        ("2024-02-29", DAY),
        ("2026-11-24T09:00:00+02:00", MOMENT),
        ("2026-11-24T09:00:00Z", MOMENT),
        (INTEGER_MAX, {"type": "integer"}),
        (1, BOUNDED),
        (2.0, BOUNDED),
        (False, {"type": "boolean"}),
        ({"a": 1, "b": ""}, PAIR),
        ([], {"type": "array", "items": TEXT}),
        ([{"a": 1, "b": "x"}] * ITEMS_DEFAULT, {"type": "array", "items": PAIR}),
    ],
)
def test_a_value_of_its_schema_is_returned(value: Any, schema: dict[str, Any]) -> None:
    assert answer(value, schema) == value


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (None, TEXT),
        (1, TEXT),
        ("x" * (LENGTH_DEFAULT + 1), TEXT),
        ("xx", {**TEXT, "maxLength": 1}),
        ("\ud800", TEXT),
        (SECRET, {**TEXT, "enum": ["a"]}),
        (f"ann@mail.example {SECRET}", MAIL),
        ("ann@mail.example\n", MAIL),
        ("ann@localhost", MAIL),
        ("änn@mail.example", MAIL),
        (f"ann@{'a' * 60}.{'b' * 60}.{'c' * 60}.{'d' * 60}.{'e' * 60}", MAIL),
        ("2026-02-30", DAY),
        ("20261124", DAY),
        ("2026-11-24T00:00", DAY),
        ("２０２６-11-24", DAY),
        ("2026-11-24T09:00:00", MOMENT),
        (SECRET, MOMENT),
        (True, {"type": "integer"}),
        (1.0, {"type": "integer"}),
        ("1", {"type": "integer"}),
        (INTEGER_MAX + 1, {"type": "integer"}),
        (True, {"type": "number"}),
        (0.99, BOUNDED),
        (2.01, BOUNDED),
        (0, {"type": "boolean"}),
        ({"a": 1}, PAIR),
        ({"a": 1, "b": "x", SECRET: SECRET}, PAIR),
        ([1, "x"], PAIR),
        ({"0": "a"}, {"type": "array", "items": TEXT}),
        ([""] * (ITEMS_DEFAULT + 1), {"type": "array", "items": TEXT}),
        (["", SECRET * 100], {"type": "array", "items": TEXT}),
    ],
)
def test_a_value_of_another_schema_is_refused_and_not_repeated(value: Any, schema: dict[str, Any]) -> None:
    fault = refuse(json.dumps({"found": True, "value": value}), schema)
    assert fault.startswith("value")
    assert SECRET not in fault


def test_a_fault_names_the_place_by_the_schema() -> None:
    fault = refuse(
        json.dumps({"found": True, "value": [{"a": 1, "b": ""}, {"a": SECRET, "b": ""}]}), {"type": "array", "items": PAIR}
    )
    assert fault == "value[1].a must be a whole number"


@pytest.mark.parametrize(
    "text",
    [
        "",
        SECRET,
        '{"found": true, "value": "a"} ' + SECRET,
        '```json\n{"found": true, "value": "a"}\n```',
        "[" * 100_000,
        '{"found": true, "value": NaN}',
        '{"found": true, "value": Infinity}',
        '{"found": true, "value": ' + "9" * 5_000 + "}",
        '{"found": true, "value": "a", "value": "b"}',
        '{"found": true, "found": false, "value": "a"}',
        "[]",
        '"a"',
        "null",
        "{}",
        '{"value": "a"}',
        '{"found": 1, "value": "a"}',
        '{"found": "true", "value": "a"}',
        '{"found": true}',
        '{"found": false, "value": "a"}',
        '{"found": true, "value": "a", "note": "obey-me"}',
        '{"found": true, "value": "' + "a" * ANSWER_CHARACTERS_MAX + '"}',
    ],
)
def test_an_answer_of_another_form_is_refused_and_not_repeated(text: str) -> None:
    assert SECRET not in refuse(text, TEXT)


def test_a_value_that_is_not_there_is_no_fault() -> None:
    with pytest.raises(ValueNotFoundError):
        read_answer('{"found": false}', TEXT)
