"""Texts that are read together: what is found in one of them alone is found in all of them at once, and nothing else is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.egress.leaks import SecretScanner, is_clean, redact_json, redact_text
from ferryman.egress.leaks.views import SMALL
from tests.egress.leaks.corpus import HARDER, KINDS, WAYS, Write
from tests.egress.leaks.trials import SCANNERS

WRITERS: list[Write] = [*(write for group in WAYS.values() for write in group.values()), *HARDER.values()]
AROUND = st.dictionaries(
    st.text(max_size=12), st.text(max_size=60) | st.integers() | st.lists(st.booleans(), max_size=3), max_size=5
)


def is_clean_alone(text: str, scanner: SecretScanner) -> bool:
    value = json.loads(text)
    return redact_text(text, scanner) == text and redact_json(value, scanner) == value


@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    write=st.sampled_from(WRITERS),
    before=AROUND,
    after=AROUND,
    parts=st.integers(min_value=1, max_value=3),
)
def test_a_key_that_is_found_alone_is_found_in_all_at_once(
    kind: str, write: Write, before: dict, after: dict, parts: int
) -> None:
    written = write(KINDS[kind])
    size = -(-len(written) // parts)
    pieces = {f"part{number}": written[number * size : (number + 1) * size] for number in range(parts)}
    text = json.dumps({"before": before, **pieces, "after": after})[:SMALL]
    if text.endswith("}") and not is_clean_alone(text, SCANNERS[kind]):
        assert not is_clean(text, json.loads(text), SCANNERS[kind])


@settings(derandomize=True, max_examples=100, deadline=None)
@given(kind=st.sampled_from(sorted(KINDS)), value=AROUND)
def test_what_is_clean_alone_is_clean_at_once(kind: str, value: dict) -> None:
    text = json.dumps(value)
    assert is_clean(text, value, SCANNERS[kind]) is is_clean_alone(text, SCANNERS[kind]) is True


@pytest.mark.parametrize("text", ["{}", "[[], [null, true]]", '""'])
def test_a_value_without_texts_is_clean(text: str) -> None:
    assert is_clean(text, json.loads(text), SCANNERS["base62"])


def test_a_key_is_found_in_what_the_value_does_not_keep() -> None:
    key = KINDS["base62"]
    assert not is_clean(f'{{"a": "{key}", "a": 1}}', {"a": 1}, SCANNERS["base62"])
    assert not is_clean(f"[] {key}", [], SCANNERS["base62"])


def test_a_long_text_is_not_told_of_at_once() -> None:
    assert not is_clean("a" * (SMALL + 1), "a", SCANNERS["base62"])


def test_an_address_is_checked_once() -> None:
    scanner = SecretScanner([])
    scanner.checked.add("https://api.news.test/")
    scanner.checked.add("x" * 600)
    assert "https://api.news.test/" in scanner.checked
    assert "x" * 600 not in scanner.checked
    for number in range(20):
        scanner.checked.add(str(number))
    assert "https://api.news.test/" not in scanner.checked
