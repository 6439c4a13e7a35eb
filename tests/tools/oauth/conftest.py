"""One OAuth server for each test, over TLS, behind the real gate."""

from __future__ import annotations

import pytest

from emulator.clock import EmulatorClock
from emulator.internet import Internet
from emulator.internet.oauth import Rules
from tests.tools.oauth.harness import CLIENT_SECRET, LOGIN, Harness


@pytest.fixture
async def harness(internet: Internet, network_clock: EmulatorClock) -> Harness:
    internet.authorize(LOGIN, Rules(clients={"ferryman": None, "keyed": CLIENT_SECRET}))
    await internet.start()
    return Harness(internet, network_clock)
