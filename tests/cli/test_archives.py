"""`ferryman workspace export`: the whole file or none."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ferryman.archives.reading import read_archive
from ferryman.client import ApiUnreachableError, AsyncClient
from ferryman.domain.workspaces.names import derive_default_workspace

from .conftest import Typed

WORKSPACE = derive_default_workspace("ann")


def test_a_workspace_is_written_to_one_file(typed: Typed, task: str, tmp_path: Path) -> None:
    file = tmp_path / "kitchen.tar.gz"
    result = typed("workspace", "export", WORKSPACE, "--out", str(file), "--json")
    assert result.exit_code == 0, result.output
    manifest, document = read_archive(io.BytesIO(file.read_bytes())), json.loads(result.output)
    assert (document["counts"], document["digest"]) == (dict(manifest.counts), manifest.digest())
    assert document["bytes"] == file.stat().st_size
    assert document["counts"]["tasks"] >= 1
    assert [path.name for path in tmp_path.iterdir()] == ["kitchen.tar.gz"]


def test_what_was_written_is_verified_offline(typed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "kitchen.tar.gz"
    typed("workspace", "export", WORKSPACE, "--out", str(file))
    result = typed("verify", str(file), FERRYMAN_URL="http://127.0.0.1:9")
    assert result.exit_code == 0
    files, whole = result.output.splitlines()[:2]
    assert files == "1 file, 6 bytes: each with the SHA-256 that the archive tells of it."
    assert whole.startswith("The archive is whole:")


def test_an_unknown_workspace_writes_nothing(typed: Typed, tmp_path: Path) -> None:
    result = typed("workspace", "export", "ws_none", "--out", str(tmp_path / "x.tar.gz"))
    assert result.exit_code == 5
    assert "there is no such workspace" in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fault", ["cut short", "unreachable"])
def test_what_breaks_off_leaves_the_file_as_it_was(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    file = tmp_path / "kitchen.tar.gz"
    file.write_bytes(b"the one before")
    export = AsyncClient.export_workspace

    async def break_off(self: AsyncClient, workspace: str) -> AsyncIterator[bytes]:
        whole = b"".join([part async for part in export(self, workspace)])
        yield whole[:-9]
        if fault == "unreachable":
            raise ApiUnreachableError("the export broke off")

    monkeypatch.setattr(AsyncClient, "export_workspace", break_off)
    result = typed("workspace", "export", WORKSPACE, "--out", str(file))
    assert result.exit_code == 1, result.output
    assert file.read_bytes() == b"the one before"
    assert [path.name for path in tmp_path.iterdir()] == ["kitchen.tar.gz"]


def test_a_folder_that_is_not_there_is_said(typed: Typed, tmp_path: Path) -> None:
    result = typed("workspace", "export", WORKSPACE, "--out", str(tmp_path / "none" / "x.tar.gz"))
    assert result.exit_code == 1
    assert "cannot be written" in result.output
