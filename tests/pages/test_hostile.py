"""Whatever bytes come, something bounded is read, without an error, and nothing that a reader does not see."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.pages import EXCERPT_CHARACTERS_MAX, read_excerpt_here, read_page
from ferryman.pages.page import TEXT_CHARACTERS_MAX
from tests.pages.corpus.hidden import INLINE, MARKUP
from tests.pages.hostile import SHAPES

URL = "https://site.test/a"
COUNT = 3_000
TYPES = st.sampled_from(
    ["text/html", "application/json", "text/plain", "application/pdf", "image/png", "", "x", "text/html; charset=gbk"]
)
TAGS = "a b p div span table tr td th ul ol li pre code h1 h2 blockquote dl dt dd style script title form template br article nav svg q i"
PIECES = st.one_of(
    st.sampled_from([f"<{tag}>" for tag in TAGS.split()] + [f"</{tag}>" for tag in TAGS.split()]),
    st.sampled_from(
        [
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "<a href='",
            "'>",
            '"',
            "&amp;",
            "&#0;",
            "&#xD800;",
            "&#1114112;",
            "\0",
            "<",
            ">",
            "|",
        ]
    ),
    st.sampled_from(
        ["{display:none}", ".a{", "}", "@media print{", "<p class=a>", "<td colspan=9>", "<td colspan=x>", "<base href=//x/>"]
    ),
    st.text(max_size=12),
)
TARGET = re.compile(r"\]\(([^)\s]*)\)")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_page_that_is_made_to_take_long_is_read(shape):
    part = read_excerpt_here(SHAPES[shape](COUNT).encode(), "text/html", URL)
    assert len(part.text) <= EXCERPT_CHARACTERS_MAX


@given(st.binary(max_size=300), TYPES)
def test_any_bytes_are_read(content, content_type):
    assert len(read_page(content, content_type, URL).text) <= TEXT_CHARACTERS_MAX


@given(st.lists(PIECES, max_size=60), st.text(max_size=20))
@settings(max_examples=300)
def test_any_markup_is_read(pieces, url):
    assert len(read_excerpt_here("".join(pieces).encode(errors="replace"), "text/html", url).text) <= EXCERPT_CHARACTERS_MAX


@given(
    st.lists(PIECES, max_size=40),
    st.sampled_from(["javascript:x", "data:text/html,x", "//a b/", "https://u@h/", "/ok", "ftp://x/"]),
)
def test_every_link_is_absolute_and_of_the_web(pieces, href):
    markup = f"<article><p>{'word, word and word ' * 30}<a href='{href}'>link</a></p></article>" + "".join(pieces).replace(
        "](", ""
    )
    targets = TARGET.findall(read_page(markup.encode(errors="replace"), "text/html", URL).text)
    assert [target for target in targets if not target.startswith(("http://", "https://"))] == []


OPENERS = [f'<div style="{style}">' for style in INLINE.values()] + ["<div hidden>", '<div aria-hidden="true">', "<dialog>"]
VISIBLE = st.sampled_from(["<div>", "<p>", "<b>", "<span>", "<section>", "<h2>", "<ul><li>", "<table><tr><td>", "text, "])
REMOVING = [opener for opener in OPENERS if not re.search("visib|color|size|font|fill", opener, re.IGNORECASE)]


@given(st.lists(VISIBLE, max_size=8), st.sampled_from(REMOVING), st.lists(VISIBLE, max_size=8))
def test_nothing_inside_of_a_hidden_element_is_read(before, opener, inside):
    # a table can lift what is not in its cells out of itself, as in a browser: it is no hidden place
    markup = f"<body>{''.join(before)}<p>seen</p>{opener}{''.join(inside)}Xyzzyhidden"
    assert "Xyzzyhidden" not in read_page(markup.encode(), "text/html", URL).text


@pytest.mark.parametrize("way", [way for way in MARKUP if way.startswith("above: ")])
def test_hidden_text_is_left_out_of_a_page_that_has_nothing_else(way):
    assert "Xyzzyhidden" not in read_page(MARKUP[way].format(text="Xyzzyhidden").encode(), "text/html", URL).text
