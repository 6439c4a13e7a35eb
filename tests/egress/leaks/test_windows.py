"""What the model is still writing is shown without any part of a credential, in whatever spelling it comes word by word."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterator, Sequence

import pytest

from ferryman.domain.conversations.window import decide, measure_end
from ferryman.domain.conversations.writing import WrittenTurn
from ferryman.domain.executions.message import ReplyDelta
from ferryman.egress.leaks import SecretScanner, redact_blocks
from tests.egress.plants import EXTRAS, NOTATIONS, VALUES, credential
from tests.linear import find_growth

BEFORE, AFTER = "Of course, here it is for you: ", " , and that is all there is to say of the matter. " * 12
DELTAS = 50
PART = 4
"""Characters of a key, in whatever notation, that nobody sees next to each other."""

SPELLINGS = {
    **NOTATIONS,
    "binary digits": EXTRAS["binary digits"],
    "entities, escaped twice": lambda value: html.escape(NOTATIONS["entities, escaped"](value)),
    "percent, four times": lambda value: "".join(f"%25252525{code:02x}" for code in value.encode()),
    "backslash u, escaped": lambda value: "".join(f"\\\\\\\\u{ord(code):04x}" for code in value),
    "code points": lambda value: "".join(f"U+{ord(code):06X}, " for code in value),
    "many zero-widths between": ("\u200b" * 12).join,
    "lines of dashes between": "\n--------\n".join,
}


def divide(text: str, count: int) -> list[str]:
    """Return `text` in `count` pieces of about the same length."""
    places = [len(text) * number // count for number in range(count + 1)]
    return [text[start:end] for start, end in itertools.pairwise(places)]


def scan(texts: Sequence[str], scanner: SecretScanner) -> list[str]:
    return [block["text"] for block in redact_blocks([{"type": "text", "text": text} for text in texts], scanner)]


def watch(deltas: Sequence[str], value: str) -> Iterator[str]:
    """Yield what is shown of a text after each of its deltas."""
    scanner = SecretScanner([credential(value, "KEY")])
    turn = WrittenTurn(is_scanned=True)
    for delta in deltas:
        turn.add(ReplyDelta(0, delta))
        texts = turn.list_undecided()
        turn.decide(decide(texts, scan(texts, scanner), held_back=measure_end(texts, len(value))))
        yield "".join(block.text for block in turn.read())


def list_parts(value: str, notation: str) -> set[str]:
    """Return the parts of a spelling that would tell something of the value, and are in none of another one."""
    spelling, other = SPELLINGS[notation](value), SPELLINGS[notation]("~" * len(value))
    size = -(-PART * len(spelling) // len(value))
    parts = {spelling[start : start + size] for start in range(len(spelling) - size + 1)}
    return {part for part in parts if part not in other}


@pytest.mark.parametrize("value", ["prefixed", "github", "uuid", "short"])
@pytest.mark.parametrize("notation", sorted(SPELLINGS))
def test_no_part_of_a_key_is_shown_while_it_is_written(notation: str, value: str) -> None:
    deltas = [BEFORE, *divide(SPELLINGS[notation](VALUES[value]), DELTAS), *divide(AFTER, 5)]
    views = [*watch(deltas, VALUES[value])]
    assert not [part for part in list_parts(VALUES[value], notation) if any(part in text for text in views)]


@pytest.mark.parametrize("value", ["prefixed", "github", "uuid"])
def test_the_text_goes_on_behind_a_key(value: str) -> None:
    *_, latest = watch([BEFORE, *divide(VALUES[value], DELTAS), *divide(AFTER, 5)], VALUES[value])
    assert latest.startswith(f"{BEFORE}[redacted:KEY]{AFTER[:100]}")


def test_of_words_the_end_that_is_held_back_is_four_times_the_key() -> None:
    value, words = VALUES["github"], "and that is all there is to say of the matter " * 12
    *_, latest = watch(divide(words, 9), value)
    assert latest == words[: -4 * len(value)]


def test_a_hostile_text_is_measured_in_linear_time() -> None:
    for part in ("&", "&#", "\\", "%25", "0", "1 ", "_", "\u200b", "&amp;#1", "U+", "0x", "\\u{", "é", "-a"):
        growth = find_growth(lambda text: measure_end([text], 10**6), lambda size, part=part: part * (size // len(part)))
        assert growth is None, f"{part!r}: {growth}"


def test_a_key_in_the_names_of_a_call_shows_nothing_of_it() -> None:
    value = VALUES["github"]
    scanner, turn = SecretScanner([credential(value, "KEY")]), WrittenTurn(is_scanned=True)
    turn.add(ReplyDelta(0, AFTER))
    for call, name in (("toolu_1", "http_get"), (value, "http_get"), ("toolu_3", value)):
        turn.add(ReplyDelta(len(turn.list_undecided()), AFTER, call, name))
    texts = turn.list_undecided()
    turn.decide(decide(texts, scan(texts, scanner), held_back=measure_end(texts, len(value))))
    assert [(block.call, block.name) for block in turn.read()] == [("", ""), ("toolu_1", "http_get")]
