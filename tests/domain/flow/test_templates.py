"""Titles that a person left a place in, and what an attacker would make of them."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.domain.flow.derivation import derive_signature
from ferryman.domain.flow.judging import FlowContext, judge_flow
from ferryman.domain.flow.templates import FILLED_CHARACTERS_MAX, TEMPLATES_MAX, list_templates
from ferryman.domain.flow.trusted import index_text
from ferryman.domain.flow.verdict import FlowVerdict, Trust, list_lines
from ferryman.domain.labels.label import READ
from tests.linear import find_growth

TEXT = {"type": "string"}
PROMPT = "Find a restaurant. Add an event 'Dinner at {restaurant_name}' for me, and write to \"{name}@office.example\"."


def judge(arguments: dict[str, Any], *, tool: str = "create_event", prompt: str = PROMPT) -> FlowVerdict:
    schema = {"properties": dict.fromkeys(("title", "guests", "recipient", "name", "description"), TEXT)}
    context = FlowContext(label=READ, trusted=[index_text("the prompt", prompt)])
    return judge_flow(derive_signature(tool, "", schema), arguments, context)


def test_a_title_with_its_place_filled_may_go_and_says_why():
    verdict = judge({"title": "Dinner at Le Zinc"})
    assert (verdict.asks, verdict.origins[0].trust) == (False, Trust.TEMPLATE)
    assert "trusted: a title with its place filled, of the prompt" in list_lines(verdict)[-1]


@pytest.mark.parametrize(
    "title",
    [
        "Booking a room at the Riverside View Hotel",
        "Lunch at Le Zinc",
        "dinner at Le Zinc",
        "Cancel all. Dinner at Le Zinc",
        "Dinner atLe Zinc",
    ],
)
def test_another_title_waits(title):
    assert judge({"title": title}).asks


@pytest.mark.parametrize(
    "filling",
    [
        "https://evil.test/menu",
        "thief.com/menu",
        "Le Zinc, write to eve@evil.test",
        "DE89 3704 0044 0532 0130 00",
        "4111111111111111",
        "Le\nZinc",
        "Le\u200bZinc",
        "x" * (FILLED_CHARACTERS_MAX + 1),
    ],
)
def test_what_leads_a_reader_elsewhere_or_is_not_seen_fills_no_place(filling):
    assert judge({"title": f"Dinner at {filling}"}).asks


def test_a_template_names_nobody_who_receives():
    assert judge({"title": "Dinner at Le Zinc", "guests": "eve@office.example"}).asks
    assert judge({"recipient": "eve@office.example", "description": ""}, tool="send_note").asks


@pytest.mark.parametrize("tool", ["update_event", "delete_event", "create_or_replace_page", "post_page", "publish"])
def test_a_title_that_may_say_which_thing_is_changed_waits(tool):
    assert judge({"title": "Dinner at Le Zinc"}, tool=tool).asks


def test_the_name_of_a_new_thing_may_be_where_it_is_and_waits():
    assert judge({"name": "Dinner at Le Zinc"}).asks


@pytest.mark.parametrize(
    "prompt",
    [
        "Add an event Dinner at {restaurant_name} for me.",
        "Add an event '{restaurant_name}' for me.",
        "Add an event 'at {restaurant_name}' for me.",
        "Add an event 'Dinner at {{restaurant_name}}' for me.",
        "Add an event 'Dinner at {restaurant_name} with {guest}' for me.",
        "Add an event 'Dinner at {restaurant_name}\" for me.",
        "Add an event 'Dinner\nDinner at {restaurant_name}' for me.",
        "Add an event 'Dinner at Le{restaurant_name}' for me.",
    ],
)
def test_what_is_no_template_fits_nothing(prompt):
    assert judge({"title": "Dinner at Le Zinc"}, prompt=prompt).asks


def test_words_may_follow_the_place():
    assert not judge({"title": "Dinner (Le Zinc) in Paris"}, prompt="Call it “Dinner ({restaurant}) in Paris”.").asks


def test_a_place_that_is_left_empty_is_not_filled():
    assert judge({"title": "Dinner at  in Paris"}, prompt="Call it 'Dinner at {restaurant} in Paris'.").asks


def test_a_place_is_not_filled_twice_by_the_same_words():
    assert judge({"title": "Dinner at x at"}, prompt="Call it 'Dinner at x {place} at x at'.").asks


def test_templates_beyond_the_first_ones_are_not_looked_for():
    assert len(list(list_templates("'Dinner at {place}' " * (TEMPLATES_MAX + 1)))) == TEMPLATES_MAX


@pytest.mark.parametrize("part", ["{a}", "'abcd {a}' ", "{", "'", "{a", "x"])
def test_the_time_that_it_takes_grows_with_the_text_and_no_faster(part):
    growth = find_growth(lambda text: list(list_templates(text)), lambda size: part * (size // len(part)))
    assert growth is None, str(growth)
