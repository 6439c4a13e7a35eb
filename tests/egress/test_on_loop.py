"""Checks on the event loop: which texts, at what cost at most, and that they say what a worker would."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import worst
from ferryman import offload
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.http.request import InboundResponse, SecretPlaceholder, Template
from ferryman.egress import checks, on_loop
from ferryman.egress.checking import CallChecker, redact, scan_output
from ferryman.egress.leaks import SecretScanner, ShortBudget, StepsSpentError
from ferryman.egress.leaks.inflate import InflationLimitError
from ferryman.egress.leaks.scanner import PreparedCredential
from ferryman.egress.leaks.views import iterate_views
from tests.egress.leaks import corpus, notations
from tests.egress.plants import VALUES, credential, outbound, policy

KEYS = {"NEWS_KEY": credential(VALUES["prefixed"]), "OTHER_KEY": credential(VALUES["github"], "OTHER_KEY")}
SCANNER = SecretScanner(KEYS.values())
ORDINARY = json.dumps([{"id": number, "name": f"thing {number}", "at": "2026-01-07T10:00:00Z"} for number in range(16)])
WORST_AT_ONCE = 50
HEAVY = base64.b64encode(base64.b64encode(base64.b64encode(b"%26%23%36%35%3b" * 50))).decode()[: on_loop.CHARACTERS_MAX]


@pytest.fixture(autouse=True)
def _nobody_is_paused() -> Iterator[None]:
    on_loop.forget_pauses()
    yield
    on_loop.forget_pauses()


def answer(text: str) -> InboundResponse:
    return InboundResponse(status=200, headers=(), body=text.encode(), size_bytes=len(text))


async def test_an_ordinary_call_needs_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offload, "run", None)
    checker = CallChecker(policy=policy(), outbound=outbound(body={"q": ORDINARY}), credentials=KEYS)
    _, _, pieces = await checker.prepare_request()
    assert not pieces.ranges
    result = await checker.build_result(answer(ORDINARY), "n0")
    assert ORDINARY in result.content


async def test_an_ordinary_turn_of_a_model_needs_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offload, "run", None)
    call = {"type": "tool_use", "id": "toolu_1", "name": "http_get", "input": {"url": "https://api.news.test/pages/1"}}
    turn = [{"type": "text", "text": "I will read the next page, as the task says."}, call]
    assert await scan_output("ann", KEYS.values(), turn) == turn
    assert await scan_output("ann", KEYS.values(), [{"type": "text", "text": VALUES["prefixed"]}]) == [
        {"type": "text", "text": "[redacted:NEWS_KEY]"}
    ]


async def test_a_longer_turn_of_a_model_is_read_by_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[object] = []

    async def run(_owner: str, _budget: offload.Budget, function: object, *_: object) -> list[object]:
        handed.append(function)
        return []

    monkeypatch.setattr(offload, "run", run)
    await scan_output("ann", KEYS.values(), [{"type": "text", "text": "a" * on_loop.TURN_CHARACTERS_MAX}])
    assert handed == [checks.scan_output]


@pytest.mark.parametrize("text", [HEAVY, ORDINARY * 3])
async def test_a_text_that_takes_more_is_read_by_a_worker(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[object] = []

    async def run(_owner: str, _budget: offload.Budget, function: object, *_: object) -> str:
        handed.append(function)
        return "read"

    monkeypatch.setattr(offload, "run", run)
    assert await redact("ann", KEYS.values(), text) == "read"
    assert handed == [checks.redact_text]


async def test_an_owner_whose_text_took_more_has_none_read_here_for_a_while() -> None:
    arguments = (list(KEYS.values()), "plain")
    assert await on_loop.check("ann", KEYS.values(), checks.redact_text, *arguments) == "plain"
    assert await on_loop.check("ann", KEYS.values(), checks.redact_text, list(KEYS.values()), HEAVY) is on_loop.UNREAD
    assert await on_loop.check("ann", KEYS.values(), checks.redact_text, *arguments) is on_loop.UNREAD
    assert await on_loop.check("bob", KEYS.values(), checks.redact_text, *arguments) == "plain"


async def test_a_leak_is_refused_here_and_any_other_error_is_for_a_worker_to_tell() -> None:
    leaky = outbound(body={"q": VALUES["prefixed"]})
    with pytest.raises(CallRefusedError) as refused:
        await on_loop.check("ann", KEYS.values(), checks.prepare_request, leaky, KEYS, policy())
    assert refused.value.refusal.credential == "NEWS_KEY"
    assert await on_loop.check("ann", KEYS.values(), fail) is on_loop.UNREAD


def fail(**_: object) -> None:
    raise KeyError("what was read")


async def test_a_scanner_is_built_a_credential_at_a_time_and_dropped_in_time() -> None:
    checks.scanners.clear()
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    await on_loop.check("ann", KEYS.values(), checks.redact_text, list(KEYS.values()), "plain")
    counting.cancel()
    assert turns > len(KEYS)
    assert len(checks.scanners) == 1
    assert asyncio.get_running_loop() in on_loop._drops
    checks.scanners.clear()


async def test_calls_of_a_task_at_the_same_time_build_its_scanner_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checks.scanners.clear()
    prepared: list[str] = []

    def prepare(secret: Credential) -> PreparedCredential:
        prepared.append(secret.name)
        return PreparedCredential([], [], [])

    monkeypatch.setattr(on_loop.leaks, "prepare", prepare)
    arguments = (KEYS.values(), checks.redact_text, [*KEYS.values()], "plain")
    assert await asyncio.gather(*(on_loop.check("ann", *arguments) for _ in range(8))) == ["plain"] * 8
    assert prepared == list(KEYS)
    checks.scanners.clear()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("a" * on_loop.CHARACTERS_MAX,), True),
        (("a" * on_loop.CHARACTERS_MAX, "a"), False),
        (({"a" * 1_000: ["b" * 1_000]}, "c" * 48), True),
        (({"a" * 1_000: ["b" * 1_000]}, "c" * 49), False),
        ((b"a" * (on_loop.CHARACTERS_MAX + 1),), False),
        (([1] * (on_loop.VALUES_MAX - 1),), True),
        (([1] * on_loop.VALUES_MAX,), False),
        ((1 << 63,), True),
        ((1 << 64,), False),
        ((Template(("a" * on_loop.CHARACTERS_MAX, SecretPlaceholder("K"))),), False),
    ],
)
def test_small_is_what_is_short_in_all_and_of_few_values(values: tuple, *, expected: bool) -> None:
    assert on_loop.is_small(*values) is expected


@cache
def list_worst() -> list[str]:
    """Return the beginnings of the worst texts; made here, not while tests are collected, which every worker does."""
    return [text[: on_loop.CHARACTERS_MAX] for text in worst.list_texts()]


@pytest.mark.parametrize("start", range(0, worst.COUNT, WORST_AT_ONCE))
def test_the_worst_texts_are_decoded_to_a_bounded_length_here(start: int) -> None:
    texts = list_worst()[start : start + WORST_AT_ONCE]
    assert texts
    for text in texts:
        read = 0
        with suppress(StepsSpentError, InflationLimitError):
            for view in iterate_views(text, thorough=True, budget=ShortBudget(on_loop.STEPS_MAX)):
                read += len(view)
        assert read <= on_loop.STEPS_MAX


WAYS = {
    **{
        f"{kind} {name}": write
        for table in (corpus.WAYS, notations.WAYS)
        for kind in table
        for name, write in table[kind].items()
    },
    **corpus.HARDER,
    **notations.IN_MORE,
}
SECRETS = st.sampled_from([VALUES["prefixed"], VALUES["github"]])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Return a text with a part of a key, in one notation or two, in words or in JSON."""
    value = draw(SECRETS)
    start = draw(st.integers(0, len(value) - 6))
    part = value[start : start + draw(st.integers(6, len(value)))]
    for name in draw(st.lists(st.sampled_from(sorted(WAYS)), max_size=2)):
        with suppress(Exception):  # not each notation writes each text
            part = str(WAYS[name](part))
    around = draw(st.sampled_from(["{}", "see {} there", "{} {}", "a: {}, b=1", '{{"a": "{}", "b": [1, true]}}']))
    return around.replace("{}", part).replace("{{", "{").replace("}}", "}") + draw(st.text(max_size=8))


@given(texts())
@settings(max_examples=80, deadline=None)
def test_what_is_read_here_is_what_a_worker_reads(text: str) -> None:
    with suppress(StepsSpentError):
        finding, pieces = SCANNER.within(ShortBudget(on_loop.STEPS_MAX)).scan_request(outbound(body={"q": text}))
        whole, counted = SCANNER.scan_request(outbound(body={"q": text}))
        assert (finding, pieces.ranges) == (whole, counted.ranges)
    with suppress(StepsSpentError):
        read = checks.build_result(outbound(), KEYS, answer(text), "n0", steps=on_loop.STEPS_MAX)
        assert read == checks.build_result(outbound(), KEYS, answer(text), "n0")
