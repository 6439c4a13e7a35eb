"""Executions of an archive that are spread over files, too large, or there twice."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX
from ferryman.domain.owners.plan import PRO
from ferryman.domain.tasks.task import MAX_TOKENS_LIMIT
from ferryman.domain.workspaces.imports import EXECUTION_BYTES_MAX, EXECUTION_LINES_MAX
from ferryman.loop.limits import SEARCHES_MAX
from ferryman.loop.sub_calls import CALLS_MAX
from tests.receipts.runs import RUNS, finish_run

from .conftest import Stage
from .importing import IMPORTS, Files, describe, read_values, send_files, spread_history, take_apart
from .test_events import finish
from .test_executions import started
from .test_export import default
from .test_importing import export_run, signed_archive  # noqa: F401 - a fixture

HISTORY, NEXT = "executions-000001.jsonl", "executions-000002.jsonl"


async def begin(client: httpx.AsyncClient, begins: dict[str, Any], files: Files) -> str:
    return str((await client.post(IMPORTS, json=describe(begins, files))).json()["workspace_id"])


def list_messages(answer: httpx.Response) -> str:
    assert answer.status_code == 422, answer.text
    return " ".join(error["message"] for error in answer.json()["errors"])


@pytest.mark.parametrize("name", RUNS)
async def test_an_execution_with_each_line_in_a_file_of_its_own_is_whole(client: httpx.AsyncClient, name: str) -> None:
    run = await finish_run(RUNS[name])
    begins, files = take_apart(await export_run(run))
    files = spread_history(files)
    workspace = await begin(client, begins, files)
    assert (await send_files(client, workspace, files)).json()["state"] == "active"
    client.headers["Ferryman-Workspace"] = workspace
    (listed,) = (await client.get("/v1/executions")).json()["executions"]
    place = f"/v1/executions/{listed['execution_id']}"
    assert (await client.get(f"{place}/record")).json() == run.record
    assert (await client.get(f"{place}/receipts")).json() == {**run.receipts, "next": None}


async def test_lines_and_bytes_are_counted_over_files(client: httpx.AsyncClient, signed_archive: bytes, stage: Stage) -> None:  # noqa: F811
    begins, files = take_apart(signed_archive)
    spread = spread_history(files)
    *most, _ = spread.items()
    workspace = await begin(client, begins, spread)
    await send_files(client, workspace, dict(most))
    imported = stage.memory.workspaces[workspace].imported
    assert imported is not None
    assert imported.run is not None
    lines = read_values(dict(most), "executions")
    assert imported.run.lines == len(lines)
    assert imported.run.size == sum(len(json.dumps(line, ensure_ascii=False).encode()) for line in lines)


@pytest.mark.parametrize(
    ("counted", "words"),
    [
        ({"lines": EXECUTION_LINES_MAX}, f"has {EXECUTION_LINES_MAX + 1} lines up to here, and at most {EXECUTION_LINES_MAX}"),
        ({"size": EXECUTION_BYTES_MAX}, f"bytes in UTF-8 up to here, and at most {EXECUTION_BYTES_MAX}"),
    ],
)
async def test_an_execution_above_the_limit_is_refused(
    client: httpx.AsyncClient,
    signed_archive: bytes,  # noqa: F811
    stage: Stage,
    counted: dict[str, int],
    words: str,
) -> None:
    begins, files = take_apart(signed_archive)
    files = spread_history(files)
    first = list(files).index(NEXT)
    workspace = await begin(client, begins, files)
    await send_files(client, workspace, dict(list(files.items())[:first]))
    stored = stage.memory.workspaces[workspace]
    assert stored.imported is not None
    assert stored.imported.run is not None
    full = replace(stored.imported, run=replace(stored.imported.run, **counted))
    stage.memory.workspaces[workspace] = replace(stored, imported=full)
    message = list_messages(await send_files(client, workspace, files, first=first))
    assert f"{NEXT} line 1: execution {stored.imported.run.execution}: " in message
    assert words in message


def test_what_runs_on_the_largest_plan_can_be_imported() -> None:
    turns, calls = PRO.iterations + 1, PRO.calls_per_execution + SEARCHES_MAX
    assert turns * (3 + 4 * CALLS_MAX) + 10 <= EXECUTION_LINES_MAX
    assert turns * MAX_TOKENS_LIMIT * 4 * 2 + calls * RESULT_CHARACTERS_MAX * 3 <= EXECUTION_BYTES_MAX


@pytest.fixture
async def pair(client: httpx.AsyncClient, task: str, stage: Stage) -> tuple[dict[str, Any], Files, list[list[bytes]]]:
    """An archive, and the lines of its two executions, which have no receipts."""
    for _ in range(2):
        finish(stage.memory, await started(client, task))
    begins, files = take_apart((await client.get(default())).content)
    executions: list[list[bytes]] = []
    for line in files[HISTORY].splitlines(keepends=True):
        if json.loads(line)["kind"] == "execution":
            executions.append([])
        executions[-1].append(line)
    return begins, files, executions


def date(lines: list[bytes], moment: str) -> list[bytes]:
    """Return the lines of an execution with another time at which it was created."""
    first = json.loads(lines[0])
    first["value"]["created_at"] = moment
    return [json.dumps(first, sort_keys=True, separators=(",", ":")).encode() + b"\n", *lines[1:]]


@pytest.mark.parametrize("is_spread", [False, True])
@pytest.mark.parametrize("moment", [None, "2020-01-01T00:00:00Z"])
async def test_an_execution_that_is_there_twice_is_refused(
    client: httpx.AsyncClient,
    pair: tuple[dict[str, Any], Files, list[list[bytes]]],
    is_spread: bool,
    moment: str | None,
) -> None:
    begins, files, (first, _) = pair
    again = first if moment is None else date(first, moment)
    parts = {HISTORY: first, NEXT: again} if is_spread else {HISTORY: [*first, *again]}
    files = {**files, **{name: b"".join(lines) for name, lines in parts.items()}}
    answer = await send_files(client, await begin(client, begins, files), files)
    assert "twice" in list_messages(answer)


async def test_executions_of_another_order_are_refused(
    client: httpx.AsyncClient, pair: tuple[dict[str, Any], Files, list[list[bytes]]]
) -> None:
    begins, files, (first, second) = pair
    files = {**files, HISTORY: b"".join([*second, *first])}
    answer = await send_files(client, await begin(client, begins, files), files)
    assert "is there twice, or not older than" in list_messages(answer)


async def test_a_file_whose_executions_were_stored_before_a_death_is_stored_again(
    client: httpx.AsyncClient, pair: tuple[dict[str, Any], Files, list[list[bytes]]], stage: Stage
) -> None:
    begins, files, _ = pair
    workspace = await begin(client, begins, files)
    *most, last = files.items()
    await send_files(client, workspace, dict(most))
    before = stage.memory.workspaces[workspace]
    await send_files(client, workspace, files, first=len(most))
    stage.memory.workspaces[workspace] = before  # what it died before writing
    answer = await send_files(client, workspace, dict([*most, last]), first=len(most))
    assert answer.json()["state"] == "active"
