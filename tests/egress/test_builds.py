"""What is built for calls, counted: one scanner for a task and the versions of its credentials, for all of its calls."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from ferryman.domain.credentials.credential import Credential
from ferryman.egress import checks, on_loop
from ferryman.egress.leaks import SecretScanner
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import GateHarness
from tests.egress.plants import VALUES, credential

from .test_reuse import GET, KEYS, POST, KeepingServer, policy, serve

OTHERS = {**KEYS, "NEWS_KEY": credential(VALUES["github"])}


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many credentials each scanner that was built since is for."""
    counted: list[int] = []
    build = SecretScanner.__init__

    def count(scanner: SecretScanner, credentials: Iterable[Credential] = (), **named: Any) -> None:
        credentials = tuple(credentials)
        counted.append(len(credentials or named.get("prepared", ())))
        build(scanner, credentials, **named)

    checks.scanners.clear()
    monkeypatch.setattr(on_loop, "_paused", {})  # a test before may have sent the owner's texts to a worker for a second
    monkeypatch.setattr(SecretScanner, "__init__", count)
    return counted


async def call(harness: GateHarness, credentials: Mapping[str, Credential], executions: Iterable[str]) -> None:
    """Send a request of each execution, all at once."""
    gate = harness.gate()
    calls = (CallPolicy(execution=policy(), credentials=credentials, execution_id=execution) for execution in executions)
    results = await asyncio.gather(*(gate.send(request, policed) for policed in calls for request in (GET, POST)))
    assert {result.response_status for result in results} == {200}


async def test_calls_of_all_executions_of_a_task_have_one_scanner(harness: GateHarness, sizes: list[int]) -> None:
    async with serve(harness, KeepingServer()):
        for _ in range(3):
            await call(harness, KEYS, ("e1", "e2"))
    assert sizes == [len(KEYS)]


async def test_another_version_of_a_credential_has_another_scanner_and_only_one(harness: GateHarness, sizes: list[int]) -> None:
    async with serve(harness, KeepingServer()):
        for credentials in (KEYS, OTHERS, OTHERS):
            await call(harness, credentials, ("e1",))
    assert sizes == [len(KEYS), len(OTHERS)]
