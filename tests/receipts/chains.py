"""Chains to verify: of several shapes, made by the library itself and signed with keys of the tests' own."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

from ferryman.domain.receipts import receipt
from ferryman.domain.receipts.receipt import Fact, Head, ReceiptKind
from ferryman.vault.sign import SigningKey, generate_private_key

START = datetime(2026, 11, 21, 12, 0, 0, 5, tzinfo=UTC)
KEYS = {version: SigningKey(version, generate_private_key()) for version in (1, 2)}
OUTCOMES = ("answered", "refused:url_blocked", "failed", "in_doubt")

Document = dict[str, Any]


PLACE = {"workspace": "ws_1", "agent": "agent_1", "person": "person_1", "conversation": "talk"}


def public(keys: dict[int, SigningKey] = KEYS) -> dict[str, str]:
    return {str(version): key.public.hex() for version, key in keys.items()}


def chain(
    execution: str,
    turns: tuple[int, ...],
    *,
    closed: bool = True,
    unsettled: int = 0,
    rotated_at: int = 10_000,
    sub_calls: bool = False,
    placed: bool = True,
    keys: dict[int, SigningKey] = KEYS,
) -> Document:
    """Return the document of an execution whose turns made so many calls each; its last calls may never have settled.

    With `sub_calls` the first call of each turn asks for two others, one number after the turn's last: one is left out. Without
    `placed` it names no workspace, no agent and no person, as those from before there were any.
    """
    head, entries, at, seq, waiting = Head(), [], START, 0, []

    def enter(*facts: Fact) -> None:
        nonlocal head, at
        for fact in facts:
            key = keys[2 if head.count >= rotated_at else 1]
            receipts, head = receipt.append_receipts(head, [fact], execution=execution, at=at, key=key.version, sign=key.sign)
            entries.extend(entry.to_json() for entry in receipts)
            at += timedelta(milliseconds=1)

    def settle(calls: list[dict[str, Any]]) -> None:
        for call in calls:
            what = {"outcome": OUTCOMES[call["seq"] % 4], "credits": "0.5"}
            enter(Fact(ReceiptKind.SETTLED, {**call, **what}, {f"calls/{call['seq']}": [execution, call]}))

    enter(
        Fact(
            ReceiptKind.OPENED,
            PLACE if placed else {},
            {"opening": execution, "policy": None, "events/1": "started", f"ledger/{execution}.start": 1},
        )
    )
    for turn, calls in enumerate(turns, start=1):
        settle(waiting)
        waiting = [{"turn": turn, "seq": seq + offset, "parent": None, "tool": "http_get"} for offset in range(calls)]
        enter(Fact(ReceiptKind.REPLIED, {"turn": turn}, {f"steps/{turn}": [execution, turn]}))
        enter(*(Fact(ReceiptKind.PLANNED, call, {}) for call in waiting))
        seq += calls
        if sub_calls and waiting:
            asks = [{**waiting[0], "seq": seq + offset, "parent": waiting[0]["seq"]} for offset in (1, 2)]
            enter(*(Fact(ReceiptKind.PLANNED, call, {}) for call in asks))
            waiting, seq = [*asks, *waiting], seq + 3
    settle(waiting[: len(waiting) - unsettled])
    if closed:
        end = {"status": "completed", "credits": str(seq + 1), "count": head.count + 1}
        end |= {"cancelled_by": PLACE["person"]} if placed else {}
        enter(Fact(ReceiptKind.CLOSED, end, {"execution": execution, f"ledger/{execution}.end": seq}))
    used = {entry["key"] for entry in entries}  # a key that signed nothing could be changed without harm
    published = public({version: key for version, key in keys.items() if version in used})
    return copy.deepcopy({"format": "ferryman-receipts/2", "execution": execution, "entries": entries, "keys": published})


SHAPES: dict[str, Document] = {
    "without a call": chain("exec_0", (0,)),
    "one call": chain("exec_1", (1, 0)),
    "turns of many calls": chain("exec_2", (3, 1, 4, 0)),
    "long": chain("exec_3", (1,) * 12),
    "signed with two versions": chain("exec_4", (2, 2, 2), rotated_at=6),
    "with calls that asked for others": chain("exec_7", (2, 1, 0), sub_calls=True),
    "broken off with calls that never settled": chain("exec_5", (2, 3), unsettled=2),
}
SHAPES["from before there were workspaces"] = chain("exec_8", (1, 2), placed=False)
RUNNING = chain("exec_6", (2, 2), closed=False)
