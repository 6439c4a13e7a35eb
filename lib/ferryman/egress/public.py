"""Public pages: fetched without any credential, each redirect checked like a first request and pinned again (SSRF).

http on port 80 and https on port 443 to public addresses alone; no cookie, no Referer, nothing of the call but its URL. From
https no redirect leads to http: what was asked for under encryption is not asked for in clear.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from dataclasses import dataclass, field
from urllib.parse import urljoin

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import InboundResponse, Method, PreparedRequest
from ferryman.domain.http.robots import BYTES_MAX, RobotRules, read_robots
from ferryman.domain.http.status import is_error
from ferryman.domain.http.url import URL, InvalidUrlError, parse_page_url
from ferryman.egress import quiet
from ferryman.egress.body import ACCEPT_ENCODING
from ferryman.egress.inject import USER_AGENT
from ferryman.egress.pin import Dialer, DirectDialer, Resolver, resolve_public_addresses
from ferryman.egress.response_head import get_header
from ferryman.egress.send import Sending, send
from ferryman.egress.simulated import SimulatedInternet
from ferryman.egress.tls import create_context
from ferryman.expiring import ExpiringCache
from ferryman.ports.gate import NameResolver
from ferryman.ports.public_pages import FetchedPage, PageRequest
from ferryman.settings import Settings

REDIRECTS_MAX = 5
HEADERS = (
    ("accept", "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5"),
    ("accept-encoding", ACCEPT_ENCODING),
    ("user-agent", USER_AGENT),
)
"""The same in every request."""

ROBOTS_S = 3_600.0
SITES_MAX = 500
"""How long, and of how many hosts, the rules of robots.txt are kept in memory."""

_LOCATION = re.compile("[!-~]{1,4096}", re.ASCII)
"""What a Location may be: a parser that resolves it would leave tabs and line ends out, and cut what is around it."""

_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, kw_only=True)
class PublicPages:
    """`ports.Pages`. `robots` tells whether robots.txt is asked first; its rules are kept for an hour."""

    names: NameResolver
    dial: Dialer
    tls: ssl.SSLContext
    robots: bool = True
    _rules: ExpiringCache[str, RobotRules] = field(
        default_factory=lambda: ExpiringCache(most=SITES_MAX, life_s=ROBOTS_S), repr=False
    )

    def __post_init__(self) -> None:
        quiet.silence_network_logs()

    async def fetch(self, request: PageRequest) -> FetchedPage:
        """Return the page. Raise `CallRefusedError`."""
        try:
            async with asyncio.timeout(request.within_s):
                return await self._fetch(request, robots=self.robots)
        except TimeoutError:
            raise CallRefusedError(refusal.report_timeout(request.within_s)) from None

    async def _fetch(self, request: PageRequest, *, robots: bool) -> FetchedPage:
        url = request.url
        for _ in range(REDIRECTS_MAX + 1):
            if robots and not (await self._read_rules(request, url)).admits(url.target):
                raise CallRefusedError(refusal.refuse_robots(url.host))
            inbound = await self._send(request, url)
            if inbound.status not in _REDIRECTS:
                return FetchedPage(url=url, media_type=get_header(inbound, "content-type") or "", inbound=inbound)
            url = _follow(request, url, inbound)
        raise CallRefusedError(refusal.refuse_redirect(f"it has done so {REDIRECTS_MAX} times already"))

    async def _send(self, request: PageRequest, url: URL) -> InboundResponse:
        addresses = await resolve_public_addresses(url.host, self.names, owner=request.owner)
        sending = Sending(
            prepared=PreparedRequest(method=Method.GET, url=url, headers=HEADERS),
            body_max=request.body_max,
            within_s=request.within_s,
            owner=request.owner,
        )
        return await send(sending, addresses, dialer=self.dial, tls=self.tls)

    async def _read_rules(self, request: PageRequest, url: URL) -> RobotRules:
        """Return the rules of a host: none where it has no file, and nothing is fetched where it fails (RFC 9309, 2.3.1)."""
        place = f"{url.scheme}://{url.host}"
        if (known := self._rules.get(place)) is not None:
            return known
        robots_url = parse_page_url(f"{place}/robots.txt")
        robots_request = PageRequest(
            url=robots_url, owner=request.owner, body_max=BYTES_MAX, within_s=request.within_s, admits=request.admits
        )
        inbound = (await self._fetch(robots_request, robots=False)).inbound
        if inbound.status >= 500:
            raise CallRefusedError(refusal.report_failure(f"the robots.txt of {url.host} cannot be read"))
        rules = RobotRules()
        if not is_error(inbound.status):
            rules = await asyncio.to_thread(read_robots, inbound.body.decode("utf-8", "replace"), USER_AGENT)
        self._rules.put(place, rules)
        return rules


def _follow(request: PageRequest, url: URL, inbound: InboundResponse) -> URL:
    """Return where the response redirects to. Raise `CallRefusedError` where it may not be fetched."""
    location = get_header(inbound, "location")
    if not location:
        raise CallRefusedError(refusal.refuse_redirect("it does not say where to"))
    if _LOCATION.fullmatch(location) is None:
        raise CallRefusedError(refusal.refuse_redirect("where to is longer than a URL, or not in printable ASCII"))
    try:
        target = parse_page_url(urljoin(str(url), location))
    except ValueError as error:
        rule = str(error) if isinstance(error, InvalidUrlError) else "where to is no URL"
        raise CallRefusedError(refusal.refuse_redirect(rule)) from None
    if url.scheme == "https" and target.scheme != "https":
        raise CallRefusedError(refusal.refuse_redirect("from https to http"))
    if request.admits is not None and not request.admits(target.host):
        raise CallRefusedError(refusal.refuse_redirect("its target is not of an approved domain"))
    return target


def build_public_pages(settings: Settings) -> PublicPages:
    """Return what fetches public pages: on the internet, or on the simulated one, as every call of a tool is."""
    if settings.simulated_internet:
        simulated = SimulatedInternet(settings.simulated_internet)
        table = simulated.read_table()
        context = create_context(table.ca, table.client)
        return PublicPages(names=simulated, dial=simulated, tls=context, robots=settings.robots)
    return PublicPages(names=Resolver(), dial=DirectDialer(), tls=create_context(), robots=settings.robots)
