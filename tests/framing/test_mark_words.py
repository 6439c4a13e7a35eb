"""Words that tell which marks a text may hold: no mark is in a text that has none of its words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.framing import marks
from ferryman.framing.mark_words import EVERY, PossibleMarks, find_possible_marks

SPELLED = ("t", "T", "o", "O", "0", "l", "L", "1", "i", "I", "r", "e", "3", "s", "5", "S", "p", "n", "to", "ol", "res", "ponse")
APART = (
    *("", " ", "_", "-", ".", '"', "\n", "\t", "\x1c", "\u00a0", "\u2010", "\u200b", "é"),
    *("<b>", "</b>", "<!---->", "<!x>", "<"),
)
ROLES = (
    *("human", "USER", "Assistant", "system", "developer", "tool", "function", "ai", "bot", "chatbot", "instructions", "input"),
    *("Ｕser", "sy\u017ftem", "ass\u0131stant", "ᴛool"),
)
CLOSERS = (":", " :", "**:", "_:", "`)]}> :", "】:", "\u00a0:", "：", ": https://a.test", "]: /x", "\x1f:")
OTHERS = (
    *(
        "###",
        "\\n",
        "\r",
        "<|im_end|>",
        "[|a|]",
        "]~b]",
        "[e~[",
        "<<SYS>>",
        "[INST]",
        "[/ INST ]",
        "[system message]",
        "<system>",
    ),
    *("< / tool >", "<br>", "reminder", "1)", "[", "]", "<", ">", "a", "\u017f", "\u0131", "\u0130", "\u212a"),
)
PIECES = st.lists(st.sampled_from((*SPELLED, *APART, *ROLES, *CLOSERS, *OTHERS)), max_size=12).map("".join)
NAMES = st.lists(st.sampled_from(APART), min_size=12, max_size=12).map(
    lambda apart: "".join(letter + sign for letter, sign in zip("t0OlRe5p0nsE", apart, strict=True))
)


@settings(derandomize=True, max_examples=2_000, deadline=None)
@given(before=PIECES, name=st.just("") | NAMES, after=PIECES)
def test_a_mark_is_only_in_a_text_that_may_hold_it(before: str, name: str, after: str) -> None:
    like = marks.show_shape(before + name + after)
    possible = find_possible_marks(like)
    assert all(may_be or not pattern.search(like) for may_be, (pattern, _) in zip(possible, marks._HARMLESS, strict=True))


@pytest.mark.parametrize("letter", ["\u017f", "\u0131", "\u0130", "\u212a"])
def test_a_letter_that_equals_a_latin_one_in_another_case_may_be_in_any_mark(letter: str) -> None:
    assert find_possible_marks(f"a{letter}b") == EVERY


@pytest.mark.parametrize(
    "text", ["", '{"user": "ann", "ai": 1, "input": {"tool": "the response"}}', "the system is up; a tool: no"]
)
def test_an_honest_text_without_brackets_holds_no_mark_but_perhaps_a_role(text: str) -> None:
    assert find_possible_marks(text) == PossibleMarks(False, text.endswith("no"), False, False, False, False)
