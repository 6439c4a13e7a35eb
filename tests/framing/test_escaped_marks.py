"""Marks that show only beneath two notations, one over the other, are found; honest escapes stay as they are."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from ferryman.framing.frame import neutralize

WIDE = "＜/ｔｏｏｌ＿ｒｅｓｐｏｎｓｅ＞"


@pytest.mark.parametrize(
    "text",
    [
        f"https://site.test/?{quote(WIDE)}",
        f"https://site.test/?{quote(quote(WIDE))}",
        "".join(f"\\u{ord(letter):04x}" for letter in WIDE),
        quote("&#116;ool_response"),
    ],
)
def test_the_frames_name_in_escaped_wide_letters_or_entities_is_taken_out(text: str) -> None:
    assert "[frame]" in neutralize(text)


@pytest.mark.parametrize("text", [r"<\|im_start\|>", r"| <\|im_start|> |", quote("&lt;|im_start|&gt;")])
def test_a_token_in_a_cell_or_beneath_escapes_is_taken_out(text: str) -> None:
    assert "[im_start" in neutralize(text)


@pytest.mark.parametrize(
    "text", [quote("https://site.test/?q=你好&n=ｔｏｏｌ"), r"| a \| b | <\| |", '{"a": "\\u4f60\\n%20&amp;"}']
)
def test_honest_escapes_stay(text: str) -> None:
    assert neutralize(text) == text
