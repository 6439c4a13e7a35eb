"""Long histories: old results are referred to, older messages summarized, and the newest stay as they are."""

from __future__ import annotations

import json
from dataclasses import replace

from ferryman.domain.conversations.compaction import (
    HEAD,
    LONG_CHARACTERS,
    NOTED,
    REFERENCE_CHARACTERS,
    SUMMARIZE,
    list_after_summary,
    list_first,
    plan_history,
    refer_results,
)
from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.conversations.turns import build_history, read_result
from ferryman.domain.executions.execution import SummaryPlan
from ferryman.inmemory.clock import START
from tests.builders import build_setup


def ask(number: int, text: str = "And?") -> Message:
    return Message(conversation="c", number=number, parent=number - 1, role=Speaker.USER, at=START, content=text)


def answer(number: int, text: str = "So.", *, result: str = "", summary: str = "", summarized: int = 0) -> Message:
    results = [{"call": "toolu_0", "seq": 0, "name": "http_get", "ok": True, "content": result, "parts": []}]
    calls = [{"id": "toolu_0", "name": "http_get", "arguments": {}}]
    return Message(
        **{"conversation": "c", "number": number, "parent": number - 1, "role": Speaker.ASSISTANT, "at": START},
        content=text,
        parts=({"text": "", "calls": calls, "results": results},) if result else (),
        summary=summary,
        summarized=summarized,
    )


def talk(count: int, *, text: str = "", result: str = "") -> list[Message]:
    """Return a branch of so many questions, each with an answer of this text after a call with this result."""
    return [
        message
        for number in range(count)
        for message in (ask(2 * number + 1, f"Question {number}"), answer(2 * number + 2, text or "So.", result=result))
    ]


def list_results(messages: list) -> list[str]:
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


def test_a_short_history_is_what_was_said():
    branch = talk(3, result="r" * 2_000)
    assert plan_history(branch) == (build_history(branch), None)


def test_old_results_of_a_long_history_are_referred_to_and_new_ones_stay():
    branch = talk(30, result="r" * 9_000)
    messages, plan = plan_history(branch)
    results = list_results(messages)
    how = json.dumps({"message": 2, "call": 0})
    assert plan is None
    assert results[0] == f"[9,000 characters of http_get. To read them again: read_result {how}]"
    assert results[-5:] == ["r" * 9_000] * 5
    assert len(results) == 30


def test_where_references_begin_stays_for_some_questions():
    first, second = (plan_history(talk(count, result="r" * 9_000))[0] for count in (30, 31))
    assert second[: len(first)] == first


def test_short_results_stay():
    branch = [*talk(1, result="r" * 900), *talk(30, result="r" * 9_000)]
    assert list_results(plan_history(branch)[0])[0] == "r" * 900


def test_a_longer_history_is_summarized_but_for_the_newest_messages():
    branch = talk(30, text="t" * 9_000)
    messages, plan = plan_history(branch)
    assert plan is not None
    newest = messages[plan.count :]
    assert newest == build_history(branch[plan.through :])
    assert newest[0]["role"] == "user"
    assert 40_000 < len(json.dumps(newest)) < 70_000
    assert messages[: plan.count] == build_history(branch[: plan.through])


def test_one_exchange_that_is_too_long_is_summarized_as_a_whole():
    messages, plan = plan_history(talk(1, text="t" * LONG_CHARACTERS))
    assert plan == SummaryPlan(count=len(messages), through=2)


def test_the_history_goes_on_from_the_newest_summary():
    branch = [*talk(2, text="t" * LONG_CHARACTERS), ask(5), answer(6, summary="They talked.", summarized=2)]
    messages, plan = plan_history([branch[0], branch[1], ask(3), answer(4), *branch[4:]])
    assert plan is None
    assert messages[:3] == [
        {"role": "user", "content": f"{HEAD}\n\nThey talked."},
        {"role": "assistant", "content": NOTED},
        {"role": "user", "content": "And?"},
    ]
    assert len(messages) == 6


def test_a_summary_of_messages_of_another_branch_is_none():
    branch = [ask(1), answer(2), ask(5), answer(6, summary="Of something else.", summarized=4)]
    assert plan_history(branch) == (build_history(branch), None)


def test_the_model_is_asked_for_the_summary_first_and_answers_from_it():
    history = tuple(build_history(talk(2)))
    opening = build_setup(history=history, prompt="And now?", summary=SummaryPlan(count=2, through=2))
    assert list_first(opening) == [*history[:2], {"role": "user", "content": SUMMARIZE}]
    after = list_after_summary(opening, "They talked.")
    assert after[0]["content"].endswith("They talked.")
    assert after[2:] == [*history[2:], {"role": "user", "content": "And now?"}]


def test_a_history_that_its_credits_do_not_allow_is_long():
    branch = talk(4, text="t" * 5_000)
    assert plan_history(branch)[1] is None
    plan = plan_history(branch, most=17_000)[1]
    assert plan is not None
    assert plan.through == 4


def test_a_reference_says_nothing_of_reading_again_where_the_model_cannot():
    messages, _ = plan_history(talk(30, result="r" * 9_000), can_reread=False)
    assert list_results(messages)[0] == "[9,000 characters of http_get. They are not shown any more.]"


def test_a_history_of_as_many_characters_as_it_may_have_is_not_long():
    branch = talk(3, result="r" * 2_000)
    assert plan_history(branch, most=len(json.dumps(build_history(branch)))) == (build_history(branch), None)


def test_a_history_whose_references_have_as_many_characters_as_it_may_have_is_not_summarized():
    branch = [ask(1), answer(2, result="r" * 9_000), ask(3), answer(4, "t" * 3_000)]
    length = len(json.dumps(plan_history(branch, most=4_000)[0]))
    assert plan_history(branch, most=length)[1] is None
    assert plan_history(branch, most=length - 1)[1] is not None


def test_a_result_of_a_thousand_characters_stays():
    branch = [*talk(1, result="r" * REFERENCE_CHARACTERS), *talk(30, result="r" * 9_000)]
    assert list_results(plan_history(branch)[0])[0] == "r" * REFERENCE_CHARACTERS


def test_of_two_summaries_the_newer_one_is_read():
    branch = [*talk(2), answer(6, summary="Old.", summarized=2), answer(8, summary="New.", summarized=4)]
    assert plan_history(branch)[0][0]["content"] == f"{HEAD}\n\nNew."


def test_a_reference_has_no_part_beyond_its_text():
    long = {"call": "c", "seq": 0, "name": "http_get", "ok": True, "content": "r" * 2_000, "parts": [("text", 0, 2_000)]}
    message = replace(answer(2), parts=({"text": "", "calls": [], "results": [long]},))
    (referred,) = refer_results([message], can_reread=True)
    assert read_result(referred.parts[0]["results"][0]).parts == ()
