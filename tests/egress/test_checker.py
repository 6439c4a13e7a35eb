"""The checks of one call in a worker process: what is told where they cost too much or fail, and what a worker is given."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.calls.suggestion import SUGGESTIONS
from ferryman.domain.http.request import InboundResponse, Method
from ferryman.egress import checking, checks
from ferryman.egress.checking import CallChecker
from ferryman.offload import TEXT, Budget
from tests.egress.plants import VALUES, credential, outbound, policy
from tests.offload import jobs

KEYS = {"NEWS_KEY": credential(VALUES["prefixed"])}
SHORT = Budget(cpu_s=0.1, wall_s=30, memory_bytes=TEXT.memory_bytes)
UNCHECKED = "Error: the call failed, and why could not be checked for credentials"
INBOUND = InboundResponse(status=418, headers=(), body=b"tea", size_bytes=9)


def check(**fields: object) -> CallChecker:
    defaults = {"policy": policy(), "outbound": outbound(method=Method.PUT), "credentials": KEYS, "budget": SHORT}
    return CallChecker(**{**defaults, **fields})  # type: ignore[arg-type]  # a table of fields


def limit_of(message: str) -> str:
    return message.rpartition(": ")[2]


async def test_the_answer_of_a_call_that_costs_too_much_is_told_by_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "build_result", jobs.worst)
    result = await check().build_result(INBOUND, "n0")
    limit = limit_of(result.content)
    assert "0.1 s of processor time" in limit
    assert result == ToolCallResult(
        tool="api_call",
        content=refusal.report_unchecked_answer(418, limit).message,
        method="PUT",
        response_status=418,
        response_size_bytes=9,
        ok=False,
        code="over_budget",
        suggestion=SUGGESTIONS["over_budget"],
    )


def fail(*_: object) -> None:
    raise KeyError("a secret")


@pytest.mark.parametrize("job", [jobs.worst, fail])
async def test_why_a_call_failed_is_told_without_its_texts_where_they_could_not_be_checked(
    job: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "build_refusal", job)
    result = await check().build_refusal(refusal.refuse_host("a-secret.test", ()))
    named = {"tool": "api_call", "method": "PUT", "content": UNCHECKED}
    blocked = {"blocked": True, "block_reason": "url_blocked", "code": "url_blocked"}
    assert result == ToolCallResult(**named, **blocked, ok=False, suggestion=SUGGESTIONS["url_blocked"])
    result = await check().build_refusal(refusal.report_failure("the connection broke"))
    assert result == ToolCallResult(**named, ok=False, code="request_failed", suggestion=SUGGESTIONS["request_failed"])


async def test_a_request_that_costs_too_much_is_refused_with_the_limit_that_it_broke(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "prepare_request", jobs.worst)
    with pytest.raises(CallRefusedError) as refused:
        await check().prepare_request()
    reason = refused.value.refusal
    assert "0.1 s of processor time" in limit_of(reason.message)
    assert reason == refusal.refuse_unchecked("request", limit_of(reason.message))


async def test_the_names_of_declared_tools_are_not_sent_to_a_worker() -> None:
    class Unsendable(dict[str, str]):
        def __reduce__(self) -> str:
            raise TypeError("too many names to send")

    prepared, url, _ = await check(policy=policy(declared=Unsendable(a="b")), budget=TEXT).prepare_request()
    assert (prepared.method, url) == (Method.PUT, outbound().url)


async def test_a_check_shows_nothing_of_a_call() -> None:
    text = repr(check())
    assert VALUES["prefixed"] not in text
    assert "NEWS_KEY" not in text


@pytest.mark.parametrize(
    ("what", "job", "ask"),
    [
        ("text", "redact_text", lambda: checking.redact("ann", [], "a")),
        ("document", "redact_document", lambda: checking.redact_document("ann", [], b"a")),
        ("model's turn", "scan_output", lambda: checking.scan_output("ann", [], [])),
        ("result", "frame_text", lambda: checking.frame_text("ann", [], "a")),
    ],
)
async def test_a_text_that_costs_too_much_is_refused_by_what_it_is(
    what: str, job: str, ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, job, jobs.worst)
    monkeypatch.setattr(checking.offload, "TEXT", SHORT)
    monkeypatch.setattr(checking.offload, "DOCUMENT", SHORT)
    monkeypatch.setattr(checking, "TURN", SHORT)
    with pytest.raises(CallRefusedError) as refused:
        await ask()  # type: ignore[misc]  # a coroutine
    reason = refused.value.refusal
    assert "0.1 s of processor time" in limit_of(reason.message)
    assert reason == refusal.refuse_unchecked(what, limit_of(reason.message))


def test_a_model_s_turn_may_wait_longer_and_costs_no_more() -> None:
    assert (checking.TURN.wall_s, checking.TURN.cpu_s, checking.TURN.memory_bytes) == (20, TEXT.cpu_s, TEXT.memory_bytes)
