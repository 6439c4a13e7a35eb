"""Firestore's own messages: what is stored by them is what Google's client stores, and reads."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.cloud.firestore_v1 import _helpers
from google.cloud.firestore_v1.types import document as types
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.receipts.receipt import ReceiptKind
from ferryman.gcp import wire
from tests.contracts.conftest import Stores, on_google_cloud
from tests.contracts.values import LATER, LEASE, apply_turn, open_execution, read_execution, receipts, turn

TIMES = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC))
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
PLAIN = st.none() | st.booleans() | NUMBERS | st.text() | st.binary() | TIMES
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(PLAIN, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)


def encode(value: Any) -> Any:
    field = types.Value.pb()()
    wire.encode(field, value)
    return field


@given(VALUES)
def test_a_value_is_written_as_googles_client_writes_it(value: Any) -> None:
    assert encode(value) == types.Value.pb(_helpers.encode_value(value))


@given(VALUES)
def test_a_value_is_read_as_it_was_written(value: Any) -> None:
    assert wire.decode(encode(value)) == value


@pytest.mark.parametrize("value", [object(), {1}, timedelta(1)])
def test_a_value_that_no_document_has_is_not_written(value: object) -> None:
    with pytest.raises(TypeError):
        encode(value)


def test_a_reference_is_not_read() -> None:
    with pytest.raises(ValueError, match="reference_value"):
        wire.decode(types.Value.pb()(reference_value="projects/p/databases/d/documents/c/x"))


@pytest.fixture
async def stores() -> AsyncIterator[Stores]:
    async with on_google_cloud() as stores:
        yield stores


@pytest.mark.parametrize("answer", ["heard", "lost"])
async def test_a_turn_that_was_stored_is_not_stored_again_where_its_answer_was_lost(stores: Stores, answer: str) -> None:
    execution = apply_turn(await open_execution(stores))
    entries, head = receipts(execution.receipts, ReceiptKind.REPLIED)
    execution, signed = replace(execution, receipts=head), replace(turn(), receipts=entries)
    for _ in range(2 if answer == "lost" else 1):
        await stores.executions.check(execution, now=LATER)
        after = await stores.executions.commit(execution, signed, now=LATER, lease=LEASE)
        assert after == await read_execution(stores)
    assert list(await stores.executions.receipts("exec_1")) == list(entries)
    assert [step.number for step in await stores.executions.steps("exec_1")] == [1]


async def test_another_turn_of_the_same_number_is_not_stored_over_the_first(stores: Stores) -> None:
    execution = apply_turn(await open_execution(stores))
    await stores.executions.commit(execution, turn(), now=LATER, lease=LEASE)
    await stores.executions.check(execution, now=LATER)
    with pytest.raises(Exception, match="already exists"):
        await stores.executions.commit(replace(execution, events=9), turn(), now=LATER, lease=LEASE)
    assert (await read_execution(stores)).events == execution.events
