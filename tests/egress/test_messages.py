"""What the gate says and logs in its rarer cases: the words name the host, the tool and the credential."""

from __future__ import annotations

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import InboundResponse
from ferryman.egress import checks
from ferryman.egress.checking import CallChecker
from ferryman.egress.checks import find_bound_credential
from ferryman.egress.headers import CHARACTERS_MAX, COUNT_MAX, check_headers
from ferryman.offload import TEXT, Budget
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import GateHarness, reply
from tests.egress.plants import VALUES, credential, outbound, policy
from tests.offload import jobs

KEYS = {"NEWS_KEY": credential(VALUES["prefixed"])}
SHORT = Budget(cpu_s=0.1, wall_s=30, memory_bytes=TEXT.memory_bytes)
NAMES = ("accept", "accept-language", "if-none-match", "prefer")


def test_a_credential_for_another_host_is_refused_by_both_names() -> None:
    with pytest.raises(CallRefusedError) as refused:
        find_bound_credential("NEWS_KEY", "api.other.test", KEYS)
    assert refused.value.refusal == refusal.refuse_credential_for_host("NEWS_KEY", "api.other.test")


async def test_a_refusal_that_cannot_be_checked_says_so_in_words_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "build_refusal", jobs.worst)
    checker = CallChecker(policy=policy(), outbound=outbound(), credentials=KEYS, budget=SHORT)
    result = await checker.build_refusal(refusal.refuse_host(VALUES["prefixed"], ()))
    assert result.content == "Error: the call failed, and why could not be checked for credentials"
    assert (result.tool, result.method, result.block_reason) == ("api_call", "POST", "url_blocked")


async def test_an_answer_that_cannot_be_checked_keeps_tool_method_status_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "build_result", jobs.worst)
    checker = CallChecker(policy=policy(), outbound=outbound(), credentials=KEYS, budget=SHORT)
    result = await checker.build_result(InboundResponse(status=201, headers=(), body=b"fine", size_bytes=4), "n0")
    assert (result.tool, result.method, result.response_status, result.response_size_bytes) == ("api_call", "POST", 201, 4)


async def test_the_line_of_a_call_names_its_credential(harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply()):
        await harness.gate().send(outbound(), CallPolicy(execution=policy(), credentials=KEYS))
    assert harness.log.lines[-1][1]["credential"] == "NEWS_KEY"


@pytest.mark.parametrize("more", [0, 1])
def test_headers_have_so_many_characters_in_all_and_no_more(more: int) -> None:
    room = CHARACTERS_MAX + more - sum(map(len, NAMES))
    share = room // len(NAMES)
    headers = dict.fromkeys(NAMES, "a" * share) | {NAMES[0]: "a" * (room - share * (len(NAMES) - 1))}
    assert sum(len(name) + len(value) for name, value in headers.items()) == CHARACTERS_MAX + more
    if more:
        with pytest.raises(CallRefusedError, match=f"at most {CHARACTERS_MAX} characters"):
            check_headers(headers, ())
    else:
        assert len(check_headers(headers, ())) == len(NAMES)


def test_so_many_headers_are_accepted_and_no_more() -> None:
    names = [f"x-{number}" for number in range(COUNT_MAX + 1)]
    assert len(check_headers(dict.fromkeys(names[:-1], "a"), (), names)) == COUNT_MAX
    with pytest.raises(CallRefusedError, match=f"at most {COUNT_MAX} headers"):
        check_headers(dict.fromkeys(names, "a"), (), names)
