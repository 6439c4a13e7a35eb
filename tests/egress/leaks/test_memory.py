"""Memory: whatever a text is full of, taking the credentials out of it needs at most three times the text and 32 MB."""

from __future__ import annotations

import base64
import json
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from ferryman.egress.leaks import LeakFinding, SecretScanner, redact_json, redact_text
from ferryman.egress.leaks.redaction import OMITTED, SPANS_MAX
from ferryman.egress.leaks.text_pieces import PIECES_MAX
from tests.egress.plants import VALUES, credential, outbound

MB = 1_000_000
SIZE = 1_200_000
KEY = VALUES["prefixed"]
CODED = base64.b64encode(KEY.encode()).decode()
SCANNER = SecretScanner([credential(KEY), credential(VALUES["basic"], "BASIC")])
TEXTS: dict[str, Callable[[], str]] = {
    "the key once": lambda: KEY + "a b\n" * (SIZE // 4),
    "the key again and again": lambda: f"{KEY} " * (SIZE // len(KEY)),
    "the key in base64, once": lambda: f"{CODED} " + "a,b;" * (SIZE // 4),
    "the key in base64, in one run": lambda: CODED * (SIZE // len(CODED)),
    "half the key again and again": lambda: f"{KEY[-24:]}." * (SIZE // 25),
    "the key and letters of four bytes": lambda: KEY + "\U0001f600" * (SIZE // 4),
}


def measure_peak(action: Callable[[], object]) -> int:
    """Return the most bytes that Python's objects took during `action`, beyond those before."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        action()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", TEXTS)
def test_redacting_takes_bounded_memory(kind: str) -> None:
    text = TEXTS[kind]()
    assert measure_peak(lambda: redact_text(text, SCANNER)) <= 3 * sys.getsizeof(text) + 32 * MB


def test_nested_json_takes_memory_by_its_length_and_not_by_its_depth_as_well() -> None:
    value: Any = [1] * 30_000
    for level in range(500):
        value = {f"{level:060}": value}
    assert measure_peak(lambda: redact_json(value, SCANNER)) <= 3 * len(json.dumps(value)) + 32 * MB


@pytest.mark.parametrize("value", [[1] * 1_000_000, ["https://a.test" + "/" * 1_000_000]], ids=["leaves", "segments"])
def test_a_value_of_too_many_pieces_is_omitted_in_bounded_memory(value: list[Any]) -> None:
    assert measure_peak(lambda: redact_json(value, SCANNER)) <= 3 * len(json.dumps(value)) + 32 * MB
    assert redact_json(value, SCANNER) == [OMITTED]


def test_a_request_of_more_pieces_than_are_looked_at_holds_a_secret_for_all_that_is_known() -> None:
    assert SCANNER.find_in_request(outbound(body=[1] * (PIECES_MAX + 1))) == LeakFinding(None)


def test_a_text_of_more_credentials_than_are_told_apart_goes_as_a_whole() -> None:
    assert redact_text(f"{KEY} " * (SPANS_MAX + 1), SCANNER) == "[redacted:NEWS_KEY]"


def test_text_between_fewer_credentials_stays() -> None:
    assert redact_text(f"{KEY} {KEY} one {KEY}", SCANNER) == "[redacted:NEWS_KEY] [redacted:NEWS_KEY] one [redacted:NEWS_KEY]"
