"""`ferryman workspace` and `ferryman job`, typed beside an API on doubles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ferryman.cli import exits

from .conftest import Typed


@pytest.fixture
def workspace(typed: Typed) -> str:
    """A new workspace's id."""
    result = typed("workspace", "create", "--name", "Kitchen", "--tool", "http_get", "--max-credits-month", "5")
    assert result.exit_code == exits.DONE, result.output
    return result.output.strip()


def show(typed: Typed, workspace: str) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(typed("workspace", "show", workspace, "--json").output)
    return stored


def test_a_workspace_is_created_with_its_settings(typed: Typed, workspace: str) -> None:
    stored = show(typed, workspace)
    assert (stored["name"], stored["allowed_tools"], stored["max_credits_month"]) == ("Kitchen", ["http_get"], "5")


def test_the_default_workspace_is_listed_first(typed: Typed, workspace: str) -> None:
    listed = json.loads(typed("workspace", "list", "--json").output)
    assert listed[0]["is_default"] is True
    assert workspace in [item["workspace_id"] for item in listed]


def test_an_update_changes_what_is_named(typed: Typed, workspace: str) -> None:
    options = ("--name", "Cellar", "--all-tools", "--max-credits-month", "none", "--retention-days", "7")
    assert typed("workspace", "update", workspace, *options).exit_code == exits.DONE
    stored = show(typed, workspace)
    changed = {name: stored[name] for name in ("name", "allowed_tools", "max_credits_month", "retention_days")}
    assert changed == {"name": "Cellar", "allowed_tools": [], "max_credits_month": None, "retention_days": 7}


def test_settings_come_from_a_file_too(typed: Typed, workspace: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("name: Pantry\nretention_days: 3\n")
    typed("workspace", "update", workspace, "--file", str(file), "--retention-days", "4")
    assert (show(typed, workspace)["name"], show(typed, workspace)["retention_days"]) == ("Pantry", 4)


def test_days_that_are_no_number_are_refused(typed: Typed, workspace: str) -> None:
    result = typed("workspace", "update", workspace, "--retention-days", "many")
    assert (result.exit_code, "must be a whole number of days, or none" in result.output) == (exits.USAGE, True)


def test_a_workspace_is_archived_and_restored(typed: Typed, workspace: str) -> None:
    assert "archived" in typed("workspace", "archive", workspace).output
    refused = typed("workspace", "update", workspace, "--name", "Other")
    assert (refused.exit_code, "the workspace is archived" in refused.output) == (exits.REFUSED, True)
    assert "active" in typed("workspace", "restore", workspace).output


def test_a_deletion_says_what_goes_and_asks_for_the_name(typed: Typed, workspace: str) -> None:
    result = typed("workspace", "delete", workspace, "--no-wait", stdin="kitchen\n")
    assert result.exit_code == exits.USAGE
    assert f"This deletes {workspace} for good, with 0 tasks and 0 executions:" in result.output
    assert "that is not its name; nothing was deleted" in result.output
    assert show(typed, workspace)["state"] == "active"


def test_a_deletion_whose_name_is_typed_starts_its_job(typed: Typed, workspace: str) -> None:
    result = typed("workspace", "delete", workspace, "--no-wait", stdin="Kitchen\n")
    assert result.exit_code == exits.DONE, result.output
    assert "ferryman job show" in result.output
    assert typed("workspace", "show", workspace).exit_code == exits.REFUSED


def test_a_deletion_asks_nothing_where_that_is_said(typed: Typed, workspace: str) -> None:
    result = typed("workspace", "delete", workspace, "--yes", "--no-wait", "--json")
    assert json.loads(result.output)["kind"] == "delete_workspace"


@pytest.mark.parametrize("variables", [{}, {"FERRYMAN_WORKSPACE_ID": "the workspace"}], ids=["outside", "in the workspace"])
@pytest.mark.parametrize("options", [(), ("--yes",)])
def test_a_deletion_that_is_typed_again_follows_the_same_job(
    typed: Typed, workspace: str, options: tuple[str, ...], variables: dict[str, str]
) -> None:
    chosen = dict.fromkeys(variables, workspace)
    first = json.loads(typed("workspace", "delete", workspace, "--yes", "--no-wait", "--json", **chosen).output)
    again = typed("workspace", "delete", workspace, *options, "--no-wait", "--json", **chosen)
    assert again.exit_code == exits.DONE, again.output
    assert json.loads(again.output)["job_id"] == first["job_id"]


def test_the_default_workspace_is_not_deleted(typed: Typed) -> None:
    default = json.loads(typed("workspace", "list", "--json").output)[0]["workspace_id"]
    result = typed("workspace", "delete", default, "--yes")
    assert (result.exit_code, "the default workspace cannot be deleted" in result.output) == (exits.REFUSED, True)


def test_a_receipt_that_was_written_verifies(typed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    result = typed("job", "show", "job_ann", "--watch", "--receipt", str(file))
    assert result.exit_code == exits.DONE, result.output
    assert "deleted: 2 tasks, 1 workspace" in result.output
    assert "Genuine: ws_gone was deleted by" in typed("verify", str(file)).output


def test_jobs_are_listed(typed: Typed) -> None:
    assert "job_ann" in typed("job", "list").output


@pytest.mark.parametrize("words", [("show", "JOB"), ("show", "JOB", "--watch"), ("list",)], ids=["show", "watch", "list"])
def test_the_job_of_a_deletion_is_shown_where_the_environment_names_what_it_deletes(
    typed: Typed, workspace: str, words: tuple[str, ...]
) -> None:
    started = json.loads(typed("workspace", "delete", workspace, "--yes", "--no-wait", "--json").output)["job_id"]
    name = "job_ann" if "--watch" in words else started  # nobody runs the other one here
    result = typed("job", *(word.replace("JOB", name) for word in words), FERRYMAN_WORKSPACE_ID=workspace)
    assert (result.exit_code, name in result.output) == (exits.DONE, True), result.output
