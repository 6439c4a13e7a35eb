"""Evidence: everything that was received, asked, kept, queued and logged while the plays ran."""

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

from tests.hostile.perform import Performed
from tests.hostile.stage import Stage
from tests.hostile.upstream import Seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """`seen` are the hosts' connections; `prompts` the model's requests by script; `places` what else was kept, by where."""

    seen: Sequence[Seen] = field(repr=False)
    prompts: Mapping[str, Sequence[Mapping[str, Any]]] = field(repr=False)
    places: Mapping[str, Sequence[bytes]] = field(repr=False)


async def gathered(stage: Stage, performed: Sequence[Performed]) -> Evidence:
    """What there is once all plays have ended."""
    asked = await stage.admin.model_requests()
    prompts: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for each in asked:
        if each["body"] is not None and each["script"] is not None:
            prompts[each["script"]].append(each["body"])
    # the last prompt of an execution holds all before it
    last = [json.dumps(bodies[-1], ensure_ascii=False).encode("utf-8", "replace") for bodies in prompts.values()]
    files = await asyncio.to_thread(_files, stage)
    places = {
        "what the model was told": last,
        "an answer of the API": [said for each in performed for said in each.said],
        "the queue": [json.dumps(each).encode() for each in await stage.admin.delivered()],
        **files,
    }
    return Evidence(seen=list(stage.upstream.seen), prompts=prompts, places=places)


def _files(stage: Stage) -> dict[str, list[bytes]]:
    """The functions' logs and the services' own files: what Firestore and the queue hold on disk, row by row."""
    logs, kept = [], []
    for path in sorted(stage.data.rglob("*")):
        if path.is_file() and path.suffix == ".log":
            logs.append(path.read_bytes())
        elif path.is_file() and path.read_bytes()[:15] == b"SQLite format 3":
            kept += _rows(path)
    return {"a log": logs, "what Firestore and the queue keep": kept}


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
                b"\n".join(each if isinstance(each, bytes) else str(each).encode() for each in row)
                for table in tables
                for row in database.execute(f'select * from "{table}"')
            ]
