"""Executions that ran on doubles, and their records as they come back from a bundle."""

from __future__ import annotations

import json

import pytest

from ferryman.domain.record import Record
from ferryman.serving import bundle
from ferryman.serving.api.shapes import record as shapes
from ferryman.wiring.replay import again
from tests.loop.conftest import Stage


def document(stage: Stage) -> dict:
    """The record of the stage's execution as the API answers it."""
    memory = stage.memory
    record = Record(
        execution=stage.execution,
        opening=memory.openings.get("e"),
        steps=[step for _, step in sorted(memory.steps.get("e", {}).items())],
        tickets=[ticket for _, ticket in sorted(memory.tickets.get("e", {}).items())],
        entries=sorted(memory.entries.values(), key=lambda entry: entry.at),
    )
    return json.loads(shapes.shown(record).model_dump_json())


async def otherwise(stage: Stage) -> list[str]:
    """What a replay of the stage's execution, from its bundle, does otherwise."""
    read = bundle.read(bundle.write(document(stage)))
    return bundle.differences(read, await again(read.record))


@pytest.fixture
def stage() -> Stage:
    return Stage()
