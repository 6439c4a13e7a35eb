"""Every route that takes an id is attempted with another's: for each kind of id, the isolation campaign has a victim."""

from __future__ import annotations

from typing import Any

import pytest

from tests.campaigns.isolation.belongings import ALONGSIDE, MAKERS
from tests.campaigns.isolation.surface import list_operations
from tests.serving.conftest import get_first_app

KINDS = MAKERS.keys() | ALONGSIDE


def find_unaimed(document: dict[str, Any]) -> list[str]:
    """Return the places for ids of which no side of the campaign has one."""
    return [
        f"{operation}, {place.name} in the {place.where}: no {place.kind} in tests/campaigns/isolation/belongings.py"
        for operation in list_operations(document)
        for place in operation.places
        if place.kind not in KINDS
    ]


def test_every_id_that_a_route_takes_has_a_victim() -> None:
    assert find_unaimed(get_first_app().openapi()) == []


@pytest.mark.parametrize(
    ("path", "operation"),
    [
        ("/v1/safes/{safe_id}", {}),
        ("/v1/tasks/{task_id}/notes/{number}", {}),
        ("/v1/tasks", {"parameters": [{"in": "query", "name": "safe_id", "schema": {"type": "string"}}]}),
        (
            "/v1/tasks",
            {
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {
                                    "of": {"type": "object", "properties": {"safe_id": {"anyOf": [{"type": "string"}]}}}
                                },
                            }
                        }
                    }
                }
            },
        ),
    ],
    ids=["path", "a path without _id", "query", "body"],
)
def test_a_route_with_an_id_of_a_new_kind_is_found(path: str, operation: dict[str, Any]) -> None:
    assert len(find_unaimed({"paths": {path: {"post": operation}}})) == 1
