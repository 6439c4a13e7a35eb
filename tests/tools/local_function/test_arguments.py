"""What a local function is given: arguments that fit its schema, with its defaults; or a sentence names the fault."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ferryman.catalog.tools import TOOLS
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.tools.local_function.arguments import fit_arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "units": {"type": "string", "enum": ["metric", "us"], "default": "metric"},
        "days": {"type": "integer"},
        "height": {"type": "number"},
        "sea": {"type": "boolean"},
        "tags": {"type": "array"},
        "more": {"type": "object"},
        "any": {},
    },
    "required": ["city"],
}
TOOL = replace(TOOLS["calculator"], name="weather", schema=SCHEMA)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Error: 'city' field required for weather"),
        ({"city": 5}, "Error: 'city' for weather must be a string"),
        ({"city": None}, "Error: 'city' for weather must be a string"),
        ({"city": "a", "units": "kelvin"}, "Error: 'units' for weather must be one of metric, us"),
        *(({"city": "a", "days": days}, "Error: 'days' for weather must be an integer") for days in (1.5, True, "1")),
        *(({"city": "a", "height": height}, "Error: 'height' for weather must be a number") for height in (True, "1", None)),
        ({"city": "a", "sea": 1}, "Error: 'sea' for weather must be true or false"),
        ({"city": "a", "tags": "b"}, "Error: 'tags' for weather must be a list"),
        ({"city": "a", "more": []}, "Error: 'more' for weather must be an object"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CallRefusedError) as refused:
        fit_arguments(TOOL, arguments)
    assert (refused.value.refusal.message, refused.value.refusal.reason) == (message, "invalid_arguments")


def test_a_default_is_filled_in() -> None:
    assert fit_arguments(TOOL, {"city": "a"}) == {"city": "a", "units": "metric"}


@pytest.mark.parametrize("days", [0, 3, 3.0, 10**70])
def test_a_whole_number_is_an_integer_however_it_is_written(days: float) -> None:
    assert fit_arguments(TOOL, {"city": "a", "days": days})["days"] == days


def test_what_the_schema_does_not_have_is_the_functions_to_judge() -> None:
    assert fit_arguments(TOOL, {"city": "a", "other": [1], "any": None}).keys() == {"city", "other", "any", "units"}


@pytest.mark.parametrize("days", [float("inf"), float("nan"), float("-inf")])
def test_a_number_that_is_not_finite_is_no_integer(days: float) -> None:
    with pytest.raises(CallRefusedError, match="must be an integer"):
        fit_arguments(TOOL, {"city": "a", "days": days})
