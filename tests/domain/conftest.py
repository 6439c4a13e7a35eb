"""For the tests of the domain: a machine whose clock is not set to UTC."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the local time zone to nine hours ahead of UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()
