"""Documents: an OpenAPI document with those it refers to, fetched through the gate like any call, for the agent or an owner."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ferryman import openapi
from ferryman.declared import texts
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import REQUEST_SECONDS, Method, OutboundRequest
from ferryman.domain.owners.plan import PRO
from ferryman.domain.problem import build_input_error
from ferryman.ports.gate import CallPolicy, FetchGate
from ferryman.ports.tasks import Tasks
from ferryman.tools.declared.importing import run_document_worker
from ferryman.tools.known_secrets import open_former, open_known_tokens

if TYPE_CHECKING:
    from ferryman.tools.execute_call import ToolDependencies

DOCUMENT_BYTES_MAX = 16 * 1024 * 1024
"""One document, and all that it refers to together."""

DOCUMENTS_MAX = 20
AT_ONCE = 2
"""A document of 13 MB takes some 120 MB while it is read, and an instance has 512."""

IMPORTER = "import_openapi_tools"
"""The tool in whose name a document is fetched, for an owner too."""

ACCEPT = "application/json, application/yaml;q=0.9, text/yaml;q=0.8, */*;q=0.5"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedDocuments:
    """Documents by their URL; `root` is the URL of the one that was requested."""

    root: str
    texts: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiFetcher:
    """Fetches documents, `AT_ONCE` of them at a time.

    `redact` takes an owner, open credentials and a text in UTF-8.
    """

    gate: FetchGate
    redact: Callable[[str, Iterable[Credential], bytes], Awaitable[bytes]]
    semaphore: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE), repr=False)

    async def fetch(self, url: str, *, tool: str, call: CallPolicy, within_s: float) -> FetchedDocuments:
        """Return the document at `url`, and those it refers to, all fetched in `within_s` seconds.

        Raise `CallRefusedError`, `InvalidInputError` for what is not such a document, and what `call.count` raises.
        """
        until = time.monotonic() + within_s
        try:
            async with asyncio.timeout(within_s):
                await self.semaphore.acquire()
        except TimeoutError:
            raise CallRefusedError(refusal.report_failure("too many documents are being read")) from None
        try:
            return await self._fetch_all(url, tool, call, until)
        finally:
            self.semaphore.release()

    async def _fetch_all(self, root: str, tool: str, call: CallPolicy, until: float) -> FetchedDocuments:
        bytes_left = DOCUMENT_BYTES_MAX
        documents: dict[str, bytes] = {}
        missing = [root]
        while missing:
            if len(documents) + len(missing) > DOCUMENTS_MAX:
                raise build_input_error("url", f"refers to more than {DOCUMENTS_MAX} documents")
            for url in missing:
                limited = replace(call, within_s=until - time.monotonic(), body_max=bytes_left)
                try:
                    documents[url] = await self._fetch_one(url, tool, limited)
                except CallRefusedError as refused:
                    # what was read before was sent for, and its words are in the reason
                    is_blocked = refused.refusal.blocked and not documents
                    raise CallRefusedError(replace(refused.refusal, blocked=is_blocked)) from None
                bytes_left -= len(documents[url])
            missing = await run_document_worker(call.execution.owner, "url", find_missing_documents, documents, root)
        return FetchedDocuments(root=root, texts=documents)

    async def _fetch_one(self, url: str, tool: str, call: CallPolicy) -> bytes:
        if (call.within_s or 0) <= 0 or (call.body_max or 0) <= 0:
            raise CallRefusedError(refusal.report_failure("the documents are too large, or took too long"))
        outbound = OutboundRequest(tool=tool, method=Method.GET, url=url, headers={"accept": ACCEPT})
        inbound = await self.gate.fetch(outbound, call)
        if inbound.status != 200:
            raise CallRefusedError(refusal.report_failure(f"the document was answered with HTTP {inbound.status}"))
        if inbound.cut:
            raise build_input_error("url", f"the documents have more than {DOCUMENT_BYTES_MAX} bytes together")
        return await self.redact(call.execution.owner, call.credentials.values(), inbound.body)


def find_missing_documents(documents: Mapping[str, bytes], root: str) -> list[str]:
    """Return the URLs of the documents that `root` requires and that are missing; pure, for workers.

    Raise `InvalidInputError`.
    """
    return openapi.find_missing({url: texts.loads(text, what="the document") for url, text in documents.items()}, root)


async def fetch_for_owner(
    deps: ToolDependencies, tasks: Tasks, documents: OpenApiFetcher, *, task: str, owner: str, url: str
) -> FetchedDocuments:
    """Return the document at `url`, for the owner of `task`, outside of any execution.

    Its hosts must be those of the task's integrations, and it has no credential in it.
    Raise `CallRefusedError`, and `InvalidInputError` for what is not such a document.
    """
    stored = await tasks.get(task)
    if stored is None or stored.owner != owner:
        raise CallRefusedError(refusal.report_failure("there is no such task"))
    approved = [deps.integrations[name] for name in stored.integrations if name in deps.integrations]
    policy = ExecutionPolicy(
        owner=owner,
        task=task,
        plan=PRO,  # its limits are for answers; a document has its own
        tools=(),
        integrations=stored.integrations,
        domains=tuple(domain for integration in approved for domain in integration.allowed_domains),
    )
    call = CallPolicy(execution=policy, credentials=await _open_all(deps, owner, task), about={"task": task})
    return await documents.fetch(url, tool=IMPORTER, call=call, within_s=REQUEST_SECONDS)


async def _open_all(deps: ToolDependencies, owner: str, task: str) -> Mapping[str, Credential]:
    opened = await open_known_tokens(deps.tokens, deps.vault, owner=owner, task=task)
    stored, former = await deps.credentials.read_all(task)
    opened |= await open_former(deps.vault, former, task=task, now=deps.clock.now(), log=deps.tracer)
    for sealed in stored:
        try:
            opened[sealed.label.name] = await deps.vault.open_credential(sealed)
        except CallRefusedError:
            continue  # a credential that nobody can open cannot leak
    return opened
