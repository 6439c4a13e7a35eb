"""Evidence: everything that was received, asked, kept, queued and logged while the scenarios ran."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.campaigns.hostile.harness import Harness
from tests.campaigns.hostile.scenario_run import ScenarioRun
from tests.campaigns.hostile.spelling import fill
from tests.campaigns.hostile.upstream import ReceivedRequest

STORAGE = "what Firestore and the queue keep"
BUCKET = "the bucket"
API_ANSWERS = "an answer of the API"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """`seen` are the hosts' connections; `prompts` the model's requests by script; `places` what else was kept, by where."""

    seen: Sequence[ReceivedRequest] = field(repr=False)
    prompts: Mapping[str, Sequence[Mapping[str, Any]]] = field(repr=False)
    places: Mapping[str, Sequence[bytes]] = field(repr=False)


async def gather(harness: Harness, runs: Sequence[ScenarioRun]) -> Evidence:
    """Gather what there is once all scenarios have ended."""
    model_requests = await harness.admin.list_model_requests()
    prompts: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for entry in model_requests:
        if entry["body"] is not None and entry["script"] is not None:
            prompts[entry["script"]].append(entry["body"])
    # the last prompt of an execution holds all before it
    last = [json.dumps(bodies[-1], ensure_ascii=False).encode("utf-8", "replace") for bodies in prompts.values()]
    files = await asyncio.to_thread(_files, harness)
    places = {
        "what the model was told": last,
        API_ANSWERS: [answer for run in runs for answer in run.responses],
        "the queue": [json.dumps(delivery).encode() for delivery in await harness.admin.list_deliveries()],
        **files,
    }
    in_clear = {fill(name, run.words) for run in runs for name in run.scenario.clear}
    canned = [_read_request(row) for row in await harness.admin.list_requests() if row["host"] in in_clear]
    return Evidence(seen=[*harness.upstream.seen, *canned], prompts=prompts, places=places)


def _read_request(row: Mapping[str, Any]) -> ReceivedRequest:
    """Return a request that a host of the local cloud's own has received."""
    target = f"{row['path']}?{row['query']}" if row["query"] else row["path"]
    lines = [f"{row['method']} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in row["headers"])]
    return ReceivedRequest(row["host"], stranger=False, head="\r\n".join(lines).encode(), body=row.get("body", "").encode())


def _files(harness: Harness) -> dict[str, list[bytes]]:
    """Read the functions' logs and the services' own files: what Firestore and the queue hold on disk, row by row."""
    logs, rows, objects = [], [], []
    for path in sorted(harness.data.rglob("*")):
        if path.is_file() and path.suffix == ".log":
            logs.append(path.read_bytes())
        elif path.is_file() and path.read_bytes()[:15] == b"SQLite format 3":
            (objects if path.name.startswith("objects.") else rows).extend(_rows(path))
    return {"a log": logs, STORAGE: rows, BUCKET: objects}


def _rows(path: Path) -> list[bytes]:
    # a value that is longer than a page lies about in the file in pieces: the rows have it whole
    with tempfile.TemporaryDirectory() as folder:
        # the services hold theirs locked, so that a copy is read
        for file in path.parent.glob(f"{path.name}*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, folder)
        with closing(sqlite3.connect(Path(folder) / path.name)) as database:
            tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
            return [
                b"\n".join(item if isinstance(item, bytes) else str(item).encode() for item in row)
                for table in tables
                for row in database.execute(f'select * from "{table}"')
            ]
