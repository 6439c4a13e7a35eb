"""URLs in texts: whole tokens, and none that was cut or redacted."""

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ferryman.domain.calls.call import TRUNCATED
from ferryman.domain.http.url import CHARACTERS_MAX
from ferryman.domain.urls.tokens import drop_fragment, list_urls
from tests.linear import find_growth

URL = "https://a.test/x?y=1&z=%20"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("see ", "."),
        ("(", ")"),
        ("[t](", ")."),
        ('"', '"'),
        ("<", ">"),
        ("**", "**"),
        ("\n", "\n\n" + TRUNCATED),
        ("`", "`"),
    ],
)
def test_a_url_is_found_in_running_text(before: str, after: str) -> None:
    assert URL in set(list_urls(f"{before}{URL}{after}"))


@pytest.mark.parametrize(
    "text", [f"{URL}{TRUNCATED}", f"{URL}\n{TRUNCATED} more", f"a {URL}a[redacted:KEY]", f"{URL}a[redacted:KEY]b"]
)
def test_a_url_that_was_cut_or_redacted_is_none(text: str) -> None:
    assert list(list_urls(text)) == []


@pytest.mark.parametrize("text", ["", "https://", "ftp://a.test/", "a.test/x", "http:/a.test", "HTTPS//", "data:text/html,x"])
def test_what_is_no_url_is_none(text: str) -> None:
    assert list(list_urls(text)) == []


def test_links_without_a_space_between_them_are_each_found() -> None:
    text = f"[a]({URL}1)[b]({URL}2)[c]({URL}3... (truncated)"
    assert {f"{URL}1", f"{URL}2"} <= set(list_urls(text))
    assert not any(f"{URL}3" in url for url in list_urls(text))


def test_a_fragment_is_no_part_of_it() -> None:
    assert list(list_urls("http://a.test/#b")) == ["http://a.test/"]
    assert drop_fragment("http://a.test/#b#c") == "http://a.test/"


def test_the_letters_are_as_they_are_written() -> None:
    assert list(list_urls("HTTPS://A.test/SsKk%c3")) == ["HTTPS://A.test/SsKk%c3"]


def test_one_that_is_too_long_is_none() -> None:
    assert list(list_urls("https://a.test/" + "a" * CHARACTERS_MAX)) == []


@given(st.text(string.ascii_letters + string.digits + "-._~:/?#[]@!$&'()*+,;=%", max_size=60))
def test_a_url_alone_is_found_as_it_is(rest: str) -> None:
    assume(")[" not in rest and "](" not in rest)  # what is between two links of Markdown ends a URL
    url = f"https://a.test/{rest}"
    assert drop_fragment(url) in set(list_urls(f"{url} "))


@given(st.text(max_size=200))
def test_what_is_found_is_in_the_text(text: str) -> None:
    assert all(url in text and url.isascii() for url in list_urls(text))


@pytest.mark.parametrize(
    "piece", ["https://", "a", "https://a.test/)", "(((", "https://a....", "https://[redacted:", " https://a.b/c "]
)
def test_texts_are_read_in_linear_time(piece: str) -> None:
    assert find_growth(lambda text: list(list_urls(text)), lambda size: piece * (size // len(piece))) is None
