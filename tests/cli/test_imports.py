"""`ferryman workspace import`: what was exported becomes a workspace, once, also where it was interrupted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ferryman.client import ApiUnreachableError, AsyncClient
from ferryman.domain.workspaces.names import derive_default_workspace

from .conftest import Typed

WORKSPACE = derive_default_workspace("ann")


@pytest.fixture
def archive(typed: Typed, task: str, tmp_path: Path) -> Path:
    """The owner's default workspace, in a file."""
    file = tmp_path / "kitchen.tar.gz"
    assert typed("workspace", "export", WORKSPACE, "--out", str(file)).exit_code == 0
    return file


def list_workspaces(typed: Typed) -> list[dict[str, Any]]:
    listed = json.loads(typed("workspace", "list", "--json").output)
    return [item for item in listed if item["state"] == "importing"]


def test_an_archive_becomes_a_workspace(typed: Typed, archive: Path) -> None:
    result = typed("workspace", "import", str(archive), "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    assert document["state"] == "active"
    tasks = typed("task", "list", "--workspace", document["workspace_id"], "--json")
    assert tasks.exit_code == 0
    assert len(json.loads(tasks.output)) == document["counts"]["tasks"] > 0


def test_rules_by_which_nobody_was_asked_are_told(typed: Typed, task: str, tmp_path: Path) -> None:
    rules, file = tmp_path / "rules.yaml", tmp_path / "rules.tar.gz"
    rules.write_text("approvals:\n  - mode: never\n    tools: [http_post]\n")
    assert typed("workspace", "update", WORKSPACE, "--file", str(rules)).exit_code == 0
    assert typed("workspace", "export", WORKSPACE, "--out", str(file)).exit_code == 0
    result = typed("workspace", "import", str(file))
    assert result.exit_code == 0, result.output
    assert "To be decided here: rule 0 of the workspace" in result.output
    assert "was `never`, and is `when_untrusted`" in result.output


def test_what_was_interrupted_goes_on_in_the_same_workspace(
    typed: Typed, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = AsyncClient.put_import_file

    async def break_off(self: AsyncClient, workspace: str, number: int, name: str, content: bytes) -> Any:
        await store(self, workspace, number, name, content)
        if number == 1:
            raise ApiUnreachableError("nobody answers")

    with monkeypatch.context() as patch:
        patch.setattr(AsyncClient, "put_import_file", break_off)
        assert typed("workspace", "import", str(archive)).exit_code == 1
    (begun,) = list_workspaces(typed)
    result = typed("workspace", "import", str(archive), "--json")
    assert (result.exit_code, json.loads(result.output)["workspace_id"]) == (0, begun["workspace_id"])
    assert list_workspaces(typed) == []


def test_an_archive_that_was_cut_short_is_not_sent(typed: Typed, archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:-9])
    result = typed("workspace", "import", str(archive))
    assert (result.exit_code, "was cut short" in result.output) == (1, True)
    assert list_workspaces(typed) == []


def test_a_key_that_is_none_is_said(typed: Typed, archive: Path) -> None:
    result = typed("workspace", "import", str(archive), "--public-key", "1:zz")
    assert (result.exit_code, "is not VERSION:HEX" in result.output) == (1, True)
