"""Views: the decoded forms of a text, how deeply they are nested, which texts are read in more ways, and what it all costs."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable

import pytest

from ferryman.egress.leaks.views import (
    LEAST,
    SMALL,
    STEPS,
    STEPS_OF_BYTE,
    STEPS_OF_BYTES,
    STEPS_OF_CHARACTER,
    STEPS_OF_TEXT,
    STEPS_PER_CHARACTER,
    STEPS_PER_CHARACTER_OF_SMALL,
    NestingLimitError,
    StepBudget,
    iterate_views,
    undo_all_escapes,
)

WORDS = "the words that are hidden: 12345 67890"
PAD = " pad" * (SMALL // 4)
"""Makes a text longer than a small one."""


def encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def percent(text: str) -> str:
    return "".join(f"%{ord(character):02x}" for character in text)


def read(text: str, **options: object) -> list[str]:
    """Return the views of `text`, bytes as far as they are text."""
    views = iterate_views(text, **options)  # type: ignore[arg-type]  # a table of options
    return [view.decode("ascii", "replace") if isinstance(view, bytes) else view for view in views]


def shows(text: str, words: str = WORDS, **options: object) -> bool:
    return any(words in view for view in read(text, **options))


def test_a_text_is_its_own_first_view_and_no_view_is_repeated() -> None:
    text = f"{encode(percent(WORDS))} {percent(encode(WORDS))} {WORDS[::-1]}"
    views = list(iterate_views(text))
    assert views[0] == text
    assert len(views) == len(set(views)) > 5
    assert min(map(len, views)) >= LEAST


@pytest.mark.parametrize(("write", "depth"), [(encode, 5), (percent, 2), (lambda text: text.encode().hex(), 2)])
@pytest.mark.parametrize("around", ["", PAD])
def test_a_text_is_decoded_until_there_is_nothing_new(write: Callable[[str], str], depth: int, around: str) -> None:
    written = WORDS
    for _ in range(depth):
        written = write(written)
    assert shows(f"{around} {written} {around}")


def nest_backwards(times: int) -> str:
    """Return the words in compressed base64, written backwards so many times."""
    written = WORDS
    for _ in range(times):
        written = base64.b64encode(gzip.compress(written.encode(), mtime=0)).decode()[::-1]
    return written


@pytest.mark.parametrize(("times", "expected"), [(1, True), (2, True), (3, True), (4, False)])
def test_a_small_text_is_read_backwards_and_twice_more_between_its_decodings(times: int, *, expected: bool) -> None:
    assert shows(nest_backwards(times)) is expected


def test_texts_are_read_together_as_each_is_alone() -> None:
    written = [encode(percent(WORDS)), f"part2={WORDS[9:]}&part1={WORDS[:9]}", nest_backwards(2), WORDS.encode().hex()]
    views = [view.decode("ascii", "replace") if isinstance(view, bytes) else view for view in iterate_views(*written)]
    assert views[:4] == written
    assert sum(WORDS in view for view in views) >= 3


@pytest.mark.parametrize("length", [100, SMALL - 10])
def test_a_text_is_read_as_deeply_beside_longer_ones(length: int) -> None:
    hidden, other = encode("0123456789"), "~ " * (length // 2)
    assert any("0123456789" in view for view in iterate_views(hidden, encode(other), other) if isinstance(view, str))


def test_a_long_text_is_read_backwards_by_its_long_words_where_that_is_asked_for() -> None:
    text = f"{PAD} {nest_backwards(1)} {PAD}"
    assert not shows(text)
    assert shows(text, thorough=True)
    assert shows(text, small=len(text))
    assert not shows(text, small=len(text) // 2)


def test_of_a_long_text_the_long_words_are_joined_by_lines_backwards() -> None:
    words = ["a" * 24, "b" * 23, "c" * 30]
    assert f"{'c' * 30}\n{'a' * 24}" in read(f"{PAD} {' '.join(words)}", thorough=True)


def test_a_small_text_is_read_backwards_without_separators_and_without_what_is_between_its_characters() -> None:
    text = "a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r-s"
    views = read(text)
    assert {text[::-1], text.replace("-", "")} <= set(views)
    assert "%41%42%43%44%45%46" in read(".".join("%41%42%43%44%45%46"))
    assert "ABCDEF" in read(".".join("%41%42%43%44%45%46"))
    assert "%41%42%43%44" not in read(".".join("%41%42%43%44"))


@pytest.mark.parametrize(("length", "expected"), [(15, False), (16, True)])
def test_a_text_without_separators_is_a_view_from_sixteen_characters_on(length: int, *, expected: bool) -> None:
    compact = "abcdefghijklmnopqrstuvwxyz"[:length]
    assert (compact in read(f"{compact[:5]} {compact[5:]}")) is expected


def test_a_small_text_has_its_escapes_undone_in_several_orders() -> None:
    quoted = "=41=42=43 %3D44"
    assert {"ABC =44", "ABC %3D44", "=41=42=43 =44", "ABC D"} <= set(read(quoted))
    assert undo_all_escapes("%3D41 \\x3d42") == "A B"
    filler = "~" * (SMALL - len(quoted))
    assert f"=41=42=43 =44{filler}" in read(quoted + filler)
    assert f"=41=42=43 =44{filler}~" not in read(f"{quoted}{filler}~")


def test_of_a_long_text_the_parts_that_change_are_decoded_again() -> None:
    part = encode("a part that stays as it is: 12345")
    changing = f'"{percent(encode(WORDS))}"'
    views = [view for view in iterate_views(f"{part}\n{changing}\n{PAD}") if isinstance(view, bytes)]
    assert sum(b"a part that stays" in view for view in views) == 1
    assert any(WORDS.encode() in view for view in views)


def test_parts_that_change_are_read_in_one() -> None:
    coded = encode(WORDS)
    assert shows(f'"{percent(coded[:20])}"{PAD}"{percent(coded[20:])}"')


def measure(text: str | bytes, **options: bool) -> int:
    budget = StepBudget(0)
    before = budget.remaining
    budget.spend(text, **options)
    return before - budget.remaining


def test_a_view_is_paid_for_by_what_becomes_of_it() -> None:
    assert measure("a" * 10) == STEPS_OF_TEXT + 10 * STEPS_OF_CHARACTER
    assert measure(b"a" * 10) == STEPS_OF_BYTES + 10 * STEPS_OF_BYTE
    assert measure("a" * 10, further=False) == measure(b"a" * 10)


@pytest.mark.parametrize(
    ("length", "passes", "steps"),
    [
        (0, 1, STEPS),
        (SMALL, 1, STEPS + SMALL * STEPS_PER_CHARACTER_OF_SMALL),
        (SMALL + 1, 1, STEPS + (SMALL + 1) * STEPS_PER_CHARACTER),
        (10, 3, STEPS + 30 * STEPS_PER_CHARACTER_OF_SMALL),
    ],
)
def test_a_small_text_may_cost_more_for_each_character(length: int, passes: int, steps: int) -> None:
    assert StepBudget(length, passes=passes).remaining == steps
    assert StepBudget(length, passes=passes, within=StepBudget(0)).remaining == steps


def test_the_last_step_may_be_spent_and_no_more() -> None:
    budget = StepBudget(0)
    budget.remaining = STEPS_OF_BYTES + 4
    budget.spend(b"abcd")
    assert budget.remaining == 0
    with pytest.raises(NestingLimitError):
        budget.spend(b"")


def test_a_whole_that_is_spent_ends_its_parts() -> None:
    whole = StepBudget(0)
    part = StepBudget(0, within=whole)
    whole.remaining = 1
    with pytest.raises(NestingLimitError):
        part.spend(b"")
    with pytest.raises(NestingLimitError):
        list(iterate_views("some words", budget=whole))


def test_every_view_is_paid_for() -> None:
    budget = StepBudget(100_000)
    before, text = budget.remaining, encode(WORDS)
    views = list(iterate_views(text, budget=budget))
    assert before - budget.remaining >= measure(text) + sum(measure(view, further=False) for view in views[1:])
