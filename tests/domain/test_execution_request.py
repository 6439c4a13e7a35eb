"""Requests: what an application may say of a run, and how it is told what is wrong, field by field."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.executions.request import REQUEST_FIELDS, ExecutionRequest, parse_request, select_accepted
from ferryman.domain.problem import InvalidInputError

WHOLE = {"task": "task_1", "owner": "ann", "input": "Paris\n☂", "labels": {"order": "42", "shop_1-a": ""}}


def read_problem(execution: str = "order-42", **fields: Any) -> str:
    with pytest.raises(InvalidInputError) as invalid:
        parse_request(execution, {"task": "t", **fields})
    return str(invalid.value)


BAD_CONVERSATION = (
    "must be an id of your choice: 1 to 64 ASCII letters, digits, _ and -, of which the first is a letter or a digit"
)


def test_a_task_is_enough() -> None:
    assert parse_request("order-42", {"task": "task_1"}) == ExecutionRequest(task="task_1")


def test_owner_input_and_labels_may_be_given() -> None:
    assert parse_request("order-42", WHOLE) == ExecutionRequest(**WHOLE)


def test_nulls_are_as_if_they_were_left_out() -> None:
    nulls = dict.fromkeys(("owner", "conversation", "input", "labels"))
    assert parse_request("order-42", {"task": "t", **nulls}) == ExecutionRequest(task="t")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"task": None}, "task: is missing; it must be the id of a task"),
        ({"task": 7}, "task: must be a text: the id of a task"),
        ({"task": "a/b"}, "task: is not the id of a task"),
        ({"owner": 7}, "owner: must be a text: the id of the task's owner; it may be left out"),
        ({"conversation": 7}, f"conversation: {BAD_CONVERSATION}"),
        ({"conversation": "a/b"}, f"conversation: {BAD_CONVERSATION}"),
        ({"conversation": "a\n"}, f"conversation: {BAD_CONVERSATION}"),
        ({"conversation": "x" * 65}, f"conversation: {BAD_CONVERSATION}"),
        ({"conversation": "conv_1"}, "conversation: must not begin with conv_, as the ids of chats do; choose another"),
        ({"input": ["Paris"]}, "input: must be a text"),
        ({"input": "\ud800"}, "input: must be a text"),
        ({"input": "x" * 20_001}, "input: must be at most 20000 characters, is 20001"),
        ({"labels": "red"}, "labels: must be a map of names to texts"),
        ({"labels": {str(n): "" for n in range(17)}}, "labels: must be at most 16, are 17"),
        ({"labels": {"color": 7}}, "labels.color: must be a text of at most 200 characters"),
        ({"labels": {"color": "x" * 201}}, "labels.color: must be a text of at most 200 characters"),
    ],
)
def test_an_error_names_the_field_and_its_limit(fields: dict[str, Any], message: str) -> None:
    assert read_problem(**fields) == message


def test_a_label_has_a_plain_name_and_another_is_not_repeated() -> None:
    assert "<b>" not in (problem := read_problem(labels={"<b>": "x"}))
    assert problem.startswith("labels: must have names of at most 63 lower-case letters")


@pytest.mark.parametrize("name", ["", "x" * 65, "ä", "a.b", "-a", "../x"])
def test_a_document_has_a_name_that_the_api_can_show(name: str) -> None:
    assert read_problem(name).startswith("id: the document's name must have at most 64 characters")


def test_names_of_our_own_are_not_an_applications() -> None:
    assert read_problem("exec_task_1_1_1790000000").startswith("id: names that begin with exec_ are given by Ferryman alone")


def test_all_errors_are_told_at_once() -> None:
    problem = read_problem("exec_1", task=1, owner=2, conversation=3, input=4, labels=5)
    assert [name for name in ("id", *REQUEST_FIELDS) if f"{name}: " in problem] == ["id", *REQUEST_FIELDS]


@given(st.dictionaries(st.sampled_from([*REQUEST_FIELDS, "status"]), st.one_of(st.none(), st.integers(), st.text(max_size=3))))
def test_a_refused_request_keeps_what_is_right_and_nothing_else(fields: dict[str, Any]) -> None:
    accepted = select_accepted(fields)
    assert set(accepted) <= set(REQUEST_FIELDS)
    assert parse_request("order-42", {"task": "t", **accepted}).task == accepted.get("task", "t")
