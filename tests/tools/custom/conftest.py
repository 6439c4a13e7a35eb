"""A fresh harness for each test."""

from __future__ import annotations

import pytest

from .harness import CustomToolHarness


@pytest.fixture
def harness() -> CustomToolHarness:
    return CustomToolHarness()
