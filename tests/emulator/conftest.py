"""Google's own emulator beside ours: only where it is installed, and only where it is asked for."""

from __future__ import annotations

import pytest

from emulator.firestore.official import find_official


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs Google's emulator where it is missing."""
    if find_official() is None:
        for item in items:
            if item.get_closest_marker("official"):
                item.add_marker(pytest.mark.skip(reason="Google's Firestore emulator or Java is not installed here"))
