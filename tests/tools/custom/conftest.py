"""A fresh desk for each test."""

from __future__ import annotations

import pytest

from .desk import Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()
