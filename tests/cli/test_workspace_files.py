"""`ferryman files`: what is stored comes back as it was, and no file on this machine is ever half of one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ferryman.client import ApiUnreachableError, AsyncClient
from ferryman.domain.files.writes import FILE_BYTES_MAX

from .conftest import Typed

CONTENT = bytes(range(256)) * 20_000


@pytest.fixture
def source(typed: Typed, tmp_path: Path) -> Path:
    """A file on this machine whose content is stored as reports/data.bin."""
    path = tmp_path / "data.bin"
    path.write_bytes(CONTENT)
    result = typed("files", "put", str(path), "reports/")
    assert result.exit_code == 0, result.output
    return path


def test_a_stored_file_is_listed_and_downloaded_as_it_was(typed: Typed, source: Path, tmp_path: Path) -> None:
    (row,) = json.loads(typed("files", "ls", "reports/", "--json").output)
    assert (row["key"], row["size_bytes"]) == ("reports/data.bin", len(CONTENT))
    folder = tmp_path / "here"
    folder.mkdir()
    result = typed("files", "get", "reports/data.bin", str(folder))
    assert (result.exit_code, (folder / "data.bin").read_bytes() == CONTENT) == (0, True)
    assert [path.name for path in folder.iterdir()] == ["data.bin"]


def test_a_deleted_file_is_gone(typed: Typed, source: Path) -> None:
    assert typed("files", "rm", "reports/data.bin").exit_code == 0
    again = typed("files", "rm", "reports/data.bin")
    assert (again.exit_code, "there is no such file" in again.output) == (5, True)
    assert typed("files", "get", "reports/data.bin").exit_code == 5


def test_a_file_is_stored_under_conditions(typed: Typed, source: Path) -> None:
    there = typed("files", "put", str(source), "reports/data.bin", "--if-absent")
    assert (there.exit_code, "of another version" in there.output) == (5, True)
    (row,) = json.loads(typed("files", "ls", "reports/", "--json").output)
    assert typed("files", "put", str(source), "reports/data.bin", "--if-match", row["etag"]).exit_code == 0
    assert typed("files", "put", str(source), "reports/data.bin", "--if-match", row["etag"]).exit_code == 5


def test_a_file_that_is_too_long_is_not_sent(typed: Typed, tmp_path: Path) -> None:
    source = tmp_path / "long"
    with source.open("wb") as file:
        file.truncate(FILE_BYTES_MAX + 1)
    result = typed("files", "put", str(source))
    assert (result.exit_code, "31,457,280 bytes" in result.output) == (5, True)


def break_off(monkeypatch: pytest.MonkeyPatch, times: int, after: int = 100_000) -> list[int]:
    """Have so many downloads break off after some bytes; return where each of all began."""
    download, starts = AsyncClient.download_file, list[int]()

    async def broken(self: AsyncClient, file: str, *, start: int = 0, etag: str | None = None) -> AsyncIterator[bytes]:
        starts.append(start)
        sent = 0
        async for part in download(self, file, start=start, etag=etag):
            if len(starts) <= times:
                yield part[: after - sent]
                sent += len(part)
                if sent >= after:
                    raise ApiUnreachableError("the download broke off")
            else:
                yield part

    monkeypatch.setattr(AsyncClient, "download_file", broken)
    return starts


def test_a_download_that_breaks_off_goes_on_where_it_was(
    typed: Typed, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts, out = break_off(monkeypatch, 2), tmp_path / "out.bin"
    assert typed("files", "get", "reports/data.bin", str(out)).exit_code == 0
    assert (starts, out.read_bytes() == CONTENT) == ([0, 100_000, 200_000], True)


def test_the_next_command_goes_on_and_until_then_the_file_is_as_it_was(
    typed: Typed, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts, out = break_off(monkeypatch, 5), tmp_path / "out.bin"
    out.write_bytes(b"the one before")
    assert typed("files", "get", "reports/data.bin", str(out)).exit_code == 1
    assert out.read_bytes() == b"the one before"
    assert typed("files", "get", "reports/data.bin", str(out)).exit_code == 0
    assert (starts[5], out.read_bytes() == CONTENT) == (500_000, True)
    assert sorted(path.name for path in tmp_path.glob("*.partial")) == []


def test_a_partial_file_of_another_version_is_not_gone_on_with(
    typed: Typed, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts, out = break_off(monkeypatch, 5), tmp_path / "out.bin"
    assert typed("files", "get", "reports/data.bin", str(out)).exit_code == 1
    source.write_bytes(CONTENT[::-1])
    assert typed("files", "put", str(source), "reports/").exit_code == 0
    assert typed("files", "get", "reports/data.bin", str(out)).exit_code == 0
    assert (starts[5], out.read_bytes() == CONTENT[::-1]) == (0, True)


@pytest.mark.parametrize("key", ["../../outside.txt", "/etc/outside.txt"])
def test_no_key_is_written_outside_of_the_folder_that_is_named(typed: Typed, source: Path, tmp_path: Path, key: str) -> None:
    assert typed("files", "put", str(source), key).exit_code == 0
    folder = tmp_path / "here"
    folder.mkdir()
    cleaned = key.replace("../", "").lstrip("/")
    assert typed("files", "get", cleaned, str(folder)).exit_code == 0
    assert [path.name for path in folder.iterdir()] == ["outside.txt"]


def test_a_link_is_told_with_what_it_is_good_for(typed: Typed, source: Path) -> None:
    result = typed("files", "link", "reports/data.bin", "--seconds", "60")
    assert (result.exit_code, "with this API key" in result.output) == (0, True)
    (line, _) = result.output.splitlines()
    assert "/v1/files/reports/data.bin?link=" in line


def test_a_direct_link_is_told_whole_on_one_line(typed: Typed, source: Path) -> None:
    answer = json.loads(typed("files", "link", "reports/data.bin", "--direct", "--json").output)
    lines = typed("files", "link", "reports/data.bin", "--direct").output.splitlines()
    assert answer["url"].startswith("https://memory.invalid/")
    assert (len(lines), lines[0].startswith("https://memory.invalid/"), "anybody who has it" in lines[1]) == (2, True, True)
    assert "signature=" in lines[0]
    assert typed("files", "link", "none.bin", "--direct").exit_code == 5
    assert typed("files", "link", "reports/data.bin", "--seconds", "901").exit_code == 2
