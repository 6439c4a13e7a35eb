"""Triggers on a still clock, a function that answers as it is told, and changes of documents."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.cloud.firestore_v1.types import Document

from emulator.clock import EmulatorClock
from emulator.identity import IdentityTokens
from emulator.triggers import Triggers
from tests.emulator.tasks.worker import Worker, serving

START = datetime(2026, 1, 1, tzinfo=UTC)
ROOT = "projects/test/databases/(default)/documents"


@dataclass(frozen=True, kw_only=True)
class Changed:
    """What the Firestore of the local cloud tells of."""

    name: str
    before: Any
    after: Any
    at: datetime


def document(path: str, **fields: str) -> Any:
    values = {name: {"string_value": value} for name, value in fields.items()}
    return Document(name=f"{ROOT}/{path}", fields=values)._pb


def created(path: str, **fields: str) -> Changed:
    return Changed(name=f"{ROOT}/{path}", before=None, after=document(path, **fields), at=START)


class Place:
    """Triggers that can be closed and opened again on the same files."""

    def __init__(self, path: Path, tokens: IdentityTokens) -> None:
        self.path = path
        self.tokens = tokens
        self.clock = EmulatorClock(START)

    async def open(self) -> Triggers:
        self.triggers = Triggers(path=self.path, clock=self.clock, tokens=self.tokens)
        await self.triggers.start()
        return self.triggers

    async def reopen(self) -> Triggers:
        await self.triggers.close()
        return await self.open()


@pytest.fixture(scope="session")
def tokens() -> IdentityTokens:
    return IdentityTokens(path=None, clock=EmulatorClock())


@pytest.fixture
async def function() -> Worker:
    return Worker()


@pytest.fixture
async def url(function: Worker) -> AsyncIterator[str]:
    async with serving(function) as root:
        yield root


@pytest.fixture
async def place(tmp_path: Path, tokens: IdentityTokens) -> AsyncIterator[Place]:
    place = Place(tmp_path / "data", tokens)
    await place.open()
    yield place
    await place.triggers.close()


@pytest.fixture
async def triggers(place: Place) -> Triggers:
    return place.triggers


@pytest.fixture
async def clock(place: Place) -> EmulatorClock:
    return place.clock
