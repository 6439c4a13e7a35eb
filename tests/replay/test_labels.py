"""The labels of an execution in its record: as they were stored, joined turn by turn, and the same in a replay."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ferryman.domain.labels.label import join
from ferryman.domain.records.record import Record
from ferryman.serving import bundle
from tests.loop.conftest import Stage, fetches, says
from tests.loop.test_labels import answer
from tests.replay.conftest import document, otherwise


async def read_record(stage: Stage, *replies: Any) -> Record:
    """Return the record of a run with these replies, as it comes back from a bundle."""
    stage.on_call = answer
    await stage.run(*replies)
    return bundle.read_bundle(bundle.write_bundle(document(stage))).record


async def test_the_record_tells_what_was_read_before_each_turn(stage: Stage) -> None:
    record = await read_record(stage, fetches(), says("", ("nothing", {})), fetches(2), says("done"))
    labels = [record.join_labels(step) for step in record.steps]
    assert [(label.integrity, [source.call for source in label.sources]) for label in labels] == [
        ("trusted", []),
        ("untrusted", [0]),
        ("untrusted", [0, 1]),
        ("untrusted", [0, 1, 2, 3]),
    ]
    assert all(join((lower, upper)) == upper for lower, upper in pairwise(labels))


async def test_a_source_is_the_tool_the_call_and_the_address_without_its_query(stage: Stage) -> None:
    record = await read_record(stage, fetches(), says("done"))
    (source,) = record.join_labels(record.steps[-1]).sources
    assert (source.tool, source.call, source.url, source.credential) == ("http_get", 0, "https://a.test/b", None)


async def test_labels_are_the_same_in_a_replay_and_every_one_is_under_a_receipt(stage: Stage) -> None:
    await read_record(stage, fetches(2), fetches(), says("done"))
    assert await otherwise(stage) == []


async def test_a_label_that_was_changed_since_is_found(stage: Stage) -> None:
    await read_record(stage, fetches(), fetches(), says("done"))
    text = bundle.write_bundle(document(stage)).replace('"integrity": "untrusted"', '"integrity": "trusted"')
    assert not bundle.read_bundle(text).intact
