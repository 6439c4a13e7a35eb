"""Documents for owners: of their own tasks alone, from approved hosts alone, and without a key that the host gave back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.calls.refusal import CallRefusedError, refuse_unreadable_credential
from ferryman.domain.credentials.credential import Credential, SealedCredential
from ferryman.inmemory.gate import redact_document_plainly
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.tools.declared.documents import FetchedDocuments, OpenApiFetcher
from ferryman.tools.declared.owners import fetch_for_owner as fetched
from tests.tools.bank import KEY, Bank

from .desk import SPEC, Desk, document


class Unreadable(Bank):
    """A far bank whose vault opens nothing."""

    async def open_credential(self, sealed: SealedCredential) -> Credential:
        raise CallRefusedError(refuse_unreadable_credential(sealed.label.name))


async def asked(desk: Desk, bank: Bank, *, owner: str = "o", url: str = SPEC) -> FetchedDocuments:
    bank.memory.tasks["t"] = replace(bank.memory.tasks["t"], integrations=("coingecko",))
    gate: Any = desk
    documents = OpenApiFetcher(gate=gate, redact=redact_document_plainly)
    return await fetched(bank.deps(), MemoryTasks(bank.memory), documents, task="t", owner=owner, url=url)


async def test_an_owner_is_given_the_document(desk: Desk) -> None:
    desk.documents[SPEC] = (200, document("one"))
    assert (await asked(desk, Bank())).texts == {SPEC: document("one").encode()}


async def test_for_another_owner_there_is_no_such_task(desk: Desk) -> None:
    desk.documents[SPEC] = (200, document("one"))
    with pytest.raises(CallRefusedError, match="there is no such task"):
        await asked(desk, Bank(), owner="p")


async def test_a_document_is_fetched_from_hosts_of_the_tasks_services_only(desk: Desk) -> None:
    desk.documents["https://lunarcrush.com/spec"] = (200, document("one"))
    with pytest.raises(CallRefusedError, match="not in any approved integration"):
        await asked(desk, Bank(), url="https://lunarcrush.com/spec")


async def test_a_key_that_the_host_gives_back_is_redacted(desk: Desk) -> None:
    desk.documents[SPEC] = (200, document("one", description=f"Send {KEY}."))
    assert (await asked(desk, Bank())).texts == {SPEC: document("one", description="Send [redacted:KEY].").encode()}


async def test_a_credential_that_does_not_open_keeps_nobody_from_importing(desk: Desk) -> None:
    desk.documents[SPEC] = (200, document("one"))
    assert (await asked(desk, Unreadable())).root == SPEC
