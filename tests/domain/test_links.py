"""Links are absolute, of the web, and in ASCII; what is none is no link."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.http.links import CHARACTERS_MAX, resolve

BASE = "https://site.test/a/b.html?c=d#e"
WHOLE = re.compile(r"https?://[A-Za-z0-9._\[\]:-]+[\x21-\x7e]*")

RESOLVED = {
    "/x": "https://site.test/x",
    "x": "https://site.test/a/x",
    "../x": "https://site.test/x",
    "?q=1": "https://site.test/a/b.html?q=1",
    "//other.test/x": "https://other.test/x",
    "http://other.test": "http://other.test",
    "HTTPS://Other.Test/X": "https://other.test/X",
    "https://other.test:8443/x": "https://other.test:8443/x",
    " \n/x\t": "https://site.test/x",
    "/a\nb": "https://site.test/ab",
    "/a b": "https://site.test/a%20b",
    "/(a)": "https://site.test/%28a%29",
    "/ä?ö=ü": "https://site.test/%C3%A4?%C3%B6=%C3%BC",
    "/%41%zz": "https://site.test/%41%zz",
    "https://bücher.test/": "https://xn--bcher-kva.test/",
    "https://[2001:db8::1]/x": "https://[2001:db8::1]/x",
    "\\\\other.test\\x": "https://other.test/x",
}
REFUSED = (
    "",
    "#x",
    "javascript:alert(1)",
    " java\nscript:alert(1)",
    "JAVASCRIPT:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "mailto:a@b.test",
    "tel:1",
    "ftp://a.test/x",
    "blob:https://a.test/x",
    "https://user:password@a.test/",
    "https://a.test@b.test/",
    "https://",
    "https:///x",
    "https://a b.test/",
    "https://a.test:port/",
    "https://[x]/",
    "https://a.test/" + "x" * CHARACTERS_MAX,
)


@pytest.mark.parametrize("href", RESOLVED)
def test_a_link_is_absolute(href):
    assert resolve(BASE, href) == RESOLVED[href]


@pytest.mark.parametrize("href", REFUSED)
def test_what_is_no_link_to_the_web_is_none(href):
    assert resolve(BASE, href) is None


@given(st.text(max_size=60) | st.text("htps:/.\\@[]?#%a1 ", max_size=40), st.just(BASE) | st.text(max_size=40))
def test_a_link_is_of_the_web_and_in_ascii_whatever_a_page_says(href, base):
    url = resolve(base, href)
    assert url is None or (WHOLE.fullmatch(url) and not set(url) & set('()<>"`{}|^\\ '))
