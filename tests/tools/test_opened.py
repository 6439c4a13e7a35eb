"""Opened credentials stay in a tool function's memory while their versions are the present ones, and no longer than told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ferryman.domain.credentials.credential import Credential, SealedCredential, Secret
from ferryman.expiring import ExpiringCache
from ferryman.inmemory.clock import START
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.tools.execute_call import ToolDependencies, scan_output
from tests.canaries.canary import create_key

from .harness import LABEL, ToolHarness

FIRST, SECOND = create_key("first"), create_key("second")


class CountedCredentials(MemoryCredentials):
    """A store whose queries are counted."""

    queries = 0

    async def read_all(self, task: str) -> Any:
        self.queries += 1
        return await super().read_all(task)


@dataclass
class CachingHarness(ToolHarness):
    """One tool function that executes many calls; what is opened is its ciphertext."""

    now_s: float = 0.0
    built: list[ToolDependencies] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.memory.versions["t"] = {}
        self.memory.credentials["t"] = {}

    async def open_credential(self, sealed: SealedCredential) -> Credential:
        return Credential(label=sealed.label, secret=Secret(sealed.ciphertext.decode()))

    def deps(self) -> ToolDependencies:
        if not self.built:
            opened: Any = ExpiringCache(most=2, life_s=300, clock=lambda: self.now_s)
            credentials = CountedCredentials(self.memory)
            self.built.append(replace(super().deps(), opened=opened, credentials=credentials))
        return self.built[0]

    async def save(self, value: str) -> None:
        label = replace(LABEL, version=await self.deps().credentials.next_version("t", "KEY"))
        sealed = SealedCredential(label=label, ciphertext=value.encode(), key_version=1, created_at=START, updated_at=START)
        await self.deps().credentials.put(sealed)

    async def call(self) -> Sequence[str]:
        """Execute one more call; return the values that the gate was given, of credentials that may be used."""
        self.ask("api_call")
        await self.execute()
        return [credential.secret.reveal() for name, credential in self.sent[-1][1].items() if name == "KEY"]

    @property
    def queries(self) -> int:
        credentials: Any = self.deps().credentials
        return int(credentials.queries)


@pytest.fixture
async def harness() -> CachingHarness:
    caching = CachingHarness()
    await caching.save(FIRST)
    return caching


async def test_calls_of_a_task_query_its_credentials_once(harness: CachingHarness) -> None:
    assert [await harness.call() for _ in range(5)] == [[FIRST]] * 5
    assert harness.queries == 1


async def test_a_value_that_is_stored_again_is_used_from_the_next_call_on(harness: CachingHarness) -> None:
    await harness.call()
    await harness.save(SECOND)
    assert await harness.call() == [SECOND]


async def test_the_value_before_is_looked_for_from_the_next_call_on(harness: CachingHarness) -> None:
    await harness.call()
    await harness.save(SECOND)
    await harness.call()
    assert FIRST in [credential.secret.reveal() for credential in harness.sent[-1][1].values()]


async def test_a_deleted_credential_is_gone_for_the_next_call(harness: CachingHarness) -> None:
    await harness.call()
    await harness.deps().credentials.delete("t", "KEY", now=START)
    assert await harness.call() == []
    assert FIRST in [credential.secret.reveal() for credential in harness.sent[-1][1].values()]


async def test_a_credential_that_is_rolled_back_stops_the_call_although_it_was_opened_before(harness: CachingHarness) -> None:
    await harness.call()
    harness.memory.versions["t"] = {"KEY": 2}
    harness.ask("api_call")
    assert (await harness.execute()).block_reason == "credential_unreadable"


async def test_what_was_opened_is_read_again_after_its_time(harness: CachingHarness) -> None:
    await harness.call()
    harness.now_s = 299
    await harness.call()
    assert harness.queries == 1
    harness.now_s = 300
    await harness.call()
    assert harness.queries == 2


async def test_nothing_that_one_call_adds_is_known_to_the_next(harness: CachingHarness) -> None:
    await harness.call()
    opened = harness.deps().opened.get("t")
    assert opened is not None
    assert list(opened.credentials) == ["KEY"]
    harness.sent[-1][1]["OTHER"] = harness.sent[-1][1]["KEY"]
    await harness.call()
    assert list(harness.sent[-1][1]) == ["KEY"]


async def test_what_the_model_said_is_looked_through_without_another_query(harness: CachingHarness) -> None:
    await harness.call()
    assert await scan_output(harness.deps(), execution="e", task="t", epoch=1, content=[]) == ["['KEY']"]
    assert harness.queries == 1


async def test_nothing_is_shown_of_what_is_kept(harness: CachingHarness) -> None:
    await harness.call()
    assert FIRST not in repr(harness.deps())
    assert FIRST not in repr(harness.deps().opened.get("t"))
