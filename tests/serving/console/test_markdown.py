"""Markdown of others: no raw HTML, no image, no link that is not http(s), and a host beside each link."""

from __future__ import annotations

import pytest

from ferryman.serving.console.markdown import CHARACTERS_MAX, render_markdown


def test_emphasis_is_shown() -> None:
    assert render_markdown("**bold**") == "<p><strong>bold</strong></p>\n"


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "a <b>b</b>"]
)
def test_raw_html_is_text(text: str) -> None:
    markup = render_markdown(text)
    assert not any(f"<{name}" in markup for name in ("script", "img", "svg", "b>"))


def test_an_image_is_no_element() -> None:
    assert "<img" not in render_markdown("![beacon](https://evil.test/x.png)")


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "/console/halt"]
)
def test_a_link_with_another_scheme_is_text(url: str) -> None:
    assert "<a" not in render_markdown(f"[here]({url})")


def test_a_link_shows_its_host() -> None:
    markup = render_markdown("[your bank](https://evil.test/login)")
    assert '<span class="host">evil.test</span> your bank</a>' in markup


def test_a_link_gives_nothing_away_of_where_it_was_followed() -> None:
    assert 'rel="noopener noreferrer"' in render_markdown("<https://a.test>")


def test_what_reorders_text_is_visible() -> None:
    assert "\u202e" not in render_markdown("pay \u202eenog") + render_markdown("`pay \u202eenog`") + render_markdown(
        "```\n\u202e\n```"
    )


def test_a_quote_cannot_leave_an_attribute() -> None:
    assert 'onclick="' not in render_markdown('[x](https://a.test/"onclick="alert(1))')


def test_a_very_long_text_is_shown_as_it_is() -> None:
    assert render_markdown("*" * (CHARACTERS_MAX + 1)).startswith("<p class='plain'>***")
