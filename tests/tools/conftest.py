"""The simulated internet of tools that speak to authorization servers: certificates made once, and a network for each test."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from emulator.clock import EmulatorClock
from emulator.internet import Internet
from emulator.internet.authority import Authority


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with certificates, made once."""
    folder = tmp_path_factory.mktemp("authority")
    Authority(folder / "internet")
    return folder


@pytest.fixture
def network_clock() -> EmulatorClock:
    return EmulatorClock()


@pytest.fixture
async def internet(authority: Path, tmp_path: Path, network_clock: EmulatorClock) -> AsyncIterator[Internet]:
    """A network without hosts, which the test starts."""
    folder = tmp_path / "internet"
    shutil.copytree(authority, folder)
    internet = Internet(folder, clock=network_clock)
    yield internet
    await internet.close()
