"""Hosts: which name is covered by which pattern."""

from __future__ import annotations

import pytest

from ferryman.domain.http.host import is_covered, is_covered_by


@pytest.mark.parametrize(
    ("pattern", "host", "expected"),
    [
        ("api.test", "api.test", True),
        ("API.test", "api.TEST", True),
        ("api.test", "x.api.test", False),
        ("api.test", "xapi.test", False),
        ("api.test", "api.test.evil.test", False),
        ("*.api.test", "x.api.test", True),
        ("*.API.test", "X.api.test", True),
        ("*.api.test", "api.test", False),
        ("*.api.test", "y.x.api.test", False),
        ("*.api.test", ".api.test", False),
        ("*.api.test", "xapi.test", False),
        ("*", "api.test", False),
        ("", "api.test", False),
    ],
)
def test_a_pattern_covers_itself_or_exactly_one_more_label(pattern: str, host: str, expected: bool) -> None:
    assert is_covered_by(pattern, host) is expected


def test_no_pattern_covers_nothing() -> None:
    assert not is_covered((), "api.test")
