"""URLs: the placeholders, and that no value changes the shape of a path."""

from __future__ import annotations

from urllib.parse import quote, unquote, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ferryman.declared import urls
from ferryman.declared.urls import InvalidUrlTemplateError
from ferryman.domain.http.url import InvalidUrlError
from ferryman.domain.http.url import parse_url as grammar
from tests.declared.entries import HOST

BASE = f"https://{HOST}"


def test_each_form_of_a_placeholder_is_read() -> None:
    address = urls.parse(BASE + "/v1/{city}/now?key=a&lang={lang?}&at={lat},{lon}{?units&format}")
    assert list(address.path_names()) == ["city"]
    assert [(item.name, item.optional) for item in address.query_placeholders()] == [
        *(("lang", True), ("lat", False), ("lon", False)),
        *(("units", False), ("format", False)),
    ]
    assert address.fixed == ("key=a",)
    assert list(address.query_names()) == ["key", "lang", "at", "units", "format"]
    assert address.host == HOST


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("https://{host}/", "before its path"),
        ("{scheme}://a.test/", "before its path"),
        (BASE + ":{port}/", "before its path"),
        (BASE + "{x}", "before its path"),
        (BASE + "/{x?}", "optional placeholder in its path"),
        (BASE + "/a#{x}", "after '#'"),
        (BASE + "/a#{?x}", "after '#'"),
        (BASE + "/{{x}}", "`params` says"),
        (BASE + "/{x", "other half"),
        (BASE + "/x}", "other half"),
        (BASE + "/{}", "none of"),
        (BASE + "/{a-b}", "none of"),
        (BASE + "/{1}", "none of"),
        (BASE + "/{a,b}", "none of"),
        (BASE + "/{+a}", "none of"),
        (BASE + "/a{?b}/c", "not at the end"),
        (BASE + "/a{?b}c", "not at the end"),
        (BASE + "/a{?}", "name of a query parameter|none of"),
        (BASE + "/a?{b}", "name of a query parameter"),
        (BASE + "/a?{b}=1", "name of a query parameter"),
        (BASE + "/a?b=%ff{c}", "not UTF-8"),
        (BASE + "/../{a}", "'.' or '..'"),
        (BASE + "/%2e%2E/{a}", "'.' or '..'"),
        (BASE + "/{a}%2f..", "'.' or '..'"),
        (BASE + "/..%5c{a}", "'.' or '..'"),
        (BASE + "/" + "a" * 2_048, "2048"),
        ("http://a.test/{x}", "https"),
        ("https://127.0.0.1/{x}", "IP address"),
        (BASE + "/a b", "printable"),
    ],
)
def test_what_is_refused_when_it_is_stored(url: str, says: str) -> None:
    with pytest.raises(InvalidUrlError, match=says):
        urls.parse(url)


@pytest.mark.parametrize(
    "value",
    [
        *("", ".", "..", "%2e", "%2E%2e", "%252e%252e", "../x", "a/..", "a/../b", "a\\..\\b", "..%2fa", "..;x=1", "%2e%2e;"),
        *("．．", "‥", "a／..", "%EF%BC%8E%EF%BC%8E"),
        *("a\nb", "a\x00", "a%00b", "\x7f", "a%0d%0ab"),
    ],
)
def test_what_could_climb_or_cut_a_path_is_refused(value: str) -> None:
    with pytest.raises(InvalidUrlTemplateError) as caught:
        urls.fill_path(urls.parse(BASE + "/a/{x}/b"), {"x": [value]})
    assert caught.value.name == "x"
    assert not value or value in "'.'..'" or value not in str(caught.value)


@pytest.mark.parametrize(("segment", "value"), [("..{x}", ";a"), ("..{x}", "/a"), (".%2{x}", "e"), ("{x}..", "a\\")])
def test_text_around_a_placeholder_does_not_make_it_climb(segment: str, value: str) -> None:
    with pytest.raises(InvalidUrlTemplateError):
        urls.fill_path(urls.parse(f"{BASE}/a/{segment}/b"), {"x": [value]})


def test_text_may_stand_around_a_placeholder() -> None:
    assert urls.fill_path(urls.parse(BASE + "/a/v{x}.json"), {"x": ["1.2"]}) == BASE + "/a/v1.2.json"


def test_several_texts_stand_with_commas_and_none_can_add_one() -> None:
    assert urls.fill_path(urls.parse(BASE + "/{ids}"), {"ids": ["a,b", "c/d"]}) == BASE + "/a%2Cb,c%2Fd"


TEXTS = st.text(st.characters(exclude_categories=("Cs",)))
BITS = st.sampled_from(
    ("/", "..", ".", "%2f", "%2e", "%", "?", "#", "\\", ";", "@", ":", "//", "a", " ", "é", "{x}", "{{x}}", "&")
)


@settings(max_examples=40)
@given(st.one_of(TEXTS, st.lists(BITS).map("".join)))
@example("a/b")
@example("a?b#c")
def test_no_value_changes_the_path(value: str) -> None:
    address = urls.parse(BASE + "/v1/{x}/end?fixed=1")
    try:
        url = urls.fill_path(address, {"x": [value]})
    except InvalidUrlTemplateError:
        return
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("https", HOST, "fixed=1", "")
    empty, first, segment, last = parts.path.split("/")
    assert (empty, first, last) == ("", "v1", "end")
    assert unquote(segment) == value
    assert segment == quote(value, safe="")
    assert grammar(url).path == parts.path


@settings(max_examples=40)
@given(st.lists(st.one_of(BITS, st.sampled_from(("{x}", "{y?}", "{?z}", "{?a&b}", "{", "}", "=", "v")))).map("".join))
def test_any_text_is_a_url_or_malformed(rest: str) -> None:
    try:
        address = urls.parse(BASE + "/v1" + rest)
    except InvalidUrlError:
        return
    assert address.host == HOST
    written = urls.fill_path(address, {name: ["v"] for name in address.path_names()})
    assert "{" not in written.partition("#")[0]
    assert grammar(written).host == HOST
