"""Direct links: each bucket's service sends one object to anybody who follows one, and to nobody who has changed it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from ferryman.domain.files.direct_links import DirectLink
from ferryman.domain.files.disposition import write_disposition
from ferryman.domain.files.links import LINK_LIFETIME
from ferryman.domain.files.object import ObjectMissingError
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.objects import MemoryObjects
from ferryman.ports.objects import Objects

from .buckets import KINDS, run_bucket

KEY = "workspaces/w/reports/Zürich ☂ 100%+?&#='\".html"
CONTENT = b"<script>alert(1)</script>"
MINUTE = timedelta(minutes=1)
Follow = Callable[[str, str], Awaitable[httpx.Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedBucket:
    """A bucket with one object in it, and a way to follow links with a method and without a header."""

    kind: str
    objects: Objects
    clock: ManualClock
    follow: Follow

    async def link(self, lifetime: timedelta = MINUTE) -> DirectLink:
        stored = await self.objects.head(KEY)
        assert stored is not None
        return await self.objects.link(stored, disposition=write_disposition(KEY), lifetime=lifetime)


def follow_in_memory(objects: MemoryObjects) -> Follow:
    async def follow(url: str, method: str = "GET") -> httpx.Response:
        try:
            return httpx.Response(200, content=objects.follow(url)) if method == "GET" else httpx.Response(403)
        except PermissionError:
            return httpx.Response(403)
        except ObjectMissingError:
            return httpx.Response(404)

    return follow


@asynccontextmanager
async def run_linked(kind: str) -> AsyncIterator[LinkedBucket]:
    """Run a bucket of a kind with one object in it."""
    clock = ManualClock()
    async with run_bucket(kind, clock) as objects, httpx.AsyncClient(trust_env=False) as client:

        async def follow(url: str, method: str = "GET") -> httpx.Response:
            return await client.request(method, url, content=b"x" if method == "PUT" else None)

        await objects.put(KEY, CONTENT, content_type="text/html")
        chosen = follow_in_memory(objects) if isinstance(objects, MemoryObjects) else follow
        yield LinkedBucket(kind=kind, objects=objects, clock=clock, follow=chosen)


@pytest.fixture(params=KINDS)
async def bucket(request: pytest.FixtureRequest) -> AsyncIterator[LinkedBucket]:
    """A bucket of each kind."""
    async with run_linked(request.param) as linked:
        yield linked


@pytest.fixture(params=["google", "s3"])
async def service(request: pytest.FixtureRequest) -> AsyncIterator[LinkedBucket]:
    """A bucket of each service."""
    async with run_linked(request.param) as linked:
        yield linked


async def test_a_link_downloads_the_object_until_its_time_is_over(bucket: LinkedBucket) -> None:
    link = await bucket.link()
    assert link.expires_at == bucket.clock.now() + MINUTE
    bucket.clock.turn(MINUTE)
    assert (await bucket.follow(link.url, "GET")).content == CONTENT
    bucket.clock.turn(timedelta(seconds=1))
    assert (await bucket.follow(link.url, "GET")).status_code in (400, 403)


async def test_a_browser_stores_what_a_link_downloads_and_shows_nothing_of_it(service: LinkedBucket) -> None:
    headers = (await service.follow((await service.link()).url, "GET")).headers
    assert headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"] == write_disposition(KEY)


async def test_a_link_is_bound_to_its_version_where_the_service_can(bucket: LinkedBucket) -> None:
    link = await bucket.link()
    assert link.is_bound == (bucket.kind != "s3")
    await bucket.objects.put(KEY, b"new", content_type="text/plain")
    answer = await bucket.follow(link.url, "GET")
    assert (answer.status_code, answer.content == b"new") == ((404, False) if link.is_bound else (200, True))


async def test_a_link_to_what_is_deleted_opens_nothing(bucket: LinkedBucket) -> None:
    link = await bucket.link()
    await bucket.objects.delete(KEY)
    assert (await bucket.follow(link.url, "GET")).status_code == 404


async def test_a_link_changes_nothing(bucket: LinkedBucket) -> None:
    link = await bucket.link()
    for method in ("PUT", "DELETE", "POST", "PATCH"):
        assert (await bucket.follow(link.url, method)).status_code >= 400, method
    assert (await bucket.objects.get(KEY)).content == CONTENT


async def test_no_link_is_good_for_longer_than_a_quarter_of_an_hour(bucket: LinkedBucket) -> None:
    for lifetime in (timedelta(0), LINK_LIFETIME + timedelta(seconds=1), timedelta(seconds=1.5), -MINUTE):
        with pytest.raises(ValueError, match="900"):
            await bucket.link(lifetime)


async def test_a_link_shows_itself_to_nobody_who_prints_it(bucket: LinkedBucket) -> None:
    assert "://" not in repr(await bucket.link())


async def test_of_a_link_nothing_can_be_changed(service: LinkedBucket) -> None:
    await service.objects.put(KEY.replace("/w/", "/v/"), b"another's", content_type="text/plain")
    await service.objects.put(KEY, CONTENT, content_type="text/html")
    url = (await service.link()).url
    parts = urlsplit(url)
    changes = {
        "another workspace": url.replace("/w/", "/v/"),
        "out of it": url.replace("/w/", "/w/../v/"),
        "out of it, escaped": url.replace("/w/", "/w/%2e%2e/v/"),
        "another bucket": url.replace("a-project-files", "a-project-other"),
        "another name of the host": url.replace("127.0.0.1", "localhost"),
        "a longer time": url.replace("Expires=60", "Expires=900"),
        "another day": url.replace("Date=2", "Date=3"),
        "shown": url.replace("attachment", "inline"),
        "as a page": url.replace("application%2Foctet-stream", "text%2Fhtml"),
        "no name": url.replace("response-content-disposition", "response-content-language"),
        "another generation": url + "&generation=1",
        "another version": url + "&versionId=1",
        "one more header of the answer": url + "&response-cache-control=public",
        "the header twice": url + "&response-content-disposition=inline",
        "no signature": url.rpartition("&")[0],
        "an empty signature": url.rpartition("=")[0] + "=",
        "another signature": url[:-1] + ("1" if url.endswith("0") else "0"),
        "a second signature": url + "&" + url.rpartition("&")[2][:-4] + "0000",
        "another signer": url.replace("Credential=operator", "Credential=other"),
        "no parameters": url.partition("?")[0],
        "uploads": url + "&uploads=",
    }
    same = {name for name, changed in changes.items() if changed == url}
    assert same == set()
    for name, changed in changes.items():
        answer = await service.follow(changed, "GET")
        assert (name, answer.status_code in (400, 401, 403, 404), b"alert" in answer.content) == (name, True, False)
        assert b"another's" not in answer.content, name
    assert (await service.follow(url, "GET")).content == CONTENT
    assert parse_qs(parts.query)["response-content-type"] == ["application/octet-stream"]
