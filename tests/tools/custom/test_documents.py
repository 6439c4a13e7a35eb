"""Documents: an owner whose documents come slowly does not make others wait for ever."""

from __future__ import annotations

import asyncio

import pytest

from ferryman.catalog.tools import TOOLS
from ferryman.domain.calls.refusal import CallRefusedError
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


def test_the_agent_does_not_delete_the_tools_without_a_cluster() -> None:
    with pytest.raises(CallRefusedError):
        arguments.check_arguments(TOOLS["delete_tool_cluster"], {"cluster": ""})
