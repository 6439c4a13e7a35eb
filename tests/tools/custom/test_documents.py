"""Documents: an owner whose documents come slowly does not make others wait for ever."""

from __future__ import annotations

import asyncio
import json

import pytest

from ferryman.catalog.tools import TOOLS
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import InboundResponse, OutboundRequest
from ferryman.ports.gate import CallPolicy
from ferryman.tools import arguments
from ferryman.tools.declared.documents import AT_ONCE, OpenApiFetcher
from tests.builders import build_policy
from tests.plain_gate import FilledRequest, PlainGate, redact_document_plainly

URL = "https://api.service.test/openapi.json"
POLICY = build_policy(domains=("api.service.test",))


async def fetch(documents: OpenApiFetcher, within_s: float) -> None:
    await documents.fetch(URL, tool="t", call=CallPolicy(execution=POLICY, credentials={}), within_s=within_s)


async def test_a_document_whose_turn_does_not_come_in_time_is_refused() -> None:
    async def silent(arrived: FilledRequest) -> None:
        await asyncio.Event().wait()

    documents = OpenApiFetcher(gate=PlainGate(silent), redact=redact_document_plainly)  # type: ignore[arg-type]  # it only fetches
    for _ in range(AT_ONCE):
        await documents.semaphore.acquire()
    with pytest.raises(CallRefusedError, match="too many documents"):
        await asyncio.wait_for(fetch(documents, 0.01), 5)


class TwoHosts:
    """A gate that fetches a document, and refuses the host that this one refers to."""

    async def fetch(self, outbound: OutboundRequest, call: CallPolicy) -> InboundResponse:
        host = outbound.url.split("/")[2]
        if host != "api.service.test":
            raise CallRefusedError(refusal.refuse_host(host, POLICY.domains))
        parameters = [{"$ref": "https://words.other.test/a#/x"}]
        path = {"get": {"operationId": "a", "parameters": parameters, "responses": {}}}
        document = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {"/a": path}}
        body = json.dumps(document).encode()
        return InboundResponse(status=200, headers=(), body=body, size_bytes=len(body))


async def test_a_refusal_in_the_words_of_a_document_that_was_read_is_of_a_call_that_was_sent() -> None:
    documents = OpenApiFetcher(gate=TwoHosts(), redact=redact_document_plainly)
    with pytest.raises(CallRefusedError, match=r"words\.other\.test") as refused:
        await fetch(documents, 30)
    assert not refused.value.refusal.blocked


async def test_the_refusal_of_the_first_document_is_of_a_call_that_was_not_sent() -> None:
    documents = OpenApiFetcher(gate=TwoHosts(), redact=redact_document_plainly)
    call = CallPolicy(execution=POLICY, credentials={})
    with pytest.raises(CallRefusedError) as refused:
        await documents.fetch("https://words.other.test/a", tool="t", call=call, within_s=30)
    assert refused.value.refusal.blocked


def test_the_agent_does_not_delete_the_tools_without_a_cluster() -> None:
    with pytest.raises(CallRefusedError):
        arguments.check_arguments(TOOLS["delete_tool_cluster"], {"cluster": ""})
