"""Answers longer than is shown: all of their text is scanned in a worker, window by window, before any of it is kept."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from ferryman import offload
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import InboundResponse
from ferryman.egress.checking import CallChecker
from ferryman.framing.windows import CHARACTERS_READ, SCANNED_MAX
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import Answer, GateHarness, reply
from tests.egress.plants import HOST, NOTATIONS, VALUES, credential, outbound, policy

VALUE = VALUES["prefixed"]
CREDENTIALS = {"NEWS_KEY": credential(VALUE)}
MARK = "[redacted:NEWS_KEY]"
OUTBOUND = outbound()
SPELLINGS = ("base64", "hexadecimal", "percent", "reversed")


def respond(body: bytes, *, cut: bool = False, kind: str = "text/plain; charset=utf-8") -> InboundResponse:
    return InboundResponse(status=200, headers=(("content-type", kind),), body=body, cut=cut, size_bytes=len(body))


def build_checker(budget: offload.Budget = offload.TEXT) -> CallChecker:
    return CallChecker(policy=policy(), outbound=OUTBOUND, credentials=CREDENTIALS, budget=budget)


def insert(what: str, place: int, length: int = 140_000) -> bytes:
    """Return a text with `what` at a place."""
    text = "word " * (length // 5)
    return (text[:place] + what + text[place + len(what) :]).encode()


@pytest.mark.parametrize("place", [49_990, CHARACTERS_READ - 5, CHARACTERS_READ, 115_530, 139_900])
async def test_a_credential_at_the_edge_of_a_window_is_replaced(place: int) -> None:
    read = await build_checker().scan_long(respond(insert(VALUE, place)))
    assert read.text is not None
    assert (read.text.count(MARK), VALUE in read.text) == (1, False)


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_a_credential_in_another_spelling_across_two_windows_is_replaced(spelling: str) -> None:
    spelled = NOTATIONS[spelling](VALUE)
    read = await build_checker().scan_long(respond(insert(spelled, CHARACTERS_READ - len(spelled) // 2)))
    assert read.text is not None
    assert (MARK in read.text, spelled in read.text) == (True, False)


async def test_characters_that_nobody_sees_hide_no_credential() -> None:
    hidden = f"{VALUE[:9]}\u200b\u202e{VALUE[9:]}"
    read = await build_checker().scan_long(respond(insert(hidden, 90_000)))
    assert read.text is not None
    assert (read.text.count(MARK), "\u200b" in read.text) == (1, False)


async def test_no_more_is_scanned_than_may_be_kept() -> None:
    read = await build_checker().scan_long(respond(b"word " * 120_000))
    assert read.text is not None
    assert (len(read.text), read.is_cut, read.is_part) == (SCANNED_MAX, True, False)


async def test_an_answer_of_which_the_plan_admits_a_part_says_so() -> None:
    assert (await build_checker().scan_long(respond(insert(VALUE, 9), cut=True))).is_part


async def test_bytes_after_the_text_make_it_no_text() -> None:
    body = b"word " * 20_000 + bytes(range(256)) * 400
    assert (await build_checker().scan_long(respond(body, kind="application/octet-stream"))).text is None


async def test_an_answer_that_takes_more_than_its_budget_is_refused() -> None:
    with pytest.raises(CallRefusedError):
        await build_checker(replace(offload.TEXT, wall_s=0)).scan_long(respond(insert(VALUE, 9)))


async def send(harness: GateHarness, answer: Answer) -> bool:
    """Return whether a call may scan more than its result shows, once it was answered."""
    call = CallPolicy(execution=policy(), credentials=CREDENTIALS)
    async with harness.serve(HOST, answer):
        await harness.gate().send(OUTBOUND, call)
    return call.long.scan is not None


TEXT = ("content-type: text/plain",)


async def test_the_gate_notes_how_the_whole_of_a_long_answer_is_scanned(harness: GateHarness) -> None:
    assert await send(harness, reply(b"x" * 50_001, headers=TEXT))


async def test_an_answer_that_is_shown_whole_has_no_more(harness: GateHarness) -> None:
    assert not await send(harness, reply(b"x" * 50_000, headers=TEXT))


async def test_a_failure_has_no_more(harness: GateHarness) -> None:
    assert not await send(harness, reply(b"x" * 60_000, headers=TEXT, status="404 Not Found"))


async def test_an_answer_that_is_no_text_has_no_more(harness: GateHarness) -> None:
    assert not await send(harness, reply(bytes(range(256)) * 300, headers=("content-type: image/png",)))


async def test_a_bomb_is_scanned_as_far_as_the_plan_admits(harness: GateHarness) -> None:
    coded = (*TEXT, "content-encoding: gzip")
    call = CallPolicy(execution=policy(), credentials=CREDENTIALS, body_max=600_000)
    async with harness.serve(HOST, reply(gzip.compress(b"x" * 50_000_000, mtime=0), headers=coded)):
        await harness.gate().send(OUTBOUND, call)
    assert call.long.scan is not None
    read = await call.long.scan()
    assert read.text is not None
    assert (len(read.text), read.is_cut, read.is_part) == (SCANNED_MAX, True, True)


async def test_a_call_that_was_refused_after_a_long_answer_has_no_more(harness: GateHarness) -> None:
    call = CallPolicy(execution=policy(), credentials=CREDENTIALS)
    async with harness.serve(HOST, reply(b"x" * 60_000, headers=TEXT)):
        await harness.gate().send(OUTBOUND, call)
        await harness.gate().send(replace(OUTBOUND, url="https://evil.test/"), call)
    assert call.long.scan is None
