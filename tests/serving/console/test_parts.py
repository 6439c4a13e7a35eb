"""Parts: trees of rendered markup, from which a page is built without parsing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from ferryman.serving.console.parts import find_parts, read_trees

TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00\r"), min_size=1, max_size=200)


def test_an_element_is_its_tag_its_attributes_and_its_children() -> None:
    assert read_trees('<p id="a" class="b">one <b>two</b></p>') == [
        ["p", {"id": "a", "class": "b"}, ["one ", ["b", {}, ["two"]]]]
    ]


def test_an_element_without_an_end_has_no_children() -> None:
    assert read_trees("<p>one<br>two</p>") == [["p", {}, ["one", ["br", {}, []], "two"]]]


def test_those_that_are_not_there_are_left_out() -> None:
    assert list(find_parts('<p id="a">1</p><p id="b">2</p>', ["b", "c"])) == ["b"]


@pytest.mark.parametrize("tag", ["pre", "textarea"])
def test_a_line_break_that_begins_a_preformatted_text_is_none_of_it(tag: str) -> None:
    assert read_trees(f"<{tag}>\n\ntext\n</{tag}>") == [[tag, {}, ["\ntext\n"]]]


@given(text=TEXTS)
def test_an_escaped_text_is_a_text_again_and_never_an_element(text: str) -> None:
    assert join(read_trees(f"<p>{escape(text)}</p>")[0]) == text


@given(text=TEXTS)
def test_an_escaped_attribute_is_one_value(text: str) -> None:
    assert read_trees(f'<p title="{escape(text)}"></p>') == [["p", {"title": text}, []]]


def join(tree: Any) -> str:
    assert all(isinstance(child, str) for child in tree[2])
    return "".join(tree[2])
