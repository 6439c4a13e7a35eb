"""Documents: an OpenAPI document with those it refers to, fetched through the gate like any call, and parsed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman import openapi
from ferryman.declared import texts
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.problem import build_input_error
from ferryman.ports.gate import CallPolicy, FetchGate, PieceCounter
from ferryman.tools.declared.importing import run_document_worker

DOCUMENT_BYTES_MAX = 16 * 1024 * 1024
"""One document, and all that it refers to together."""

DOCUMENTS_MAX = 20
AT_ONCE = 2
"""A document of 13 MB takes some 120 MB while it is read, and an instance has 512."""

ACCEPT = "application/json, application/yaml;q=0.9, text/yaml;q=0.8, */*;q=0.5"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedDocuments:
    """Documents by their URL, the one that was asked for being `root`."""

    root: str
    texts: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Errand:
    """For whom documents are fetched, and until when by the clock of `OpenApiFetcher`."""

    tool: str
    policy: ExecutionPolicy
    credentials: Mapping[str, Credential] = field(repr=False)
    about: Mapping[str, Any]
    until: float
    count: PieceCounter | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiFetcher:
    """Fetches documents, `AT_ONCE` of them. `redact` takes an owner, open credentials and a text in UTF-8; `clock` counts
    seconds."""

    gate: FetchGate
    redact: Callable[[str, Iterable[Credential], bytes], Awaitable[bytes]]
    clock: Callable[[], float] = time.monotonic
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE), repr=False)

    async def fetched(
        self,
        url: str,
        *,
        tool: str,
        policy: ExecutionPolicy,
        credentials: Mapping[str, Credential],
        about: Mapping[str, Any],
        within_s: float,
        count: PieceCounter | None = None,
    ) -> FetchedDocuments:
        """The document at `url`, and those it refers to. Raises `CallRefusedError`, and `InvalidInputError` for what is no such
        document.

        `count` adds up pieces of secrets in the URLs, whoever wrote them; its `NotSentError` comes through.
        """
        until = self.clock() + within_s
        try:
            async with asyncio.timeout(within_s):
                await self.turns.acquire()
        except TimeoutError:
            raise CallRefusedError(refusal.report_failure("too many documents are read just now")) from None
        try:
            claimed_call = _Errand(tool=tool, policy=policy, credentials=credentials, about=about, until=until, count=count)
            return await self._fetched(url, claimed_call)
        finally:
            self.turns.release()

    async def _fetched(self, url: str, claimed_call: _Errand) -> FetchedDocuments:
        left = DOCUMENT_BYTES_MAX
        found: dict[str, bytes] = {}
        wanted = [url]
        while wanted:
            if len(found) + len(wanted) > DOCUMENTS_MAX:
                raise build_input_error("url", f"refers to more than {DOCUMENTS_MAX} documents")
            for each in wanted:
                text = await self._one(each, claimed_call, left)
                left -= len(text)
                found[each] = text
            wanted = await run_document_worker(claimed_call.policy.owner, "url", find_missing_documents, found, url)
        return FetchedDocuments(root=url, texts=found)

    async def _one(self, url: str, claimed_call: _Errand, most: int) -> bytes:
        within_s = claimed_call.until - self.clock()
        if within_s <= 0 or most <= 0:
            raise CallRefusedError(refusal.report_failure("the documents are too large, or took too long"))
        outbound = OutboundRequest(tool=claimed_call.tool, method=Method.GET, url=url, headers={"accept": ACCEPT})
        inbound = await self.gate.fetch(
            outbound,
            CallPolicy(
                execution=claimed_call.policy,
                credentials=claimed_call.credentials,
                about=claimed_call.about,
                within_s=within_s,
                body_max=most,
                count=claimed_call.count,
            ),
        )
        if inbound.status != 200:
            raise CallRefusedError(refusal.report_failure(f"the document was answered with HTTP {inbound.status}"))
        if inbound.cut:
            raise build_input_error("url", f"the documents have more than {DOCUMENT_BYTES_MAX} bytes together")
        return await self.redact(claimed_call.policy.owner, claimed_call.credentials.values(), inbound.body)


def find_missing_documents(texts_: Mapping[str, bytes], root: str) -> list[str]:
    """The documents that `root` asks for and that are not there. It is a pure function for workers; raises
    `InvalidInputError`."""
    return openapi.needed({name: texts.loads(text, what="the document") for name, text in texts_.items()}, root)
