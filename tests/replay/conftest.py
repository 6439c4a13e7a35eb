"""Executions that ran on doubles, and their records as they come back from a bundle."""

from __future__ import annotations

import json

import pytest

from ferryman import verify_receipts
from ferryman.domain.records.record import Record
from ferryman.replay import run_replay
from ferryman.serving import bundle
from ferryman.serving.api.shapes import record as shapes
from tests.loop.conftest import Stage


def document(stage: Stage) -> dict:
    """Return the record of the stage's execution as the API answers it."""
    memory = stage.memory
    record = Record(
        execution=stage.execution,
        opening=memory.openings.get("e"),
        steps=[step for _, step in sorted(memory.steps.get("e", {}).items())],
        tickets=[ticket for _, ticket in sorted(memory.tickets.get("e", {}).items())],
        entries=sorted(memory.entries.values(), key=lambda entry: entry.at),
    )
    return json.loads(shapes.to_response(record).model_dump_json(exclude_unset=True))


async def otherwise(stage: Stage) -> list[str]:
    """Return what a replay of the execution, from its bundle, does otherwise; and what of its record no receipt covers."""
    record = document(stage)
    read = bundle.read_bundle(bundle.write_bundle(record))
    stored = stage.memory.receipts.get("e", {})
    chain = {"entries": [entry.to_json() for first in sorted(stored) for entry in stored[first]]}
    uncovered = [part for parts in verify_receipts.compare(chain, json.loads(json.dumps(record))) for part in parts]
    return bundle.find_differences(read, await run_replay(read.record)) + uncovered


@pytest.fixture
def stage() -> Stage:
    return Stage()
