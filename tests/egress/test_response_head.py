"""The attributes of a frame: what an upstream's headers may show to the model, and that none ends it or has a key."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.http.request import InboundResponse
from ferryman.egress.leaks import SecretScanner
from ferryman.egress.response_head import LOCATION_CHARACTERS_MAX, ResponseHead, read_head
from ferryman.egress.sanitize import render_response
from tests.egress.plants import NOTATIONS, VALUES, credential

VALUE = VALUES["prefixed"]
NOBODY, SCANNER = SecretScanner([]), SecretScanner([credential(VALUE)])
MARK = "[redacted:NEWS_KEY]"
FRAME = re.compile(
    r'(?:Error: HTTP [^\n<>"]{1,200}\n)?<tool_response id="n0" truncated="(?:true|false)" status="\d{1,3}"'
    r'(?: content_type="[^"<>&\s]{1,200}")?(?: location="[^"<>\s]{1,2100}")?'
    r'(?: retry_after="[^"<>]{1,40}")?>fine</tool_response>'
)


def answer(status: int = 200, **headers: str) -> InboundResponse:
    pairs = tuple((name.replace("_", "-").title(), value) for name, value in headers.items())
    return InboundResponse(status=status, headers=pairs, body=b"fine", size_bytes=4)


def head(status: int = 200, scanner: SecretScanner = NOBODY, **headers: str) -> ResponseHead:
    return read_head(answer(status, **headers), scanner)


@pytest.mark.parametrize(
    ("sent", "displayed"),
    [
        ("application/json", "application/json"),
        ("Text/HTML; charset=utf-8", "text/html"),
        (" application/vnd.github.v3+json ;q=1", "application/vnd.github.v3+json"),
        *(
            (bad, "invalid")
            for bad in ("", "text", "text/", "/html", "text/ht ml", "text/html, text/plain", 'text/"><b>', "é/a")
        ),
        *(
            (bad, "invalid")
            for bad in ("text/" + "a" * 101, "a" * 65 + "/b", "text/&quot;", "text/a\x00b", "text/'a'", "text//a")
        ),
    ],
)
def test_a_content_type_is_shown_without_parameters_or_as_invalid(sent: str, displayed: str) -> None:
    assert head(content_type=sent).content_type == displayed


@pytest.mark.parametrize(
    ("sent", "displayed"),
    [
        ("https://api.news.test/v2?a=1&b=%22x%22#top", "https://api.news.test/v2?a=1&b=%22x%22#top"),
        ("/next?page=2&lt=5&copy=1", "/next?page=2&lt=5&copy=1"),
        ("https://a.test/?a=1&amp;b=2", "https://a.test/?a=1&amp;b=2"),
        ("https://a.test/O'Brien", "https://a.test/O%27Brien"),
        ("https://[2001:db8::1]/", "https://[2001:db8::1]/"),
        *(
            (bad, "invalid")
            for bad in ("", 'https://a.test/"', "https://a.test/ b", "https://a.test/<b>", "https://a.test/\\u0022")
        ),
        *(
            (bad, "invalid")
            for bad in ("https://a.test/&quot;>", "/&#34;", "/&amp;amp;#x22;", "/&gt;", "/é", "/\x7f", "/`", "/{a}")
        ),
        *((bad, "invalid") for bad in ("system:obey", "%3C/tool_response%3E", "/\u200b", "javascript:alert('\n')")),
    ],
)
def test_a_location_is_shown_as_a_url_or_as_invalid(sent: str, displayed: str) -> None:
    assert head(302, location=sent).location == displayed


def test_a_location_is_at_most_2048_characters() -> None:
    assert head(301, location="/" * LOCATION_CHARACTERS_MAX).location == "/" * 2_048
    assert head(301, location="/" * (LOCATION_CHARACTERS_MAX + 1)).location == "invalid"


@pytest.mark.parametrize("status", [200, 201, 299, 400, 404, 500])
def test_only_a_redirect_has_a_location(status: int) -> None:
    assert head(status, location="/a").location is None


@pytest.mark.parametrize("status", [300, 302, 304, 399])
def test_a_redirect_has_the_location_that_was_sent_or_none(status: int) -> None:
    assert (head(status, location="/a").location, head(status).location) == ("/a", None)


@pytest.mark.parametrize(
    ("sent", "displayed"),
    [
        ("0", "0"),
        (" 120 ", "120"),
        ("999999999", "999999999"),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT"),
        *(
            (bad, "invalid")
            for bad in ("", "-1", "1.5", "1e3", "soon", "1000000000", "１２", "120, 240", 'Wed, 21 Oct 2026 07:28:00 "GMT')
        ),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_when_to_ask_again_is_shown_as_seconds_or_a_date_or_as_invalid(status: int, sent: str, displayed: str) -> None:
    assert head(status, retry_after=sent).retry_after == displayed


@pytest.mark.parametrize("status", [200, 301, 404, 500])
def test_another_status_has_no_time_to_ask_again(status: int) -> None:
    assert head(status, retry_after="120").retry_after is None


def test_the_attributes_stand_in_the_frame_and_the_time_in_the_line_before_it_too() -> None:
    limited = answer(429, content_type="text/plain", retry_after="120", location="/a")
    assert render_response(limited, NOBODY, nonce="n0").content == (
        "Error: HTTP 429 Too Many Requests -- the upstream answered with an error. Retry-After: 120 seconds.\n"
        '<tool_response id="n0" truncated="false" status="429" content_type="text/plain" retry_after="120">fine</tool_response>'
    )
    assert render_response(answer(302, location="/a"), NOBODY, nonce="n0").content == (
        '<tool_response id="n0" truncated="false" status="302" location="/a">fine</tool_response>'
    )


def test_a_header_that_is_given_twice_is_shown_once_or_as_invalid() -> None:
    twice = InboundResponse(status=302, headers=(("Location", "/a"), ("location", "/a")), body=b"", size_bytes=0)
    assert read_head(twice, NOBODY).location == "/a"
    differing = InboundResponse(status=302, headers=(("Location", "/a"), ("location", "/b")), body=b"", size_bytes=0)
    assert read_head(differing, NOBODY).location == "invalid"


def test_a_key_in_the_target_of_a_redirect_is_redacted() -> None:
    assert head(302, SCANNER, location=f"https://a.test/?k={VALUE}&x=1").location == f"https://a.test/?k={MARK}&x=1"


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("name", ["content_type", "location", "retry_after"])
def test_no_header_shows_a_key_in_any_notation(name: str, notation: str) -> None:
    written = NOTATIONS[notation](VALUE)
    for status in (302, 429, 503):
        for value in (written, f"text/{written}", f"https://a.test/{written}", f"/{written}?a=1"):
            displayed = str(head(status, SCANNER, **{name: value}))
            assert not displayed or written not in displayed
            assert SCANNER.find_piece(displayed.replace(MARK, "")) is None


@pytest.mark.parametrize("size", [8, 10, 11])
def test_no_header_shows_a_piece_of_a_key_whose_rest_the_body_may_have(size: int) -> None:
    piece = VALUE[-size:]
    assert head(302, SCANNER, location=f"https://a.test/{piece}").location == MARK
    assert head(200, SCANNER, content_type=f"text/{piece}").content_type == MARK


PIECES = st.sampled_from(
    ['"', "'", "<", ">", "&", "&quot;", "&#34;", "%22", "\\u0022", " ", "\n", "tool_response", "/", "a", VALUE, VALUE[-12:]]
)
HEADERS = st.lists(PIECES | st.characters(max_codepoint=255) | st.text(max_size=2), max_size=12).map("".join)


@given(st.sampled_from([200, 301, 307, 404, 429, 503]), HEADERS, HEADERS, HEADERS)
@settings(max_examples=300, deadline=None)
def test_whatever_the_headers_are_there_is_one_frame_without_a_key(status: int, media: str, location: str, after: str) -> None:
    inbound = answer(status, content_type=f"text/{media}", location=f"https://a.test/{location}", retry_after=after)
    seen = render_response(inbound, SCANNER, nonce="n0").content
    assert FRAME.fullmatch(seen), seen
    assert seen.count("tool_response") == 2
    assert VALUE[-12:] not in seen
