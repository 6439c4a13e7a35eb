"""Conversations: numbers that are known when a message comes, one answer after the other, and branches."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.conversations.conversation import (
    MESSAGES_MAX,
    PENDING_MAX,
    TITLE_CHARACTERS_MAX,
    Conversation,
    ConversationGoneError,
    Numbers,
    PendingAnswer,
    ask,
    derive_title,
    end_answer,
    find_next,
    is_next,
)
from ferryman.domain.conversations.message import Message, Speaker, select_branch
from ferryman.domain.owners.limit import LimitReachedError
from tests.builders import START

LATER = START + timedelta(seconds=1)
EMPTY = Conversation(
    id="conv_1", owner="ann", workspace="ws_1", agent="agent_1", task="task_1", created_at=START, updated_at=START
)


def write(number: int, parent: int, role: Speaker = Speaker.USER) -> Message:
    return Message(conversation="conv_1", number=number, parent=parent, role=role, at=START, content=f"message {number}")


def test_a_question_and_its_answer_take_the_next_two_numbers():
    changed, numbers = ask(EMPTY, "e1", now=LATER)
    assert (numbers, changed.head, changed.last, changed.pending) == (Numbers(1, 2), 2, 2, (PendingAnswer(2, "e1"),))


def test_another_answer_takes_one_number():
    changed, _ = ask(EMPTY, "e1", now=LATER)
    assert ask(changed, "e2", asks_again=True, now=LATER)[1] == Numbers(None, 3)


def test_answers_come_in_the_order_of_their_questions():
    first, _ = ask(EMPTY, "e1", now=LATER)
    both, _ = ask(first, "e2", now=LATER)
    assert [is_next(both, answer) for answer in (2, 4)] == [True, False]
    assert is_next(end_answer(both, 2, now=LATER), 4)


def test_an_answer_that_has_ended_holds_no_other_up():
    changed, numbers = ask(EMPTY, "e1", now=LATER)
    assert find_next(end_answer(changed, numbers.answer, now=LATER)) is None


def test_no_more_answers_are_waited_for_than_may_be():
    full = replace(
        EMPTY, last=2 * PENDING_MAX, pending=tuple(PendingAnswer(number, "e") for number in range(2, 2 * PENDING_MAX + 1, 2))
    )
    with pytest.raises(LimitReachedError, match=str(PENDING_MAX)):
        ask(full, "e9", now=LATER)


def test_a_conversation_ends_at_its_last_number():
    with pytest.raises(LimitReachedError, match=f"{MESSAGES_MAX:,}"):
        ask(replace(EMPTY, last=MESSAGES_MAX - 1), "e1", now=LATER)
    assert ask(replace(EMPTY, last=MESSAGES_MAX - 2), "e1", now=LATER)[1].answer == MESSAGES_MAX


def test_a_branch_goes_from_the_first_message_to_the_one_it_ends_with():
    messages = [
        write(1, 0),
        write(2, 1, Speaker.ASSISTANT),
        write(3, 2),
        write(4, 3, Speaker.ASSISTANT),
        write(5, 2),
        write(6, 5),
    ]
    assert [message.number for message in select_branch(messages, 6)] == [1, 2, 5, 6]


def test_a_branch_begins_with_the_oldest_message_that_is_kept():
    assert [message.number for message in select_branch([write(1, 0), write(3, 2)], 3)] == [3]


def test_a_branch_that_ends_with_what_is_still_to_come_is_empty():
    assert select_branch([write(1, 0)], 2) == []


def test_a_message_that_names_a_later_parent_ends_nothing():
    with pytest.raises(ConversationGoneError):
        select_branch([write(1, 2), write(2, 1)], 2)


def test_a_message_that_is_its_own_parent_ends_nothing():
    with pytest.raises(ConversationGoneError):
        select_branch([write(1, 1)], 1)


def test_a_question_and_the_end_of_its_answer_change_the_conversation_at_their_time():
    changed, _ = ask(EMPTY, "e1", now=LATER)
    assert changed.updated_at == LATER
    assert end_answer(replace(changed, updated_at=START), 2, now=LATER).updated_at == LATER


def test_a_title_is_the_first_line_without_needless_space():
    assert derive_title("  Where   is\tthe ferry?\nI am in Harwich.") == "Where is the ferry?"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("x" * TITLE_CHARACTERS_MAX, "x" * TITLE_CHARACTERS_MAX),
        ("x" * (TITLE_CHARACTERS_MAX + 1), "x" * (TITLE_CHARACTERS_MAX - 1) + "…"),
        ("Where is it? " + "x" * TITLE_CHARACTERS_MAX, "Where is it?…"),
    ],
)
def test_a_longer_line_is_cut_at_a_word_where_there_is_one(text: str, title: str):
    assert derive_title(text) == title


@given(st.text(max_size=300))
def test_a_title_is_never_longer_than_it_may_be(text: str):
    assert len(derive_title(text)) <= TITLE_CHARACTERS_MAX


@given(st.lists(st.sampled_from(["ask", "again", "end"]), max_size=60))
def test_no_number_is_given_twice_and_no_answer_is_lost(actions: list[str]):
    conversation, numbered, ended = EMPTY, list[int](), list[int]()
    for action in actions:
        if action == "end":
            if (answer := find_next(conversation)) is not None:
                ended.append(answer.number)
                conversation = end_answer(conversation, answer.number, now=LATER)
        elif len(conversation.pending) < PENDING_MAX and (action == "ask" or conversation.last):
            conversation, numbers = ask(conversation, "e", asks_again=action == "again", now=LATER)
            numbered += [number for number in (numbers.question, numbers.answer) if number is not None]
    assert numbered == sorted(set(numbered))
    assert ended == sorted(ended)
    assert {*ended, *(answer.number for answer in conversation.pending)} <= {*numbered}
