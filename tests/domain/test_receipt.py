"""Receipts: the chain of hashes, what an entry says, and the canonical form that is hashed."""

from __future__ import annotations

import hashlib
import json
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.receipts.receipt import (
    DOMAIN,
    GENESIS,
    Fact,
    Head,
    Receipt,
    ReceiptKind,
    append_receipts,
    canonicalize,
    classify_outcome,
    digest_value,
)

AT = datetime(2026, 11, 21, 14, 0, 0, 5, tzinfo=timezone(timedelta(hours=2)))
FACTS = [
    Fact(ReceiptKind.OPENED, {}, {"opening": {"b": 1, "a": "é"}, "policy": None}),
    Fact(ReceiptKind.SETTLED, {"seq": 0, "outcome": "answered"}, {"calls/0": [1.5]}),
]


def append(head: Head = Head(), facts: list[Fact] = FACTS) -> tuple[tuple[Receipt, ...], Head]:  # a frozen value
    return append_receipts(head, facts, execution="e", at=AT, key=3, sign=lambda digest: b"signed:" + digest)


def test_an_entry_says_where_it_belongs_what_happened_and_what_it_covers() -> None:
    (opened, settled), _ = append()
    assert {name: value for name, value in opened.to_json().items() if name not in ("hash", "signature")} == {
        "execution": "e",
        "number": 0,
        "kind": "opened",
        "at": "2026-11-21T12:00:00.000005Z",
        "covers": {"opening": digest_value({"a": "é", "b": 1}), "policy": digest_value(None)},
        "previous": GENESIS,
        "key": 3,
    }
    assert settled.to_json().items() >= {"number": 1, "kind": "settled", "seq": 0, "outcome": "answered"}.items()


def test_an_entry_s_hash_is_that_of_the_rest_of_it_and_is_signed() -> None:
    (opened, _), _ = append()
    document = opened.to_json()
    digest = hashlib.sha256(DOMAIN + canonicalize({k: v for k, v in document.items() if k not in ("hash", "signature")}))
    assert (document["hash"], document["signature"]) == (digest.hexdigest(), (b"signed:" + digest.digest()).hex())
    assert opened.digest() == digest.digest()


def test_an_entry_names_the_hash_of_the_one_before_it() -> None:
    receipts, head = append()
    assert [receipt.previous for receipt in receipts] == [GENESIS, receipts[0].hash]
    assert head == Head(count=2, hash=receipts[1].hash)


def test_a_chain_goes_on_from_its_head() -> None:
    _, head = append(facts=FACTS[:1])
    (second,), after = append(head, FACTS[1:])
    assert ((second,), after) == (append()[0][1:], append()[1])


def test_no_fact_makes_no_entry() -> None:
    assert append(Head(count=4, hash="ab"), []) == ((), Head(count=4, hash="ab"))


@pytest.mark.parametrize(
    ("result", "in_doubt", "outcome"),
    [
        (ToolCallResult("http_get", "", response_status=200), False, "answered"),
        (ToolCallResult("http_post", "", response_status=500), False, "answered"),
        (ToolCallResult.from_refusal("http_get", refusal.refuse_address("a.test")), False, "refused:dns_validation_failed"),
        (ToolCallResult.from_refusal("http_get", refusal.report_timeout(30)), False, "failed"),
        (ToolCallResult.from_refusal("http_post", refusal.report_timeout(30), method="POST"), True, "in_doubt"),
    ],
)
def test_the_outcome_of_a_call_is_one_of_four(result: ToolCallResult, in_doubt: bool, outcome: str) -> None:
    assert classify_outcome(result, in_doubt=in_doubt) == outcome


@pytest.mark.parametrize(
    ("value", "canonical"),
    [
        ({"b": [1, 1.0, True, None], "a": {}}, b'{"a":{},"b":[1,1.0,true,null]}'),
        ("é☂𝄞\n", b'"\\u00e9\\u2602\\ud834\\udd1e\\n"'),
        (10**30, b"1" + b"0" * 30),
        (1e30, b"1e+30"),
    ],
)
def test_a_value_has_one_canonical_form(value: Any, canonical: bytes) -> None:
    assert canonicalize(value) == canonical


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_has_none(value: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonicalize([value])


@given(st.dictionaries(st.text(), st.integers() | st.text()))
def test_the_digest_is_that_of_the_value_and_not_of_the_order_of_its_members(value: dict[str, Any]) -> None:
    turned = dict(reversed(value.items()))
    assert digest_value(value) == digest_value(turned) == hashlib.sha256(canonicalize(value)).hexdigest()
    assert json.loads(canonicalize(value)) == value


@pytest.mark.usefixtures("tokyo")
def test_the_time_of_an_entry_is_in_utc_whatever_the_zone() -> None:
    (utc, *_), _ = append_receipts(Head(), FACTS, execution="e", at=AT.astimezone(UTC), key=3, sign=bytes)
    assert utc.at == append()[0][0].at == "2026-11-21T12:00:00.000005Z"
