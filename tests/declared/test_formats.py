"""Formats of texts: what each asks for, and that no text takes long to be checked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.declared.formats import CHARACTERS_MAX, FORMATS, build_checker

GOOD = {
    "email": ["ann@example.com", "a.b+c@x-y.example", "x@localhost", f"{'a' * 64}@b.test"],
    "date": ["2026-12-24", "2024-02-29"],
    "time": ["18:00:00Z", "23:59:60z", "00:00:00.123456789+05:30"],
    "date-time": ["2026-12-24T18:00:00Z", "2026-12-24t18:00:00.5-23:59", "2026-12-24 18:00:00+01:00"],
    "uuid": ["8b0c9a5e-3f77-4c52-9d58-3a9e2a4f1c11", "8B0C9A5E-3F77-4C52-9D58-3A9E2A4F1C11"],
    "hostname": ["a", "api.example.com", "xn--bcher-kva.example", "1.2.3.4"],
    "ipv4": ["192.0.2.1"],
    "ipv6": ["2001:db8::1", "::ffff:192.0.2.1"],
    "uri": ["https://example.com/a?b=c#d", "urn:isbn:0451450523", "mailto:ann@example.com"],
}
BAD = {
    "email": [
        "",
        "ann",
        "@example.com",
        "ann@",
        "a..b@c.test",
        ".a@c.test",
        "a@b@c.test",
        "a@-b.test",
        "a b@c.test",
        "ä@c.test",
    ],
    "date": ["2026-02-29", "2026-1-1", "20261224", "2026-12-24T00:00:00Z", "٢٠٢٦-12-24"],
    "time": ["18:00:00", "24:00:00Z", "18:00Z", "18:60:00Z", "18:00:00+1:00"],
    "date-time": ["2026-12-24", "2026-12-24T18:00:00", "2026-02-30T18:00:00Z", "2026-12-24X18:00:00Z", "now"],
    "uuid": ["8b0c9a5e3f774c529d583a9e2a4f1c11", "8b0c9a5e-3f77-4c52-9d58-3a9e2a4f1c1g"],
    "hostname": ["", "a..b", "-a", "a-", "a" * 64, "a_b", ".".join(["a" * 50] * 6), "bücher.example"],
    "ipv4": ["192.0.2", "192.0.2.256", "192.0.2.01", "2001:db8::1"],
    "ipv6": ["2001:db8:::1", "192.0.2.1", "2001:db8::g"],
    "uri": ["example.com", "//example.com", "https://a b", "https://exa<mple", "1a:b"],
}
CHECKER = build_checker()


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in GOOD.items() for text in texts])
def test_a_text_of_its_format_conforms(name: str, text: str) -> None:
    assert CHECKER.conforms(text, name)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BAD.items() for text in texts])
def test_any_other_text_does_not(name: str, text: str) -> None:
    assert not CHECKER.conforms(text, name)


def test_every_format_has_texts_here() -> None:
    assert GOOD.keys() == BAD.keys() == FORMATS.keys()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("value", [None, 5, True, ["a"], {"a": 1}])
def test_what_is_no_text_has_no_format(name: str, value: Any) -> None:
    assert CHECKER.conforms(value, name)


@pytest.mark.parametrize("name", ["regex", "idn-hostname", "int32", "password", "nonsense"])
def test_a_format_that_is_not_known_asks_for_nothing(name: str) -> None:
    assert CHECKER.conforms("(((((a+)+)+)+)+)$", name)


def test_a_text_that_is_longer_than_any_of_a_format_is_not_read() -> None:
    assert not CHECKER.conforms("https://a.test/" + "a" * CHARACTERS_MAX, "uri")


@given(st.sampled_from(sorted(FORMATS)), st.text(max_size=50))
def test_any_text_is_checked_without_a_fault(name: str, text: str) -> None:
    assert CHECKER.conforms(text, name) in (True, False)
