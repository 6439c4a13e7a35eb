"""What a request for an answer stores, and what its answer is once the execution has ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.conversations.asking import Question, build_answer, take_question
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import AnswerState
from ferryman.domain.executions.execution import Status
from ferryman.domain.labels.label import Confidentiality, FlowLabel, Integrity
from tests.builders import START, build_execution

TALK = Conversation(
    **{"id": "conv_1", "owner": "ann", "workspace": "ws_1", "agent": "agent_1", "task": "task_1"},
    **{"head": 4, "last": 6, "created_at": START, "updated_at": START},
)
ENDED = build_execution(conversation="conv_1", answer=2, question=1, status=Status.COMPLETED, completed_at=START)


def test_a_question_follows_the_end_of_the_shown_branch_and_names_its_person() -> None:
    stored = take_question(TALK, Question(content="Where?"), build_execution(person="user_1"))
    assert stored.message is not None
    assert (stored.message.number, stored.message.parent, stored.message.person) == (7, 4, "user_1")
    assert (stored.execution.question, stored.execution.answer) == (7, 8)


def test_a_question_at_the_root_begins_another_branch() -> None:
    stored = take_question(TALK, Question(content="Where?", parent=0), build_execution())
    assert stored.message is not None
    assert stored.message.parent == 0


@pytest.mark.parametrize(("before", "after"), [("", "Where?"), ("Ferries", "Ferries")])
def test_the_first_question_titles_a_conversation_without_a_title(before: str, after: str) -> None:
    stored = take_question(replace(TALK, title=before), Question(content="Where?"), build_execution())
    assert stored.conversation.title == after


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (Status.COMPLETED, AnswerState.COMPLETE),
        (Status.KILLED, AnswerState.STOPPED),
        (Status.FAILED, AnswerState.FAILED),
        (Status.TIMEOUT, AnswerState.FAILED),
    ],
)
def test_an_answer_ends_as_its_execution_does(status: Status, state: AnswerState) -> None:
    assert build_answer(replace(ENDED, status=status)).state is state


def test_an_answer_has_the_label_of_what_was_read_for_it() -> None:
    label = FlowLabel(integrity=Integrity.UNTRUSTED, confidentiality=Confidentiality.OWNER)
    assert build_answer(ENDED, label=label).label == label
