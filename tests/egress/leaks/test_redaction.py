"""Redaction: what takes the place of a credential, how far it is widened, and when a whole is emptied."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from ferryman.egress.leaks import LeakFinding, SecretScanner, redact_json, redact_text
from ferryman.egress.leaks.redaction import DEEP_CHARACTERS, OMITTED, RIM_MAX, empty_value, format_finding
from tests.egress.plants import VALUES, credential

VALUE, OTHER = VALUES["short"], VALUES["github"]
SCANNER = SecretScanner([credential(VALUE), credential(OTHER, "OTHER")])
MARK, OTHER_MARK = "[redacted:NEWS_KEY]", "[redacted:OTHER]"
HEAD, TAIL = VALUE[:8], VALUE[8:]
CODED = base64.b64encode(f"key={VALUE};".encode()).decode()
DEEP = base64.b64encode(base64.b64encode(f"key={VALUE};".encode())).decode()


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("", ""),
        ("no key", "no key"),
        (VALUE, MARK),
        (f"a {VALUE} b {OTHER} c", f"a {MARK} b {OTHER_MARK} c"),
        (f"{VALUE}{VALUE}", f"{MARK}{MARK}"),
        (f"see {VALUE[::-1]}.", f"see {MARK}."),
        (f"see {CODED}.", f"see {MARK}."),
        (f"see AbC{CODED}Abc, end", f"see {MARK}, end"),
        (f"see {DEEP}, and more", f"see {MARK}, and more"),
        (f"see {DEEP}\n{DEEP} end", f"see {MARK}\n{MARK} end"),
        (f"-{VALUE}-", f"-{MARK}-"),
    ],
)
def test_a_credential_is_replaced_and_the_rest_stays(text: str, clean: str) -> None:
    assert redact_text(text, SCANNER) == clean


def test_an_encoded_credential_is_widened_within_bounds() -> None:
    seen = redact_text("!" + "a/" * RIM_MAX + CODED + "b+" * RIM_MAX + "!", SCANNER)
    before, _, after = seen.partition(MARK)
    # the credential is located to within the few characters that its neighbours are written with
    assert 0 <= len(before) - (1 + RIM_MAX) < 8
    assert 0 <= len(after) - (1 + RIM_MAX) < 8


def test_what_is_beyond_the_decoded_part_is_searched_undecoded() -> None:
    text = "word " * (DEEP_CHARACTERS // 5 + 1)
    assert redact_text(f"{text}{VALUE} {DEEP}", SCANNER) == f"{text}{MARK} {DEEP}"
    assert redact_text(f"{DEEP} {text}{VALUE}", SCANNER) == f"{MARK} {text}{MARK}"


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        ({"a": VALUE, "b": 1}, {"a": MARK, "b": 1}),
        ({VALUE: 1}, {MARK: 1}),
        ({"a": HEAD, "b": TAIL}, {"redacted": MARK}),
        ([HEAD, TAIL], [MARK]),
        ([{"a": [VALUE, None, True, 1.5]}], [{"a": [MARK, None, True, 1.5]}]),
        (VALUE, MARK),
        (None, None),
        (7, 7),
    ],
)
def test_a_value_is_redacted_leaf_by_leaf_or_emptied(value: Any, clean: Any) -> None:
    assert redact_json(value, SCANNER) == clean


def test_a_number_that_is_a_credential_is_replaced() -> None:
    scanner = SecretScanner([credential("7193046285173904")])
    assert redact_json({"a": 7193046285173904, "b": 71}, scanner) == {"a": MARK, "b": 71}


def test_a_value_of_too_many_pieces_is_omitted_where_there_is_anything_to_scan_for() -> None:
    value = ["a"] * 70_000
    assert redact_json(value, SCANNER) == [OMITTED]
    assert redact_json(value, SecretScanner([])) is value


@pytest.mark.parametrize(
    ("value", "empty"), [({"a": 1}, {"redacted": "n"}), ([1], ["n"]), ((1,), ["n"]), ("a", "n"), (None, "n"), (1, "n")]
)
def test_an_emptied_value_keeps_its_kind(value: Any, empty: Any) -> None:
    assert empty_value(value, "n") == empty


def test_a_finding_is_told_by_its_name() -> None:
    assert format_finding(LeakFinding("KEY")) == "[redacted:KEY]"
    assert format_finding(LeakFinding(None)) == OMITTED
