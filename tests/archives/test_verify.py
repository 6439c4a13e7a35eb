"""Verifying an archive offline: genuine as it was exported, and every other one is found out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ferryman.archives.writing import ArchiveWriter
from ferryman.cli.receipts import verify
from ferryman.domain.archives.lines import read_lines
from tests.receipts.runs import RUNS, finish_run
from tests.serving.conftest import Stage
from tests.serving.test_export import export

from .forge import WHOLE, unpack

EXECUTIONS = "executions-000001.jsonl"


@pytest.fixture
async def archive() -> bytes:
    run = await finish_run(RUNS["with_calls"])
    keys = {int(version): bytes.fromhex(key) for version, key in run.receipts["keys"].items()}
    return await export(Stage(memory=run.stage.memory, receipt_keys=keys), "o")


def rewrite(archive: bytes, change: Any) -> bytes:
    """Return the archive with `change` of the lines of its executions, with digests that fit again."""
    files = unpack(archive)
    manifest = json.loads(files.pop("manifest.json"))
    writer, parts = ArchiveWriter(), []
    for name, data in files.items():
        lines = [line for _, line in read_lines(name, data)]
        if name == EXECUTIONS:
            change(lines)
        parts.append(writer.add(name.partition("-")[0], lambda lines=lines: lines))
    about = {name: value for name, value in manifest.items() if name not in ("format", "files")}
    return b"".join([*parts, writer.end(about)])


def run_verify(tmp_path: Path, archive: bytes, *options: str) -> tuple[int, str]:
    path = tmp_path / "ws.tar.gz"
    path.write_bytes(archive)
    result = CliRunner().invoke(verify, [str(path), *options])
    return result.exit_code, result.output


def test_what_was_exported_is_whole_and_genuine(tmp_path: Path, archive: bytes) -> None:
    code, text = run_verify(tmp_path, archive)
    assert (code, text.splitlines()[0]) == (0, "The archive is whole: 1 execution, 1 of them whole and genuine.")


def test_keys_that_are_given_win_over_those_of_the_archive(tmp_path: Path, archive: bytes) -> None:
    code, text = run_verify(tmp_path, archive, f"--public-key=2:{'ab' * 32}")
    assert code == 1
    assert "e: NOT GENUINE: entry 0 (opened) does not bear a signature of version 2 of the key" in text


def test_a_record_that_was_changed_does_not_fit(tmp_path: Path, archive: bytes) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        lines[0]["value"]["output"] = "another answer"

    code, text = run_verify(tmp_path, rewrite(archive, change))
    assert code == 1
    assert text.startswith("e: DOES NOT FIT: execution, events/")


def test_receipts_without_their_last_are_genuine_so_far(tmp_path: Path, archive: bytes) -> None:
    code, text = run_verify(tmp_path, rewrite(archive, lambda lines: lines.pop(-2)))
    assert code in (1, 3)
    assert "e: " in text


def test_an_archive_that_was_cut_short_is_not_whole(tmp_path: Path, archive: bytes) -> None:
    assert run_verify(tmp_path, archive[:-20]) == (1, "NOT WHOLE: the archive: was cut short\n")


def test_an_archive_without_executions_is_whole(tmp_path: Path) -> None:
    code, text = run_verify(tmp_path, WHOLE)
    assert (code, text.splitlines()[0]) == (0, "The archive is whole: 0 executions, 0 of them whole and genuine.")


def test_a_line_that_is_none_of_an_execution_is_named(tmp_path: Path, archive: bytes) -> None:
    code, text = run_verify(tmp_path, rewrite(archive, lambda lines: lines[0].update(owner="bob")))
    assert (code, text.partition(":")[0]) == (1, "NOT WHOLE")
    assert "executions-000001.jsonl line 1: is no line of an execution" in text
