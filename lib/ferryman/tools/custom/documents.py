"""Documents: an OpenAPI document with those it refers to, fetched through the gate like any call, and parsed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman import openapi
from ferryman.declared import texts
from ferryman.domain import refusal
from ferryman.domain.credential import Credential
from ferryman.domain.http import Method, Outbound
from ferryman.domain.problem import invalid
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.tools.passage import Gate

DOCUMENT_BYTES_MAX = 16 * 1024 * 1024
"""One document, and all that it refers to together."""

DOCUMENTS_MAX = 20
AT_ONCE = 2
"""A document of 13 MB takes some 120 MB while it is read, and an instance has 512."""

ACCEPT = "application/json, application/yaml;q=0.9, text/yaml;q=0.8, */*;q=0.5"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Documents by their URL, the one that was asked for being `root`."""

    root: str
    texts: Mapping[str, str] = field(repr=False)
    parsed: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Errand:
    """For whom documents are fetched, and until when by the clock of `Documents`."""

    tool: str
    remit: Remit
    credentials: Mapping[str, Credential] = field(repr=False)
    about: Mapping[str, Any]
    until: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """Fetches documents, `AT_ONCE` of them. `redact` takes open credentials and a text; `clock` counts seconds."""

    gate: Gate
    redact: Callable[[Iterable[Credential], str], str]
    clock: Callable[[], float] = time.monotonic
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE), repr=False)

    async def fetched(
        self,
        url: str,
        *,
        tool: str,
        remit: Remit,
        credentials: Mapping[str, Credential],
        about: Mapping[str, Any],
        within_s: float,
    ) -> Found:
        """The document at `url`, and those it refers to. Raises `Refused`, and `Invalid` for what is no such document."""
        until = self.clock() + within_s
        try:
            async with asyncio.timeout(within_s):
                await self.turns.acquire()
        except TimeoutError:
            raise Refused(refusal.failed("too many documents are read just now")) from None
        try:
            return await self._fetched(url, _Errand(tool=tool, remit=remit, credentials=credentials, about=about, until=until))
        finally:
            self.turns.release()

    async def _fetched(self, url: str, errand: _Errand) -> Found:
        left = DOCUMENT_BYTES_MAX
        found: dict[str, str] = {}
        parsed: dict[str, Any] = {}
        wanted = [url]
        while wanted:
            if len(found) + len(wanted) > DOCUMENTS_MAX:
                raise invalid("url", f"refers to more than {DOCUMENTS_MAX} documents")
            for each in wanted:
                text = await self._one(each, errand, left)
                left -= len(text)
                found[each] = text
                parsed[each] = await asyncio.to_thread(texts.loads, text, what="the document")
            wanted = await asyncio.to_thread(openapi.needed, parsed, url)
        return Found(root=url, texts=found, parsed=parsed)

    async def _one(self, url: str, errand: _Errand, most: int) -> str:
        within_s = errand.until - self.clock()
        if within_s <= 0 or most <= 0:
            raise Refused(refusal.failed("the documents are too large, or took too long"))
        outbound = Outbound(tool=errand.tool, method=Method.GET, url=url, headers={"accept": ACCEPT})
        inbound = await self.gate.fetch(
            outbound,
            remit=errand.remit,
            credentials=errand.credentials,
            about=errand.about,
            within_s=within_s,
            body_max=most,
        )
        if inbound.status != 200:
            raise Refused(refusal.failed(f"the document was answered with HTTP {inbound.status}"))
        if inbound.cut:
            raise invalid("url", f"the documents have more than {DOCUMENT_BYTES_MAX} bytes together")
        text = inbound.body.decode("utf-8-sig", "replace")
        return await asyncio.to_thread(self.redact, errand.credentials.values(), text)
