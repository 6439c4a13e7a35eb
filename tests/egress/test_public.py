"""Public pages: what is fetched, over which schemes, how redirects are checked, and what every request has in it."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from emulator.internet.authority import Authority
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.robots import BYTES_MAX
from tests.egress.pages import PageStage, stage_pages


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("authority")
    Authority(folder / "internet")
    return folder


@pytest.fixture
async def stage(authority: Path) -> AsyncIterator[PageStage]:
    async with stage_pages(authority) as staged:
        yield staged


@pytest.fixture
async def polite(authority: Path) -> AsyncIterator[PageStage]:
    async with stage_pages(authority, robots=True) as staged:
        yield staged


def redirect(path: str, to: str, status: int = 302) -> dict[str, object]:
    return {"path": path, "status": status, "headers": {"location": to}}


async def refusal_of(stage: PageStage, url: str, **about: object) -> str:
    with pytest.raises(CallRefusedError) as raised:
        await stage.fetch(url, **about)
    return raised.value.refusal.message


@pytest.mark.parametrize("scheme", ["https", "http"])
async def test_a_page_is_fetched_over_either_scheme(stage: PageStage, scheme: str) -> None:
    stage.serve("a.test", {"path": "/x", "body": "hello"})
    page = await stage.fetch(f"{scheme}://a.test/x?q=1#part")
    assert (page.inbound.status, page.inbound.body, str(page.url)) == (200, b"hello", f"{scheme}://a.test/x?q=1")
    assert page.media_type == "text/plain; charset=utf-8"


async def test_a_request_says_nothing_but_its_url(stage: PageStage) -> None:
    stage.serve("a.test", redirect("/1", "/2"), {"path": "/2", "headers": {"set-cookie": "a=1"}, "body": "x"})
    await stage.fetch("https://a.test/1")
    for request in stage.internet.requests():
        assert [name for name, _ in request.headers] == ["host", "accept", "accept-encoding", "user-agent", "connection"]
        assert (request.method, request.body) == ("GET", b"")


async def test_redirects_are_followed_five_times(stage: PageStage) -> None:
    stage.serve("a.test", *(redirect(f"/{n}", f"/{n + 1}") for n in range(6)), {"path": "/6", "body": "end"})
    assert (await stage.fetch("https://a.test/1")).url.path == "/6"
    assert "5 times already" in await refusal_of(stage, "https://a.test/0")


@pytest.mark.parametrize(
    "to",
    [
        *("https://10.0.0.1/", "https://169.254.169.254/computeMetadata/v1/", "https://[::1]/", "https://private.test/"),
        *("https://rebound.test/", "https://metadata.google.internal/", "https://b.test:8443/", "https://u:p@b.test/"),
        *("http://b.test/", "ftp://b.test/", "file:///etc/passwd", "javascript:1", "//10.0.0.1/", "https://2130706433/", ""),
        *("https://b.test\\@a.test/", "https://b.test/\u00e9", "https://0x7f.1/", "https://localhost/"),
    ],
)
async def test_a_redirect_leads_to_public_pages_alone(stage: PageStage, to: str) -> None:
    stage.serve("a.test", redirect("/", to))
    stage.serve("b.test", {"path": "*", "body": "b"})
    stage.serve("private.test", {"path": "*", "body": "p"}, addresses=["10.0.0.7"], dial={"10.0.0.7": stage.internet.port})
    stage.serve(
        "rebound.test",
        {"path": "*", "body": "p"},
        addresses=["25.7.0.1", "127.0.0.1"],
        dial={"25.7.0.1": stage.internet.port},
    )
    await refusal_of(stage, "https://a.test/")
    assert stage.received == ["a.test /"]


@pytest.mark.parametrize("to", ["https://b.te\tst/", "/\tx", "https://b.test/ x", "/./" * 1_400 + "x"])
async def test_where_a_redirect_leads_is_not_repaired(stage: PageStage, to: str) -> None:
    stage.serve("a.test", redirect("/", to), {"path": "/x", "body": "x"})
    stage.serve("b.test", {"path": "*", "body": "b"})
    assert "not in printable ASCII" in await refusal_of(stage, "https://a.test/")
    assert stage.received == ["a.test /"]


async def test_a_redirect_from_http_to_https_is_followed(stage: PageStage) -> None:
    stage.serve("a.test", {"path": "/x", "status": 301, "headers": {"location": "https://b.test/x"}})
    stage.serve("b.test", {"path": "/x", "body": "b"})
    assert str((await stage.fetch("http://a.test/x")).url) == "https://b.test/x"


async def test_a_redirect_stays_where_it_has_to(stage: PageStage) -> None:
    stage.serve("a.test", redirect("/in", "https://b.test/"), redirect("/out", "https://c.test/secret"))
    stage.serve("b.test", {"path": "/", "body": "b"})
    stage.serve("c.test", {"path": "*", "body": "c"})
    admits = {"a.test", "b.test"}.__contains__
    assert (await stage.fetch("https://a.test/in", admits=admits)).inbound.body == b"b"
    assert "not of an approved domain" in await refusal_of(stage, "https://a.test/out", admits=admits)
    assert "c.test /secret" not in stage.received


async def test_no_more_of_a_body_is_read_than_was_asked_for(stage: PageStage) -> None:
    bomb = gzip.compress(b"a" * 30_000_000)
    route = {"path": "/", "body_base64": b64encode(bomb).decode(), "headers": {"content-encoding": "gzip"}}
    stage.serve("a.test", route)
    inbound = (await stage.fetch("https://a.test/", body_max=1_000)).inbound
    assert (len(inbound.body), inbound.cut) == (1_000, True)


@pytest.mark.parametrize("coding", ["gzip, gzip", "zstd", "br, gzip"])
async def test_stacked_and_unknown_codings_are_refused(stage: PageStage, coding: str) -> None:
    stage.serve("a.test", {"path": "/", "body": "x", "headers": {"content-encoding": coding}})
    assert "content coding is not accepted" in await refusal_of(stage, "https://a.test/")


async def test_a_site_that_is_silent_is_given_up(stage: PageStage) -> None:
    stage.serve("a.test", {"path": "/", "body": "x", "delay_s": 60})
    assert "timed out" in await refusal_of(stage, "https://a.test/", within_s=0.2)


async def test_robots_txt_is_asked_once_and_heeded(polite: PageStage) -> None:
    rules = "User-agent: ferryman\nDisallow: /private\n"
    pages = ({"path": path, "body": "x"} for path in ("/a", "/b", "/private"))
    polite.serve("a.test", {"path": "/robots.txt", "body": rules}, *pages)
    await polite.fetch("https://a.test/a")
    await polite.fetch("https://a.test/b")
    assert "robots.txt of a.test" in await refusal_of(polite, "https://a.test/private")
    assert polite.received == ["a.test /robots.txt", "a.test /a", "a.test /b"]


async def test_robots_txt_of_the_target_of_a_redirect_is_heeded(polite: PageStage) -> None:
    polite.serve("a.test", redirect("/", "https://b.test/x"))
    polite.serve("b.test", {"path": "/robots.txt", "body": "User-agent: *\nDisallow: /"}, {"path": "/x", "body": "b"})
    assert "robots.txt of b.test" in await refusal_of(polite, "https://a.test/")
    assert "b.test /x" not in polite.received


async def test_robots_txt_redirects_where_its_page_may_and_nowhere_else(polite: PageStage) -> None:
    polite.serve("a.test", redirect("/robots.txt", "https://c.test/secret"), {"path": "/", "body": "x"})
    polite.serve("c.test", {"path": "*", "body": ""})
    assert "not of an approved domain" in await refusal_of(polite, "https://a.test/", admits={"a.test"}.__contains__)
    assert polite.received == ["a.test /robots.txt"]


async def test_a_site_without_robots_txt_may_be_fetched(polite: PageStage) -> None:
    polite.serve("a.test", {"path": "/", "body": "x"})
    assert (await polite.fetch("https://a.test/")).inbound.status == 200


async def test_a_site_whose_robots_txt_fails_is_not_fetched(polite: PageStage) -> None:
    polite.serve("a.test", {"path": "/robots.txt", "status": 503}, {"path": "/", "body": "x"})
    assert "robots.txt of a.test cannot be read" in await refusal_of(polite, "https://a.test/")


async def test_of_a_long_robots_txt_the_beginning_is_read(polite: PageStage) -> None:
    long = "User-agent: *\n" + "#\n" * BYTES_MAX + "Disallow: /"
    polite.serve("a.test", {"path": "/robots.txt", "body": long}, {"path": "/", "body": "x"})
    assert (await polite.fetch("https://a.test/")).inbound.status == 200
