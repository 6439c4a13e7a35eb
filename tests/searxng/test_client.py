"""One search: what leaves, and what each failure is told as."""

from __future__ import annotations

import json

import httpx
import pytest

from emulator.internet.routes import ReceivedRequest
from ferryman.domain.calls.suggestion import SUGGESTIONS
from ferryman.ports.search import SearchFailedError
from ferryman.searxng.client import ANSWER_BYTES_MAX, LONG_BYTES, REQUEST_SECONDS, SearxngEngine
from tests.searxng.engines import ENDPOINT, ask_engine, ask_fixture, write_row, write_rows


async def search(engine: SearxngEngine, query: str = "q", most: int = 15):
    return await engine.search(query, most=most, owner="ann")


async def test_a_search_is_one_get_with_the_query_first_spaces_as_plus_and_nothing_else():
    received: list[ReceivedRequest] = []
    await search(ask_fixture(received), "Kubernetes 1.31 release news")
    assert [(request.method, request.path, request.query) for request in received] == [
        ("GET", "/search", "q=Kubernetes+1.31+release+news&format=json&safesearch=0&language=en")
    ]


async def test_nothing_in_a_query_adds_a_parameter_or_leads_elsewhere():
    received: list[ReceivedRequest] = []
    await search(ask_fixture(received), "a&format=html#x/../../y?z=1")
    assert received[0].query == "q=a%26format%3Dhtml%23x%2F..%2F..%2Fy%3Fz%3D1&format=json&safesearch=0&language=en"


async def test_the_path_of_the_endpoint_is_kept():
    received: list = []
    await search(ask_engine(write_rows(write_row()), received=received))
    assert [str(request.url.path) for request in received] == ["/inside/search"]


async def test_no_cookie_of_the_engine_comes_back():
    received: list = []
    engine = ask_engine(write_rows(write_row()), headers={"set-cookie": "id=1"}, received=received)
    await search(engine)
    await search(engine)
    assert ["cookie" in request.headers for request in received] == [False, False]


@pytest.mark.parametrize(
    ("status", "words", "code"),
    [
        (403, "search.formats", "not_configured"),
        (429, "too many searches", "too_many_requests"),
        (302, "is not followed", "request_failed"),
        (500, "failed (500)", "request_failed"),
    ],
)
async def test_a_status_is_told_in_words_with_what_to_do(status: int, words: str, code: str):
    with pytest.raises(SearchFailedError) as failed:
        await search(ask_engine(status=status, headers={"location": "http://169.254.169.254/"}))
    assert words in str(failed.value)
    assert (failed.value.code, code in SUGGESTIONS) == (code, True)


async def test_a_redirect_is_not_followed():
    received: list = []
    with pytest.raises(SearchFailedError):
        await search(ask_engine(status=302, headers={"location": f"{ENDPOINT}/else"}, received=received))
    assert len(received) == 1


async def test_a_bang_that_makes_searxng_redirect_is_not_followed_either():
    received: list[ReceivedRequest] = []
    with pytest.raises(SearchFailedError, match="not followed"):
        await search(ask_fixture(received), "!!g secrets")
    assert len(received) == 1


@pytest.mark.parametrize(
    "content",
    [
        *(
            b"",
            b"<html>",
            b"[]",
            b'{"results": {}}',
            b'{"results": [NaN]}',
            b"\xff\xfe",
            b'{"results": [' + b"9" * 5_000 + b"]}",
        ),
        b'{"results": ' + b"[" * 100_000,
        b'{"results": ' + b"[" * (LONG_BYTES + 1),
        b'{"results": [' + b"[]," * LONG_BYTES,
    ],
    ids=lambda content: f"{content[:20].decode('ascii', 'ignore')}, {len(content)} bytes",
)
async def test_what_is_no_answer_is_told_and_not_repeated(content: bytes):
    with pytest.raises(SearchFailedError, match=r"^the search engine's answer cannot be read$"):
        await search(ask_engine(content))


async def test_an_answer_of_4_mib_is_read_and_one_byte_more_is_not():
    rows = write_rows(write_row())
    exact = rows + b" " * (ANSWER_BYTES_MAX - len(rows))
    assert len(await search(ask_engine(exact))) == 1
    with pytest.raises(SearchFailedError, match="more than 4,194,304 bytes"):
        await search(ask_engine(exact + b" "))


async def test_a_packed_answer_is_refused():
    with pytest.raises(SearchFailedError, match="packed"):
        await search(ask_engine(write_rows(write_row()), headers={"content-encoding": "gzip"}))


async def test_an_empty_answer_of_engines_that_did_not_answer_is_a_failure_and_that_of_others_is_not():
    with pytest.raises(SearchFailedError, match=r"2 of the engines behind the search did not answer"):
        await search(ask_engine(write_rows(unresponsive_engines=[["google", "timeout"], ["bing", "CAPTCHA"]])))
    assert await search(ask_engine(write_rows(unresponsive_engines=[]))) == ()


class Failing(httpx.AsyncBaseTransport):
    def __init__(self, error: httpx.HTTPError) -> None:
        self._error = error

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        assert request.extensions["timeout"]["read"] == REQUEST_SECONDS == 10
        raise self._error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx.ConnectError(f"cannot connect to {ENDPOINT}"), "the search engine cannot be reached"),
        (httpx.ReadTimeout(ENDPOINT), "the search engine did not answer in time"),
        (httpx.RemoteProtocolError(ENDPOINT), "the connection to the search engine broke"),
    ],
)
async def test_a_failure_of_the_connection_is_told_without_the_endpoint(error: httpx.HTTPError, words: str):
    with pytest.raises(SearchFailedError) as failed:
        await search(SearxngEngine(ENDPOINT, transport=Failing(error)))
    assert str(failed.value) == words


async def test_a_port_where_nobody_listens_is_told():
    with pytest.raises(SearchFailedError, match="cannot be reached"):
        await search(SearxngEngine("http://127.0.0.1:1"))


async def test_seven_engines_give_one_list_without_doubles():
    received: list[ReceivedRequest] = []
    results = await search(ask_fixture(received), "ferry bees rivers page")
    answer = json.dumps([result.url for result in results])
    assert len(results) == 5, answer
    assert len({result.url.lower().rstrip("/").partition("#")[0] for result in results}) == 5, answer
