"""Declared tools: the schema that the model reads, what tells one from another, and the limits of a task's clusters."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from ferryman.domain.http.request import Method
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.tools.declared import (
    CLUSTER_CHARACTERS_MAX,
    CLUSTERS_PER_TASK_MAX,
    TASK_BYTES_MAX,
    TOOLS_PER_TASK_MAX,
    Cluster,
    DeclaredTool,
    Parameter,
    ToolRow,
    build_cluster,
    check_cluster,
)
from tests.builders import build_tool

TEXT = {"type": "string"}
LOOK = DeclaredTool(
    name="look",
    url="https://a.test/{id}",
    parameters={"id": Parameter(schema=TEXT), "day": Parameter(schema={}, required=False)},
)


def test_the_model_reads_the_parameters_and_which_of_them_are_required() -> None:
    assert LOOK.schema == {
        "type": "object",
        "properties": {"id": TEXT, "day": {}},
        "required": ["id"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("change", [{"cluster": "x"}, {"enabled": False}, {"reason": "why"}, {"public_env": ("REGION",)}])
def test_a_tool_that_would_send_the_same_is_the_same(change: dict[str, Any]) -> None:
    assert replace(LOOK, **change).fingerprint == LOOK.fingerprint


@pytest.mark.parametrize("change", [{"name": "x"}, {"method": Method.HEAD}, {"headers": {"X": "1"}}, {"ok_statuses": (404,)}])
def test_a_tool_that_would_send_something_else_is_another(change: dict[str, Any]) -> None:
    assert replace(LOOK, **change).fingerprint != LOOK.fingerprint


def test_a_fingerprint_is_16_hexadecimal_digits_and_does_not_hang_on_the_order_of_names() -> None:
    headers = {"A": "1", "B": "2"}
    assert replace(LOOK, headers=headers).fingerprint == replace(LOOK, headers=dict(reversed(headers.items()))).fingerprint
    assert (len(LOOK.fingerprint), int(LOOK.fingerprint, 16) > 0) == (16, True)


def test_a_cluster_lists_its_tools_and_counts_their_bytes_as_json() -> None:
    off = replace(LOOK, name="off", enabled=False, reason="why")
    assert build_cluster("pets", 4, [LOOK, off]) == Cluster(
        name="pets",
        generation=4,
        rows=(
            ToolRow(name="look", fingerprint=LOOK.fingerprint, enabled=True),
            ToolRow(name="off", fingerprint=off.fingerprint, enabled=False),
        ),
        size_bytes=sum(len(json.dumps(asdict(tool))) for tool in (LOOK, off)),
    )


def cluster(name: str = "new", *tools: str, count: int = 0, size: int = 0) -> Cluster:
    """Return a cluster of the tools of these names, or of so many."""
    rows = [ToolRow(name=tool, fingerprint="f", enabled=True) for tool in tools or [f"{name}_{n}" for n in range(count)]]
    return Cluster(name=name, generation=1, rows=tuple(rows), size_bytes=size)


def list_problems(others: list[Cluster], stored: Cluster) -> list[tuple[str, str]]:
    try:
        check_cluster(others, stored)
    except InvalidInputError as error:
        return [(problem.field, problem.message) for problem in error.problems]
    return []


WITHIN: dict[str, tuple[list[Cluster], Cluster]] = {
    "clusters": ([cluster(str(number)) for number in range(CLUSTERS_PER_TASK_MAX - 1)], cluster()),
    "characters": ([], cluster("é" * CLUSTER_CHARACTERS_MAX)),
    "bytes": ([cluster("a", size=9), cluster("b", size=1)], cluster(size=TASK_BYTES_MAX - 10)),
    "tools": ([cluster("a", count=9), cluster("b", count=1)], cluster(count=TOOLS_PER_TASK_MAX - 10)),
    "names": ([cluster("a", "look")], cluster("new", "see")),
    "ungrouped": ([], cluster("")),
}
BEYOND: dict[str, tuple[list[Cluster], Cluster, tuple[str, str]]] = {
    "clusters": (
        [cluster(str(number)) for number in range(CLUSTERS_PER_TASK_MAX)],
        cluster(),
        ("cluster", "a task may have at most 50 clusters"),
    ),
    "characters": (
        [],
        cluster("x" * (CLUSTER_CHARACTERS_MAX + 1)),
        ("cluster", "must be at most 64 printable characters"),
    ),
    "a line break": ([], cluster("a\n"), ("cluster", "must be at most 64 printable characters")),
    "bytes": (
        [cluster("a", size=9), cluster("b", size=1)],
        cluster(size=TASK_BYTES_MAX - 9),
        ("tools", "the declared tools of a task may have at most 16777216 bytes as JSON, not 16777217"),
    ),
    "tools": (
        [cluster("a", count=9), cluster("b", count=1)],
        cluster(count=TOOLS_PER_TASK_MAX - 9),
        ("tools", "a task may have at most 2000 declared tools, not 2001"),
    ),
    "a name of another cluster": (
        [cluster("a", "look")],
        cluster("new", "see", "look"),
        ("tools.1.name", "look is taken by cluster 'a'"),
    ),
    "a name of the ungrouped tools": (
        [cluster("", "look")],
        cluster("new", "look"),
        ("tools.0.name", "look is taken by the ungrouped tools"),
    ),
    "a name twice": ([], cluster("new", "look", "look"), ("tools.1.name", "look is taken by cluster 'new'")),
}


@pytest.mark.parametrize("case", WITHIN)
def test_a_cluster_within_the_limits_of_its_task_is_stored(case: str) -> None:
    assert list_problems(*WITHIN[case]) == []


@pytest.mark.parametrize("case", BEYOND)
def test_a_cluster_beyond_them_is_refused_with_the_limit(case: str) -> None:
    others, stored, problem = BEYOND[case]
    assert list_problems(others, stored) == [problem]


def test_every_problem_of_a_cluster_is_told_at_once() -> None:
    fields = [field for field, _ in list_problems([cluster("a", "look")], cluster("x" * 65, "look", size=TASK_BYTES_MAX + 1))]
    assert fields == ["cluster", "tools", "tools.0.name"]


def test_a_tool_s_definition_has_its_name_its_description_and_its_schema() -> None:
    tool = build_tool(name="look", description="Looks.", schema={"type": "object"}, requires="news")
    assert tool.to_definition() == {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}
