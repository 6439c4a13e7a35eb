"""Documents for owners: of their own tasks alone, from approved hosts alone, and without a key that the host gave back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.calls.refusal import CallRefusedError, refuse_unreadable_credential
from ferryman.domain.credentials.credential import Credential, SealedCredential
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.tools.declared.documents import FetchedDocuments, OpenApiFetcher
from ferryman.tools.declared.documents import fetch_for_owner as fetch_for_owner
from tests.plain_gate import redact_document_plainly
from tests.tools.harness import KEY, ToolHarness

from .harness import SPEC, CustomToolHarness, document


class Unreadable(ToolHarness):
    """A tool function whose vault opens nothing."""

    async def open_credential(self, sealed: SealedCredential) -> Credential:
        raise CallRefusedError(refuse_unreadable_credential(sealed.label.name))


async def fetch(
    harness: CustomToolHarness, tool_harness: ToolHarness, *, owner: str = "o", url: str = SPEC
) -> FetchedDocuments:
    tool_harness.memory.tasks["t"] = replace(tool_harness.memory.tasks["t"], integrations=("coingecko",))
    gate: Any = harness
    documents = OpenApiFetcher(gate=gate, redact=redact_document_plainly)
    return await fetch_for_owner(
        tool_harness.deps(), MemoryTasks(tool_harness.memory), documents, task="t", owner=owner, url=url
    )


async def test_an_owner_is_given_the_document(harness: CustomToolHarness) -> None:
    harness.documents[SPEC] = (200, document("one"))
    assert (await fetch(harness, ToolHarness())).texts == {SPEC: document("one").encode()}


async def test_for_another_owner_there_is_no_such_task(harness: CustomToolHarness) -> None:
    harness.documents[SPEC] = (200, document("one"))
    with pytest.raises(CallRefusedError, match="there is no such task"):
        await fetch(harness, ToolHarness(), owner="p")


async def test_a_document_is_fetched_from_hosts_of_the_tasks_services_only(harness: CustomToolHarness) -> None:
    harness.documents["https://lunarcrush.com/spec"] = (200, document("one"))
    with pytest.raises(CallRefusedError, match="not in any approved integration"):
        await fetch(harness, ToolHarness(), url="https://lunarcrush.com/spec")


async def test_a_key_that_the_host_gives_back_is_redacted(harness: CustomToolHarness) -> None:
    harness.documents[SPEC] = (200, document("one", description=f"Send {KEY}."))
    assert (await fetch(harness, ToolHarness())).texts == {SPEC: document("one", description="Send [redacted:KEY].").encode()}


async def test_a_credential_that_does_not_open_keeps_nobody_from_importing(harness: CustomToolHarness) -> None:
    harness.documents[SPEC] = (200, document("one"))
    assert (await fetch(harness, Unreadable())).root == SPEC
