"""Markdown of others: no raw HTML, no image, no link that is not http(s), and a host beside each link."""

from __future__ import annotations

import pytest

from ferryman.serving.console.markdown import CHARACTERS_MAX, LINK_CHARACTERS_MAX, URL_CHARACTERS_MAX, render_markdown


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


@pytest.mark.parametrize(
    "url",
    ["http:evil.test", "http:/evil.test", "http:///evil.test", "https://good.test%2f@evil.test", "https://%65vil.test"]
    + [f"https://{sign}.test" for sign in ("[", "a b", "a%20b", "a:b:1", "\\evil")],
)
def test_a_link_whose_host_a_browser_reads_otherwise_is_text(url: str) -> None:
    assert "<a" not in render_markdown(f"[here](<{url}>)")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("HTTPS://Ab.Test:443/?q#f", "ab.test"),
        ("https://[2001:DB8::1]/", "[2001:db8::1]"),
        ("https://\u0430pple.test", "xn--pple-43d.test"),
        ("https://good.test\u3002evil.test", "good.test.evil.test"),
    ],
)
def test_a_host_is_shown_as_it_is_asked(url: str, host: str) -> None:
    assert f'<span class="host">{host}</span>' in render_markdown(f"[here]({url})")


def test_a_link_to_a_very_long_address_is_text() -> None:
    assert "<a" not in render_markdown(f"[here](https://evil.test/{'x' * URL_CHARACTERS_MAX})")


def test_an_address_that_is_meant_often_is_not_written_as_often() -> None:
    address = f"https://evil.test/{'x' * 1_900}"
    markup = render_markdown(f"[a]: {address}\n\n{'[a] ' * 10_000}")
    assert markup.count("href") == LINK_CHARACTERS_MAX // len(address)
    assert len(markup) < 500_000


def test_a_table_has_no_style() -> None:
    markup = render_markdown("|a|b|\n|:-:|--:|\n|x|y|")
    assert "<td>x</td>" in markup
    assert "style" not in markup
