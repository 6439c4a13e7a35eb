"""Workspaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.client import answers
from ferryman.client.request import (
    OUTSIDE,
    AnswerPage,
    ApiRequest,
    build_path,
    delete_by_job,
    get,
    patch,
    post,
    read_as,
    read_page,
)


def create_workspace(workspace: Mapping[str, Any], *, key: str | None = None) -> ApiRequest[answers.WorkspaceJson]:
    """Create a workspace, with the owner's own key alone; `key` is an idempotency key of yours."""
    return post(build_path("workspaces"), read_as(answers.WorkspaceJson), workspace, key=key)


def list_workspaces(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.WorkspaceJson]]:
    """Return a page of the workspaces that you can act in: all of the owner's, or the one of a person's key."""
    return get(build_path("workspaces"), read_page("workspaces"), limit=limit, cursor=cursor)


def get_workspace(workspace: str) -> ApiRequest[answers.WorkspaceJson]:
    """Return one workspace."""
    return get(build_path("workspaces", workspace), read_as(answers.WorkspaceJson))


def change_workspace(workspace: str, change: Mapping[str, Any]) -> ApiRequest[answers.WorkspaceJson]:
    """Change some settings of a workspace."""
    return patch(build_path("workspaces", workspace), read_as(answers.WorkspaceJson), change)


def archive_workspace(workspace: str) -> ApiRequest[answers.WorkspaceJson]:
    """Put a workspace aside: it can be read, and nothing in it is started or changed until it is restored."""
    return post(build_path("workspaces", workspace, "archive"), read_as(answers.WorkspaceJson))


def restore_workspace(workspace: str) -> ApiRequest[answers.WorkspaceJson]:
    """Make an archived workspace active again."""
    return post(build_path("workspaces", workspace, "restore"), read_as(answers.WorkspaceJson))


def delete_workspace(workspace: str) -> ApiRequest[answers.JobJson]:
    """Delete a workspace with everything in it; return the job that does so, whose receipt says what was deleted."""
    return delete_by_job(build_path("workspaces", workspace), read_as(answers.JobJson), headers=OUTSIDE)
