"""The origin of a URL that the model asks for: known before anything is sent, and the same after every crash.

What a hostile model can tell a site by fetching from it is which of the URLs it fetches that it has seen, and in which order:
`FETCHES_PER_SITE` of them in one execution. A URL that it made up could hold anything, so it goes to approved domains alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.http.url import InvalidUrlError, parse_page_url
from ferryman.domain.urls.found import fold_query, is_asked, list_found, list_texts
from ferryman.domain.urls.site import find_site
from ferryman.domain.urls.tokens import drop_fragment, list_urls

FETCHES_PER_SITE = 5
"""How many URLs of one site, seen in results alone, an execution may fetch."""

SEEN_CHARACTERS_MAX = 1_000_000
"""The URLs of results that are remembered, together; what is shown after them counts as not seen."""

QUERIES_CHARACTERS_MAX = 50_000
"""The texts that were searched for and are remembered, together; what searches show after more of them counts as not seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebCall:
    """A settled call, as far as it tells what URLs the model was shown: made of a ticket and its tool's policy.

    `origin` is that of a call that fetches any public page, None for any other. `searches` tells that its tool asks the
    operator's search engine, `sends` that it sends words of the model's own to an approved host or a webhook, and `is_shown`
    that its result was a success that the model reads. `url` is the one that answered in the end.
    """

    arguments: Mapping[str, Any] = field(repr=False)
    content: str = field(repr=False)
    url: str | None = field(default=None, repr=False)
    origin: UrlOrigin | None = None
    searches: bool = False
    sends: bool = False
    is_shown: bool = True


@dataclass(slots=True, kw_only=True)
class SeenUrls:
    """The URLs that one execution has seen so far, and how many of each site it has fetched.

    `written` are the texts that people wrote. `admits` tells whether a host is of an approved domain; `webhooks` are the hosts
    which the model may send its words besides.
    """

    written: Iterable[str]
    admits: Callable[[str], bool]
    webhooks: frozenset[str] = frozenset()
    _written: frozenset[str] | None = None
    _in_results: set[str] = field(default_factory=set)
    _room: int = SEEN_CHARACTERS_MAX
    _fetched: Counter[str] = field(default_factory=Counter)
    _queries: list[tuple[str, str]] = field(default_factory=list)
    _query_room: int = QUERIES_CHARACTERS_MAX
    _has_sent: bool = False

    def judge(self, raws: Iterable[object]) -> list[UrlOrigin]:
        """Return the origin of each URL that the calls of one turn ask for, in their order. Nothing is counted yet."""
        fetched = self._fetched.copy()
        return [self._judge(raw, fetched) for raw in raws]

    def count(self, raw: object, origin: UrlOrigin | None) -> None:
        """Count a journaled call, whatever becomes of it."""
        if origin is UrlOrigin.RESULT and isinstance(raw, str):
            self._fetched[find_site(parse_page_url(raw.strip()).host)] += 1

    def note(self, calls: Iterable[WebCall]) -> None:
        """Take in the results of one turn: what the model reads from now on."""
        calls = list(calls)
        for call in calls:
            self._has_sent = self._has_sent or call.sends or call.origin is UrlOrigin.APPROVED
            if call.searches:
                self._remember(list_texts(call.arguments))
        for call in calls:
            for url in self._list_shown(call):
                if url not in self._in_results and len(url) <= self._room:
                    self._in_results.add(url)
                    self._room -= len(url)

    def _remember(self, texts: Sequence[str]) -> None:
        self._query_room -= sum(map(len, texts))
        if self._query_room >= 0:
            self._queries += map(fold_query, texts)

    def _judge(self, raw: object, fetched: Counter[str]) -> UrlOrigin:
        bare = drop_fragment(raw.strip()) if isinstance(raw, str) else ""
        try:
            url = parse_page_url(bare)
        except InvalidUrlError:
            return UrlOrigin.INVALID
        host = url.host
        if bare in self._list_written():
            return UrlOrigin.WRITTEN
        is_shown, is_approved = bare in self._in_results, url.scheme == "https" and self.admits(host)
        if is_shown and fetched[find_site(host)] < FETCHES_PER_SITE:
            fetched[find_site(host)] += 1
            return UrlOrigin.RESULT
        if is_approved:
            return UrlOrigin.APPROVED
        return UrlOrigin.SPENT if is_shown else UrlOrigin.UNSEEN

    def _list_written(self) -> frozenset[str]:
        if self._written is None:
            self._written = frozenset(url for text in self.written for url in list_urls(text))
        return self._written

    def _list_shown(self, call: WebCall) -> Iterator[str]:
        """Yield the URLs of a result which the model cannot have written itself.

        An approved host, or one of a webhook, may say again what it was sent, decoded or put together: what it shows counts
        only for a URL that was not made up, and as long as the model has sent it nothing. A search may say again what was
        searched for.
        """
        if not call.is_shown:
            return
        if call.searches and self._query_room < 0:
            return
        if call.searches:
            urls = list_found(call.content, call.arguments)
            yield from (url for url in urls if not is_asked(url, self._queries))
        elif call.origin in (UrlOrigin.WRITTEN, UrlOrigin.RESULT) and not (self._has_sent and self._is_sent_to(call)):
            yield from list_urls(call.content)

    def _is_sent_to(self, call: WebCall) -> bool:
        """Tell whether the page is of a host that the model may send its words, at the beginning or after redirects."""
        for raw in (call.arguments.get("url"), call.url):
            try:
                host = parse_page_url(raw.strip()).host if isinstance(raw, str) else ""
            except InvalidUrlError:
                return True
            if not host or host in self.webhooks or self.admits(host):
                return True
        return False
