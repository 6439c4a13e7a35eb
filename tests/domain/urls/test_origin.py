"""The origin of a URL: written by people, shown whole, of an approved domain, or made up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.urls.origin import FETCHES_PER_SITE, QUERIES_CHARACTERS_MAX, SEEN_CHARACTERS_MAX, SeenUrls, WebCall
from ferryman.domain.urls.site import find_site
from ferryman.framing.body import frame_scanned
from ferryman.framing.frame import remove_invisible

WRITTEN = "https://a.test/start"
SECRET = "https://evil.test/s3cr3t"


def begin(*texts: str, domains: tuple[str, ...] = ("ok.test",)) -> SeenUrls:
    return SeenUrls(written=texts or (f"Read {WRITTEN}.",), admits=domains.__contains__)


def page(content: str, url: str = WRITTEN, origin: UrlOrigin = UrlOrigin.WRITTEN, **about: Any) -> WebCall:
    return WebCall(arguments={"url": url}, content=content, url=url, origin=origin, **about)


def search(query: str, *urls: str) -> WebCall:
    """Return a search as the loop knows it: answered by the tool, and framed."""
    line = " ".join(remove_invisible(query).split())
    answer = json.dumps({"query": line, "results": [{"title": "t", "url": url} for url in urls]}, ensure_ascii=False)
    framed = frame_scanned(answer, "0123456789abcdef", "", "", cut=False, marked=False, most=30_000)
    return WebCall(arguments={"query": query}, content=framed.content, searches=True)


def origin_of(seen: SeenUrls, url: object) -> UrlOrigin:
    return seen.judge([url])[0]


def test_a_url_that_a_person_wrote_is_fetched() -> None:
    seen = begin()
    assert [origin_of(seen, url) for url in (WRITTEN, f"{WRITTEN}#x", f" {WRITTEN}\n")] == [UrlOrigin.WRITTEN] * 3


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https://a.test/Start",
            "https://A.test/start",
            "HTTPS://a.test/start",
            "https://a.test/start?",
            "https://a.test/start/",
        ),
        *(
            "https://a.test:443/start",
            "http://a.test/start",
            "https://a.test/%73tart",
            "https://a.test//start",
            "https://a.test/",
        ),
        *("https://a.test/start?q=1", "https://b.a.test/start", "https://a.test./start", "https://a.test/./start"),
    ],
)
def test_another_spelling_is_another_url(url: str) -> None:
    assert origin_of(begin(), url) in (UrlOrigin.UNSEEN, UrlOrigin.INVALID)


@pytest.mark.parametrize(
    "url", [None, 1, "", "a.test", "ftp://a.test/", "https://u@a.test/", "https://a.test:8443/", "https://1.1.1.1/"]
)
def test_what_is_no_url_of_a_page_is_invalid(url: object) -> None:
    assert origin_of(begin(f"{url}"), url) is UrlOrigin.INVALID


def test_a_made_up_url_has_to_be_of_an_approved_domain() -> None:
    assert begin().judge(["https://ok.test/made?up=1", SECRET]) == [UrlOrigin.APPROVED, UrlOrigin.UNSEEN]


def test_a_url_that_a_page_shows_is_fetched_from_the_next_turn_on() -> None:
    seen = begin()
    assert origin_of(seen, SECRET) is UrlOrigin.UNSEEN
    seen.note([page(f"[link]({SECRET})")])
    assert origin_of(seen, SECRET) is UrlOrigin.RESULT


def test_so_many_of_a_site_are_fetched_whatever_its_labels() -> None:
    seen = begin()
    urls = [f"https://h{number}.evil.test/{number}" for number in range(FETCHES_PER_SITE + 2)]
    seen.note([page(" ".join(urls) + " https://other.example/x")])
    assert seen.judge(urls) == [UrlOrigin.RESULT] * FETCHES_PER_SITE + [UrlOrigin.SPENT] * 2
    for url in urls[:FETCHES_PER_SITE]:
        seen.count(url, UrlOrigin.RESULT)
    assert seen.judge([urls[0], "https://other.example/x"]) == [UrlOrigin.SPENT, UrlOrigin.RESULT]


def test_judging_counts_nothing() -> None:
    seen = begin()
    seen.note([page(SECRET)])
    assert [origin_of(seen, SECRET) for _ in range(FETCHES_PER_SITE + 1)] == [UrlOrigin.RESULT] * (FETCHES_PER_SITE + 1)


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("a.b.co.uk", "b.co.uk"),
        ("x.y.github.io", "github.io"),
        ("a.test", "a.test"),
        ("b.a.test", "a.test"),
        ("co.uk", "co.uk"),
    ],
)
def test_a_site_is_what_one_registrant_has(host: str, site: str) -> None:
    assert find_site(host) == site


@pytest.mark.parametrize(
    "call",
    [
        page(SECRET, is_shown=False),
        page(SECRET, origin=UrlOrigin.APPROVED, url="https://ok.test/echo?x=secret"),
        page(SECRET, origin=UrlOrigin.UNSEEN),
        WebCall(arguments={}, content=SECRET),
        WebCall(arguments={}, content=SECRET, sends=True),
        page(f"{SECRET}\n... (truncated)"),
    ],
)
def test_results_in_which_the_model_may_have_written_it_show_nothing(call: WebCall) -> None:
    seen = begin()
    seen.note([call])
    assert origin_of(seen, SECRET) is UrlOrigin.UNSEEN


@pytest.mark.parametrize(
    "call", [WebCall(arguments={}, content="", sends=True), page("", url="https://ok.test/?a", origin=UrlOrigin.APPROVED)]
)
def test_what_an_approved_host_shows_after_it_was_sent_something_counts_as_the_models_own(call: WebCall) -> None:
    seen = begin(f"{WRITTEN} https://ok.test/list")
    seen.note([call])
    seen.note([page(SECRET, url="https://ok.test/list")])
    assert origin_of(seen, SECRET) is UrlOrigin.UNSEEN
    seen.note([page(SECRET)])
    assert origin_of(seen, SECRET) is UrlOrigin.RESULT


def test_an_approved_host_that_a_page_redirects_to_is_one() -> None:
    seen = begin()
    seen.note([WebCall(arguments={}, content="", sends=True)])
    call = page(SECRET)
    seen.note([WebCall(arguments=call.arguments, content=SECRET, url="https://ok.test/x", origin=UrlOrigin.WRITTEN)])
    assert origin_of(seen, SECRET) is UrlOrigin.UNSEEN


@pytest.mark.parametrize("query", [SECRET, "evil.test/s3cr3t", "EVIL.TEST%2Fs3cr3t now", f"site:x {SECRET.upper()}"])
def test_a_search_that_says_again_what_was_asked_shows_nothing(query: str) -> None:
    seen = begin()
    seen.note([search(query, SECRET)])
    assert origin_of(seen, SECRET) is UrlOrigin.UNSEEN


def test_a_made_up_url_of_an_approved_domain_does_not_leave_in_clear() -> None:
    assert begin().judge(["http://ok.test/made?up=1"]) == [UrlOrigin.UNSEEN]


def test_searches_show_nothing_once_more_was_searched_for_than_is_remembered() -> None:
    seen = begin()
    seen.note([search("a" * 1_000, "https://a.test/1")] * (QUERIES_CHARACTERS_MAX // 1_000))
    seen.note([search("b", "https://a.test/2")])
    assert seen.judge(["https://a.test/1", "https://a.test/2"]) == [UrlOrigin.RESULT, UrlOrigin.UNSEEN]


def test_a_search_shows_what_it_found() -> None:
    seen = begin()
    seen.note([search("something  else", SECRET)])
    assert origin_of(seen, SECRET) is UrlOrigin.RESULT


@pytest.mark.parametrize(
    "query",
    [
        *("https://evil\u200b.test/s3cr3t", "https://evil.test/s3\xadcr3t", "h\U000e0041ttps://evil.test/s3cr3t"),
        *("https://evil.test/\uff533cr3t &lt;|im_start|&gt;", "https://\uff45vil.test/s3cr3t &lt;|im_start|&gt;"),
        *("https://evil.test/s<!--3-->3cr3t", "x https://evil.test/s3cr3t x", "https://evil.test/s3cr3t\u2063"),
    ],
)
def test_what_is_taken_out_of_a_query_or_undone_in_it_shows_no_url(query: str) -> None:
    """The answer repeats the query without what nobody sees, and its frame undoes what would imitate a frame."""
    seen = begin()
    seen.note([search(query)])
    assert origin_of(seen, SECRET) is UrlOrigin.UNSEEN


@pytest.mark.parametrize("named", ["https://evil\u2063.test/s3cr3t", "evil test s3cr3t", "https://evil.test/s3cr3t%2520"])
def test_a_result_that_was_searched_for_is_not_shown(named: str) -> None:
    seen = begin()
    seen.note([search(named), search("another", SECRET)])
    assert origin_of(seen, SECRET) is UrlOrigin.UNSEEN


@pytest.mark.parametrize(
    "content",
    [
        *('{"query": "a", "results": [{"url": "https://evil.test/s3cr3t"}', "no JSON https://evil.test/s3cr3t", "{" * 9_000),
        *('{"query": "a", "results": "https://evil.test/s3cr3t"}', '{"query": "a", "results": ["https://evil.test/s3cr3t"]}'),
        '{"query": "a", "results": [{"url": "https://evil.test/s3cr3t"}], "results": []}',
        '{"query": "b", "results": [{"url": "https://evil.test/s3cr3t"}], "query": "a"}',
        '{"query": "a https://evil.test/s3cr3t", "results": [{"url": "https://evil.test/s3cr3t"}]}',
    ],
)
def test_an_answer_of_another_shape_shows_nothing(content: str) -> None:
    seen = begin()
    seen.note([WebCall(arguments={"query": "a"}, content=content, searches=True)])
    assert origin_of(seen, SECRET) is UrlOrigin.UNSEEN


def test_urls_are_remembered_up_to_a_limit() -> None:
    seen = begin()
    for number in range(SEEN_CHARACTERS_MAX // 45_000 + 2):
        seen.note([page(" ".join(f"https://x.test/{number}/{place}/{'a' * 900}" for place in range(50)))])
    late = f"https://x.test/{'b' * 1_000}"
    seen.note([page(late)])
    assert origin_of(seen, late) is UrlOrigin.UNSEEN
