"""The search: exact names first, then what fits the words; nothing where no tool fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.selection import ToolIndex, search

from .tools import DESCRIPTIONS, INDEX, TOOLS, find, make_tool

TEXTS = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(" ".join(DESCRIPTIONS.values()).split())).map(" ".join))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("What will the weather be in Boston tomorrow?", "get_weather"),
        ("I want to give the customer her money back: refund the payment", "createRefund"),
        ("Which planes fly to Lisbon? Find me flights.", "search_flights"),
        ("Reserve a room in a hotel in Rome", "book_hotel"),
    ],
)
def test_the_tool_that_a_text_asks_for_is_first(text, name):
    assert find(text)[0] == name


@pytest.mark.parametrize("name", [tool.name for tool in TOOLS])
def test_a_name_finds_its_tool_alone(name):
    assert find(name) == [name]


def test_a_name_inside_a_text_puts_its_tool_first():
    assert find("Use send_email to tell them which flights there are")[0] == "send_email"


@pytest.mark.parametrize("spelling", ["create_refund", "CreateRefund", "create refund", "create-refund"])
def test_a_name_is_found_in_any_spelling(spelling):
    assert find(spelling) == ["createRefund"]


def test_of_names_that_differ_in_capitals_the_one_as_spelled_is_first():
    index = ToolIndex([make_tool("calculate_bmi"), make_tool("calculate_BMI")])
    assert find("calculate_BMI", index=index) == ["calculate_BMI", "calculate_bmi"]


def test_nothing_is_found_where_no_tool_fits():
    assert find("Who won the world cup of 1974?") == []


def test_a_synonym_finds_a_tool():
    index = ToolIndex([*TOOLS, make_tool("find_movies", "Find movies by their director.", "director")])
    assert find("films by a director", index=index)[0] == "find_movies"


def test_a_server_is_a_word_of_its_tools():
    index = ToolIndex([make_tool("list_items", "List items.", group=group) for group in ("github", "jira")])
    (first, *_) = search(index, "list items jira", 5)
    assert first == 1


def test_a_parameter_tells_two_tools_apart():
    index = ToolIndex([make_tool("find_user", "Find a user.", "email"), make_tool("find_person", "Find a user.", "phone")])
    assert find("find the user with this phone", index=index)[0] == "find_person"


def test_no_tools_find_nothing():
    assert find("anything", index=ToolIndex([])) == []


@given(TEXTS, st.integers(0, 8))
def test_tools_are_found_once_and_within_the_limit(text, limit):
    numbers = search(INDEX, text, limit)
    assert len(numbers) == len(set(numbers)) <= limit
    assert set(numbers) <= set(range(len(TOOLS)))


@given(TEXTS)
def test_what_fits_is_what_is_ranked_without_what_does_not(text):
    ranked = search(INDEX, text, 50, fitting=False)
    fitting = search(INDEX, text, 50)
    assert [number for number in ranked if number in fitting] == fitting


@given(TEXTS)
def test_the_same_text_finds_the_same_tools(text):
    assert search(INDEX, text, 5) == search(ToolIndex(TOOLS), text, 5)


@given(st.sampled_from(TOOLS), st.lists(st.sampled_from(TOOLS), min_size=1), st.integers(1, 20))
def test_a_stuffed_description_gains_no_place_for_another_name(tool, others, times):
    names = [other.name for other in others if other is not tool]
    stuffed = make_tool(tool.name, " ".join([tool.description, *names, *(name.replace("_", " ") for name in names)] * times))
    index = ToolIndex([stuffed if known is tool else known for known in TOOLS])
    for name in names:
        assert find(name, 50, index=index) == [name]
