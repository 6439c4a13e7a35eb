"""Titles by the model: what becomes of what it writes, and the execution that makes one."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from ferryman.domain.conversations.conversation import TITLE_CHARACTERS_MAX, Conversation
from ferryman.domain.conversations.message import AnswerState, Message, Speaker
from ferryman.domain.conversations.titles import (
    TitleNotNeededError,
    build_title_execution,
    check_unnamed,
    clean_title,
    derive_title_execution,
    is_first_complete,
    set_title,
)
from ferryman.domain.executions.surface import SurfaceKind
from ferryman.domain.records import document
from ferryman.inmemory.clock import START
from tests.builders import build_execution

TALK = Conversation(
    id="conv", owner="o", workspace="w", agent="a", task="t", title="Where is it?", created_at=START, updated_at=START
)
ANSWER = build_execution(id="e1", conversation="conv", question=1, answer=2, model="scripted/y", person="ann")
TITLE = build_title_execution(ANSWER, question="Where?", text="{there}", now=START, trace="")


def say(number: int, state: AnswerState) -> Message:
    about = {"conversation": "conv", "parent": number - 1, "at": START, "content": ""}
    return Message(number=number, role=Speaker.ASSISTANT, state=state, **about)


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Ferries in winter", "Ferries in winter"),
        ("\n \n# Ferries  in\twinter\nand more", "Ferries in winter"),
        ('**"Ferries in winter"**', "Ferries in winter"),
        ("\u201cFähren\u201d", "Fähren"),
        ("C#", "C#"),
        ("", ""),
        ('""\n', ""),
    ],
)
def test_a_title_is_the_first_line_without_ornaments(written: str, title: str) -> None:
    assert clean_title(written) == title


def test_a_long_title_is_cut_at_a_word() -> None:
    title = clean_title("ferry " * 50)
    assert (len(title) <= TITLE_CHARACTERS_MAX, title[-6:]) == (True, "ferry…")


def test_a_title_takes_the_place_of_the_first_line() -> None:
    assert set_title(TALK, "Ferries").title == "Ferries"


def test_no_title_leaves_the_first_line() -> None:
    assert set_title(TALK, "") == TALK


def test_a_title_by_a_person_stays() -> None:
    named = replace(TALK, is_named=True)
    assert set_title(named, "Ferries") == named


@pytest.mark.parametrize("conversation", [None, replace(TALK, is_named=True)])
def test_a_conversation_that_is_gone_or_named_needs_no_title(conversation: Conversation | None) -> None:
    with pytest.raises(TitleNotNeededError):
        check_unnamed(conversation)


@pytest.mark.parametrize("state", [AnswerState.FAILED, AnswerState.STOPPED])
def test_an_answer_after_others_that_are_not_complete_is_the_first(state: AnswerState) -> None:
    assert is_first_complete([say(2, state)])


def test_an_answer_after_a_complete_one_is_not_the_first() -> None:
    assert not is_first_complete([say(2, AnswerState.COMPLETE), say(4, AnswerState.FAILED)])


def test_a_title_belongs_where_its_answer_does() -> None:
    names = ("task", "owner", "workspace", "agent", "person", "conversation", "model")
    assert [getattr(TITLE, name) for name in names] == [getattr(ANSWER, name) for name in names]


def test_a_title_is_no_answer() -> None:
    assert (TITLE.answer, TITLE.question, TITLE.titled_answer, TITLE.is_in_chat) == (0, 0, 2, True)


def test_the_id_of_a_title_is_that_of_one_answer_alone() -> None:
    assert TITLE.id == derive_title_execution("e1") != derive_title_execution("e2")


def test_a_title_has_few_tokens_and_few_credits() -> None:
    surface = TITLE.surface
    assert (surface.kind, surface.iterations_max, surface.tokens_max, surface.credits_max) == (
        SurfaceKind.TITLE,
        1,
        50,
        Decimal(25),
    )


def test_what_people_wrote_is_put_into_the_prompt_as_it_is() -> None:
    assert [text in (TITLE.input or "") for text in ("Where?", "{there}")] == [True, True]


def test_the_record_of_a_title_tells_of_the_answer() -> None:
    assert document.serialize_recorded(TITLE)["titled_answer"] == 2


@pytest.mark.parametrize("execution", [ANSWER, replace(ANSWER, begins_title=True), build_execution()])
def test_the_record_of_any_other_execution_has_no_word_of_titles(execution) -> None:
    assert not [name for name in document.serialize_recorded(execution) if "title" in name]
