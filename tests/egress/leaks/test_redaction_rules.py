"""Rules of redaction: in how many ways a text is read, what is cut with a key, and what one budget is for."""

from __future__ import annotations

import base64
import gzip
from typing import Any

import pytest

from ferryman.egress.leaks import SecretScanner, StepBudget, redact_blocks, redact_json, redact_text
from ferryman.egress.leaks.redaction import DEEP_CHARACTERS, OMITTED, RIM_MAX, ROUNDS
from ferryman.egress.leaks.scanner import SPANS_MAX
from ferryman.egress.leaks.views import SMALL
from tests.egress.plants import credential

# made once: how a key is written in base32 or compressed depends on its characters
KEY, OTHER = "89RzZAMD2VXwFbuK2zMbDs7D", "GkVwYhJzKgWvHyZjgKVw"
HEAD, TAIL = OTHER[:10], OTHER[10:]
MARK, OTHER_MARK = "[redacted:K]", "[redacted:OTHER]"
PACKED = base64.b64encode(gzip.compress(KEY.encode(), mtime=0)).decode()
SPREAD = " ".join(base64.b32encode(KEY[start : start + 8].encode()).decode().rstrip("=") for start in (0, 8, 16))


@pytest.fixture
def scanner() -> SecretScanner:
    return SecretScanner([credential(KEY, "K"), credential(OTHER, "OTHER")])


def spend(length: int = 0) -> StepBudget:
    """Return a budget of which nothing is left."""
    budget = StepBudget(length)
    budget.remaining = 0
    return budget


def test_a_small_text_is_read_in_more_ways_than_a_long_one(scanner: SecretScanner) -> None:
    assert redact_text(SPREAD, scanner) == MARK
    long = f"{SPREAD} ".ljust(SMALL + 1, "~")
    assert redact_text(long[:SMALL], scanner) == MARK
    assert redact_text(long, scanner) == long


@pytest.mark.parametrize("around", ["", "word " * (SMALL // 4)])
def test_a_compressed_key_is_read_backwards_in_a_text_of_any_length(around: str, scanner: SecretScanner) -> None:
    assert redact_text(f"{around}see {PACKED[::-1]} and", scanner) == f"{around}see {MARK} and"


def test_a_line_that_holds_a_key_in_several_words_is_replaced_with_its_break(scanner: SecretScanner) -> None:
    halves = f"{PACKED[:20]} {PACKED[20:]}"
    assert redact_text(f"first\n{halves}\nthird\nlast", scanner) == f"first\n{MARK}third\nlast"


def test_two_lines_that_hold_a_key_together_leave_nothing_of_the_text(scanner: SecretScanner) -> None:
    assert redact_text(f"first\n{PACKED[:20]}\n{PACKED[20:]}\nlast", scanner) == MARK


def test_the_end_of_a_long_text_stays_where_a_key_is_cut_out_of_its_beginning(scanner: SecretScanner) -> None:
    text = f"{PACKED} " + "word " * (DEEP_CHARACTERS // 5)
    assert redact_text(text, scanner) == text.replace(PACKED, MARK)
    assert redact_text(text[: DEEP_CHARACTERS + 100], scanner) == text[: DEEP_CHARACTERS + 100].replace(PACKED, MARK)


def test_a_key_that_is_put_together_by_cutting_another_is_cut_too(scanner: SecretScanner) -> None:
    text = KEY
    for _ in range(ROUNDS):
        text = f"{text[:12]}{KEY}{text[12:]}"
    cleaned = redact_text(text, scanner)
    assert KEY not in cleaned
    assert scanner.find(cleaned) is None


def test_more_keys_than_are_located_leave_nothing_of_the_text(scanner: SecretScanner) -> None:
    assert redact_text(f"{KEY} " * SPANS_MAX, scanner) == f"{MARK} " * SPANS_MAX
    assert redact_text(f"{KEY} " * (SPANS_MAX + 1), scanner) == MARK


def test_what_overlaps_is_replaced_once_and_what_is_next_to_it_apart() -> None:
    two = SecretScanner([credential(KEY, "K"), credential(KEY[8:] + "zq7w4x2v", "NEXT")])
    assert redact_text(f"a {KEY}zq7w4x2v b", two) == f"a {MARK} b"
    assert redact_text(f"a {KEY}-{KEY} b", two).count("[redacted:") == 2


@pytest.mark.parametrize(("written", "mark"), [("{}", MARK), ("x+/{}", MARK), ("{}xy==", MARK), ("%5B\\{}", MARK)])
def test_what_may_belong_to_the_encoding_of_a_key_is_cut_with_it(written: str, mark: str, scanner: SecretScanner) -> None:
    coded = base64.b64encode(KEY.encode()).decode()
    assert redact_text(f"see ({written.format(coded)}).", scanner) == f"see ({mark})."


def test_what_is_next_to_a_key_as_it_is_stays(scanner: SecretScanner) -> None:
    assert redact_text(f"see abc/{KEY}+abc", scanner) == f"see abc/{MARK}+abc"


def test_a_budget_that_is_spent_leaves_nothing_of_what_was_not_seen(scanner: SecretScanner) -> None:
    assert redact_text("some words", scanner, spend()) == OMITTED
    assert redact_json({"a": "some words"}, scanner, spend()) == {"redacted": OMITTED}
    assert redact_json(["some words"], scanner, spend()) == [OMITTED]


def test_one_budget_is_for_all_of_a_value(scanner: SecretScanner) -> None:
    value = {"a": KEY, "b": ["some words"] * 3, "c": 7193046}
    budget = StepBudget(100, passes=3)
    assert redact_json(value, scanner, budget)["a"] == MARK
    least = StepBudget(100, passes=3).remaining - budget.remaining
    tight = StepBudget(0)
    tight.remaining = least
    assert redact_json(value, scanner, tight)["a"] == MARK
    tight.remaining = least - 1
    assert OMITTED in repr(redact_json(value, scanner, tight))


@pytest.mark.parametrize(
    ("value", "cleaned"),
    [
        ({"a": {"b": [KEY, "x"]}}, {"a": {"b": [MARK, "x"]}}),
        ({KEY: {"b": 1}}, {MARK: {"b": 1}}),
        ({1: KEY}, {"1": MARK}),
        ((KEY, 1), [MARK, 1]),
        ({"a": HEAD, "b": TAIL}, {"redacted": OTHER_MARK}),
        ({HEAD: 1, TAIL: 2}, {"redacted": OTHER_MARK}),
        ({"a": f"https://a.test/{HEAD}", "b": f"https://a.test/{TAIL}"}, {"redacted": OTHER_MARK}),
    ],
)
def test_a_value_is_redacted_by_what_holds_the_key(value: Any, cleaned: Any, scanner: SecretScanner) -> None:
    redacted = redact_json(value, scanner)
    assert (list(redacted) if isinstance(redacted, tuple) else redacted) == cleaned


def test_a_value_without_a_key_is_the_same_object(scanner: SecretScanner) -> None:
    value = {"a": ["some words", 1, None]}
    assert redact_json(value, scanner) is value


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(**fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t1", "name": "http_get", "input": {}, **fields}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([use(input="words")], [use(input={"": "words"})]),
        ([use(input=None)], [use(input={"": None})]),
        ([use(input=KEY)], [use(input={"": MARK})]),
        ([use(id=7)], [use(id="7")]),
        ([{"type": "other", "data": [KEY, 7]}], [{"type": "other", "data": [MARK, 7]}]),
        ([use(id=HEAD), use(id=TAIL)], [use(id=OTHER_MARK), use(id=OTHER_MARK)]),
        ([text(HEAD), use(name=TAIL)], [text(OTHER_MARK), use(name=OTHER_MARK)]),
        ([text(HEAD), use(), use(input={"a": TAIL})], [text(OTHER_MARK), use(), use(input={"redacted": OTHER_MARK})]),
    ],
)
def test_a_block_keeps_its_fields_and_their_kinds(
    content: list[dict[str, Any]], expected: list[dict[str, Any]], scanner: SecretScanner
) -> None:
    assert redact_blocks(content, scanner) == expected


@pytest.mark.parametrize(("others", "rest"), [(14, 14), (15, 0)])
def test_of_more_parts_than_are_tried_all_are_emptied(others: int, rest: int, scanner: SecretScanner) -> None:
    content = [text(HEAD), text(TAIL), *(text(f"~{number}~") for number in range(others))]
    redacted = redact_blocks(content, scanner)
    assert [block["text"] for block in redacted[:2]] == [OTHER_MARK] * 2
    assert sum(block["text"] != OTHER_MARK for block in redacted) == rest


def test_the_rim_of_an_encoded_key_has_a_bound(scanner: SecretScanner) -> None:
    coded = base64.b64encode(KEY.encode()).decode()
    redacted = redact_text("!" + "/" * (RIM_MAX + 9) + coded + "/" * (RIM_MAX + 9) + "!", scanner)
    assert redacted == "!" + "/" * 9 + MARK + "/" * 9 + "!"
