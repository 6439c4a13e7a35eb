"""What executions ask of the cloud, counted by the services; what `ferryman cost` reckons with is no other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from bench.operations import measure
from bench.operations.bucket import classify
from bench.operations.counting import BATCH_READS, CLASS_A, CLASS_B, QUERIES, READS, REQUESTS, TRANSACTIONS, WRITES
from bench.operations.document import BYTES, COMMAND, PATH, build_parts
from bench.operations.page import (
    CALL_AMOUNTS,
    CALLS,
    PAGES,
    build_call_table,
    build_page_table,
    build_table,
    compute_price,
    read_table,
)
from bench.operations.services import ORCHESTRATOR, TOOL

Parts = Mapping[str, Mapping[str, Any]]
COMMITTED = json.loads(PATH.read_text())
TOLERANCE = 0.05
"""Of bytes, which depend on how long a number or a time is written."""


async def test_what_the_cost_is_reckoned_with_still_holds_and_does_not_grow_with_the_run() -> None:
    measured = await measure(4)
    call: Counter[str] = Counter()
    for (_, kind), count in measured.call.items():
        call[kind] += count
    # one of the written documents is the ticket, in the turn's own commit; each of the others is a request, and no transaction
    assert (call[WRITES], call[BATCH_READS], call[QUERIES], call[TRANSACTIONS], call[REQUESTS]) == (3, 1, 0, 0, 3)
    # the scan of a turn: one batch, whatever it needs
    assert measured.turn[TOOL, REQUESTS] == measured.turn[TOOL, BATCH_READS] == 1
    counted = [
        {key: n for key, n in part.items() if key[1] not in BYTES.values()} for part in (measured.turn, measured.late_turn)
    ]
    assert counted[0] == counted[1]
    turn = {kind: measured.turn[ORCHESTRATOR, kind] for kind in (REQUESTS, TRANSACTIONS, BATCH_READS, READS, QUERIES, WRITES)}
    # what may stop the model call is read before it; its turn is then one commit, for which nothing is read
    assert turn == {REQUESTS: 2, TRANSACTIONS: 1, BATCH_READS: 1, READS: 4, QUERIES: 0, WRITES: 4}
    assert differing(build_parts(measured), COMMITTED["parts"]) == {}, (
        f"measured now, and kept: `{COMMAND}` keeps what is true now"
    )


def test_the_page_shows_what_is_counted_besides() -> None:
    assert read_table() == build_table(COMMITTED["parts"])
    assert read_table(CALLS) == build_call_table(COMMITTED["parts"])
    assert read_table(PAGES) == build_page_table(COMMITTED["parts"])
    assert COMMITTED["parts"]["alert_repeat"]["requests"] == {"orchestrator": 1, "webhook": 1}


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("POST", "/upload/storage/v1/b/bucket/o", CLASS_A),
        ("GET", "/storage/v1/b/bucket/o", CLASS_A),
        ("GET", "/storage/v1/b/bucket/o/notes%2Fa.md", CLASS_B),
        ("DELETE", "/storage/v1/b/bucket/o/notes%2Fa.md", None),
    ],
)
def test_an_operation_of_the_bucket_is_of_the_class_that_it_is_billed_by(method: str, path: str, kind: str | None) -> None:
    assert classify(method, path) == kind


def test_a_thousand_calls_cost_what_they_ask_for() -> None:
    nothing = dict.fromkeys(CALL_AMOUNTS, 0)
    part = {**nothing, "class_a": 1, "class_b": 2, "file_bytes": 2**30, "requests": {}}
    assert compute_price(part) == Decimal("0.005") + 2 * Decimal("0.0004") + 1_000 * Decimal("0.020")


def test_a_count_that_changed_is_found_out() -> None:
    then = COMMITTED["parts"]
    one_more = {**then, "call": {**then["call"], "reads": then["call"]["reads"] + 1}}
    elsewhere = {**then, "turn": {**then["turn"], "requests": {"webhook": 1}}}
    larger = {**then, "call": {**then["call"], "stored_bytes": then["call"]["stored_bytes"] * 11 // 10}}
    assert [list(differing(now, then)) for now in (then, one_more, elsewhere, larger)] == [
        [],
        ["call.reads"],
        ["turn.requests"],
        ["call.stored_bytes"],
    ]


def test_a_key_is_fetched_once_by_each_instance_and_for_no_call() -> None:
    accesses = {name: part["accesses"] for name, part in COMMITTED["parts"].items()}
    assert {name: count for name, count in accesses.items() if count} == {"instance": 2}  # the tool's, and the orchestrator's


def differing(now: Parts, then: Parts) -> dict[str, tuple[Any, Any]]:
    """Return the measured and the recorded figures that differ."""
    assert now.keys() == then.keys()
    return {
        f"{name}.{key}": (value, then[name][key])
        for name, part in now.items()
        for key, value in part.items()
        if not (value == pytest.approx(then[name][key], rel=TOLERANCE, abs=20) if key in BYTES else value == then[name][key])
    }
