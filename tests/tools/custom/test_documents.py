"""Documents: an owner whose documents come slowly has nobody else wait for ever."""

from __future__ import annotations

import asyncio

import pytest

from ferryman.domain.plan import PRO
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.local.gate import Arrived, PlainGate
from ferryman.tools import arguments
from ferryman.tools.custom.definitions import DELETE
from ferryman.tools.custom.documents import AT_ONCE, Documents

URL = "https://api.service.test/openapi.json"
REMIT = Remit(owner="o", task="t", plan=PRO, tools=(), integrations=(), domains=("api.service.test",))


async def fetched(documents: Documents, within_s: float) -> None:
    await documents.fetched(URL, tool="t", remit=REMIT, credentials={}, about={}, within_s=within_s)


async def test_a_document_whose_turn_does_not_come_in_time_is_refused() -> None:
    async def silent(arrived: Arrived) -> None:
        await asyncio.Event().wait()

    documents = Documents(gate=PlainGate(silent), redact=lambda _, text: text)  # type: ignore[arg-type]  # it only fetches
    for _ in range(AT_ONCE):
        await documents.turns.acquire()
    with pytest.raises(Refused, match="too many documents"):
        await asyncio.wait_for(fetched(documents, 0.01), 5)


def test_the_agent_does_not_delete_what_stands_in_no_cluster() -> None:
    with pytest.raises(Refused):
        arguments.check(DELETE, {"cluster": ""})
