"""A task's own tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.client import answers
from ferryman.client.request import AnswerPage, ApiRequest, build_path, delete, get, post, read_as, read_page

IMPORT_S = 150.0
"""Documents of many megabytes are read, and what they refer to is fetched."""


def list_custom_tools(
    task: str,
    *,
    query: str | None = None,
    cluster: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> ApiRequest[AnswerPage[answers.CustomToolJson]]:
    """Return a page of the tools that the task's owner declared or imported, by cluster and name; those of one `cluster` alone,
    if you like.

    With a `query`, what a tool is to do or its name, the answer is one page of the tools that fit, the best first.
    """
    return get(build_path("tasks", task, "tools"), read_page("data"), query=query, cluster=cluster, limit=limit, cursor=cursor)


def import_tools(task: str, body: Mapping[str, Any]) -> ApiRequest[answers.ImportJson]:
    """Import an OpenAPI document. Return its tools under `data`, how many are disabled, tokens and notes."""
    path = build_path("tasks", task, "tools", "import-openapi")
    return post(path, read_as(answers.ImportJson), body, within_s=IMPORT_S)


def delete_tool(task: str, name: str) -> ApiRequest[None]:
    """Delete one of a task's own tools."""
    return delete(build_path("tasks", task, "tools"), id=name)


def delete_cluster(task: str, cluster: str) -> ApiRequest[None]:
    """Delete a cluster with all its tools."""
    return delete(build_path("tasks", task, "tools", "cluster", cluster))
