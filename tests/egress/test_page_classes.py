"""Pages by class: no URL and no address that the gate refuses is let through where a public page is fetched either."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import InboundResponse
from ferryman.domain.http.url import CHARACTERS_MAX, URL, parse_page_url
from ferryman.egress.public import PublicPages
from ferryman.egress.tls import create_context
from ferryman.ports.public_pages import PageRequest
from ferryman.tools.web.web_fetch import web_fetch
from tests.egress.addresses import ADMITTED, REFUSED
from tests.egress.conftest import PUBLIC, Dialer, Names
from tests.egress.malformed_urls import GRAMMAR
from tests.egress.urls import HOST

START = "start.test"
PLAIN = {f"{scheme}://{HOST}{end}" for scheme in ("http", "https") for end in ("/", "/v1", "/#")}
PLAIN |= {f"HTTP://{HOST}/", f"http://{HOST}:80/v1", f"http://{HOST}:80"}
"""URLs of pages that the gate refuses, or that it would not trim."""


class Dialled(Dialer):
    """Notes the port beside the address, and reaches nobody."""

    async def dial(self, address: Any, port: int, *, timeout_s: float | None) -> Any:
        assert port in (80, 443)
        return await super().dial(address, 443, timeout_s=timeout_s)


@dataclass(frozen=True, kw_only=True)
class RedirectingPages(PublicPages):
    """Pages of which the first redirects to `location`; what is asked for afterwards is noted, and not sent."""

    location: str
    requests: list[URL] = field(default_factory=list)

    async def _send(self, request: PageRequest, url: URL) -> InboundResponse:
        self.requests.append(url)
        status, headers = (302, (("location", self.location),)) if len(self.requests) == 1 else (200, ())
        return InboundResponse(status=status, headers=headers, body=b"", size_bytes=0)


async def call(url: str, *answers: str) -> tuple[Names, Dialer]:
    """Call `web_fetch` with a URL, where the name of the approved host has these addresses; return what it did."""
    names, dialer = Names({HOST: answers or [PUBLIC]}), Dialled()
    pages = PublicPages(names=names, dial=dialer, tls=create_context(), robots=False)
    body = {"arguments": {"url": url}, "user": "ann", "within_s": 5.0, "origin": "written"}
    answer = await web_fetch(pages, {**body, "anywhere": True, "domains": [], "most": 1_000}, ceiling=1_000)
    assert answer["code"] is not None
    return names, dialer


def list_forms(klass: str) -> list[str]:
    """Return the URLs of a class as they are and as those of http, but for those of which one character more is wrong."""
    forms = [form for url in GRAMMAR[klass] for form in (url, url.replace("https://", "http://", 1))]
    return [form for form in dict.fromkeys(forms) if klass != "length" or len(form) > CHARACTERS_MAX]


@pytest.mark.parametrize("klass", GRAMMAR)
async def test_what_is_no_url_of_a_page_reaches_no_resolver(klass: str) -> None:
    missed = []
    for url in list_forms(klass):
        names, _ = await call(url)
        if names.lookups and url.strip() not in PLAIN:
            missed.append(url)
    assert missed == []


@pytest.mark.parametrize("klass", GRAMMAR)
async def test_a_redirect_to_what_is_no_url_of_a_page_leads_nowhere_else(klass: str) -> None:
    missed = []
    for location in list_forms(klass):
        pages = RedirectingPages(location=location, names=Names({}), dial=Dialer(), tls=create_context(), robots=False)
        request = PageRequest(url=parse_page_url(f"http://{START}/a"), owner="ann", body_max=1_000, within_s=5.0)
        try:
            await pages.fetch(request)
        except CallRefusedError:
            continue
        # a reference that is relative stays on the host that redirects, or keeps its scheme
        stays = all(url.host == START for url in pages.requests)
        if not stays and location.strip() not in PLAIN | {f"//{HOST}/"}:
            missed.append(location)
    assert missed == []


@pytest.mark.parametrize("scheme", ["https", "http"])
@pytest.mark.parametrize("klass", REFUSED)
async def test_no_page_is_fetched_from_an_address_that_is_not_public(klass: str, scheme: str) -> None:
    missed = []
    for address in REFUSED[klass]:
        for answers in ((address,), (PUBLIC, address), (address, PUBLIC)):
            _, dialer = await call(f"{scheme}://{HOST}/", *answers)
            missed += [answers] if dialer.dialled else []
    assert missed == []


@pytest.mark.parametrize("klass", ADMITTED)
async def test_a_page_is_fetched_from_a_public_address(klass: str) -> None:
    assert [address for address in ADMITTED[klass] if not (await call(f"http://{HOST}/", address))[1].dialled] == []
