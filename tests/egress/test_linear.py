"""Linear time: twice the text takes twice as long, whatever an upstream or a model makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.http.request import InboundResponse
from ferryman.egress import sanitize
from ferryman.egress.leaks import SecretScanner, redact_blocks, redact_json, redact_text
from ferryman.egress.leaks.text_pieces import collect_pieces, iterate_arrangements, split_urls
from ferryman.framing import escapes, frame, marks
from ferryman.framing.frame import remove_invisible
from tests.canaries.canary import create_key
from tests.egress.plants import VALUES, credential, outbound
from tests.linear import FACTOR_MAX, FLOOR_S, find_growth, measure_cpu

ATTACKS: dict[str, tuple[Callable[[str], object], str, str]] = {
    "backslashes that escape nothing": (escapes.undo_backslashes, "", "\\"),
    "backslashes before what is no escape": (escapes.undo_backslashes, "\\x41", "\\"),
    "a tag that never comes to its name": (marks.rewrite_marks, "<", " "),
    "a role that never comes to its colon": (marks.rewrite_marks, "human", " "),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_text_that_was_quadratic_is_linear(attack: str) -> None:
    action, before, repeated = ATTACKS[attack]
    assert find_growth(action, lambda size: before + repeated * size) is None


TOKENS: dict[str, Callable[[int], str]] = {
    "a token that repeats itself": lambda size: "abcdefgh" * (size // 8),
    "a token of words": lambda size: "".join(f"word{number}" for number in range(size // 6))[:size],
}


@pytest.mark.parametrize("kind", TOKENS)
def test_a_text_full_of_a_long_token_costs_its_length_and_not_the_tokens_as_well(kind: str) -> None:
    def build(size: int) -> tuple[SecretScanner, str]:
        token = TOKENS[kind](size // 8)
        return SecretScanner([credential(token, "TOKEN")]), token[: len(token) // 2] * 16

    assert find_growth(lambda pair: pair[0].find_spans(pair[1]), build) is None


def test_a_request_full_of_pieces_of_a_key_costs_its_length() -> None:
    value = create_key("pieces in a flood", 400)
    scanner = SecretScanner([credential(value), credential(value[:32], "SHORT")])
    pieces = " ".join(f"{value[at : at + 7]} {value[at * 3 : at * 3 + 13]}" for at in range(0, 120, 7))
    assert (
        find_growth(lambda text: scanner.scan_request(outbound(body={"a": text})), lambda size: (pieces * size)[:size]) is None
    )


KEY = VALUES["prefixed"]
SCANNER = SecretScanner([credential(KEY), credential(VALUES["basic"], "BASIC")])
SIZES = (16_384, 32_768, 65_536)


def leaves(text: str) -> dict[str, Any]:
    """Return a JSON value with `text` in small pieces."""
    return {"items": [text[start : start + 7] for start in range(0, len(text), 7)]}


def nested(text: str) -> Any:
    """Return a JSON value with `text` in names, each in the one before, and as many leaves in the last."""
    value: Any = [1] * (len(text) // 16)
    for start in range(0, min(len(text), 64_000) // 2, 64):
        value = {f"{start}{text[start : start + 64]}": value}
    return value


def turn(text: str) -> list[dict[str, Any]]:
    """Return a model's turn with `text` in three blocks."""
    third = len(text) // 3
    used = {"type": "tool_use", "id": "toolu_1", "name": "http_get", "input": {"url": text[third : 2 * third]}}
    return [{"type": "text", "text": text[:third]}, used, {"type": "text", "text": text[2 * third :]}]


def answer(text: str) -> InboundResponse:
    body = text.encode("utf-8", "surrogatepass")
    return InboundResponse(status=200, headers=(), body=body, size_bytes=len(body))


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "what is found": SCANNER.find,
    "what is found, thoroughly": lambda text: SCANNER.find(text, thorough=True),
    "where it is": SCANNER.find_spans,
    "a request": lambda text: SCANNER.find_in_request(outbound(url=f"https://api.news.test/{text[:9_000]}", body={"q": text})),
    "a text redacted": lambda text: redact_text(text, SCANNER),
    "leaves redacted": lambda text: redact_json(leaves(text), SCANNER),
    "nested JSON redacted": lambda text: redact_json(nested(text), SCANNER),
    "a turn": lambda text: redact_blocks(turn(text), SCANNER),
    "pieces put together": lambda text: list(iterate_arrangements(split_urls(collect_pieces(leaves(text), "")))),
    "an answer": lambda text: sanitize.render_response(answer(text), SCANNER, nonce="0" * 16).content,
    "a text neutralized": frame.neutralize_unframed,
    "a text normalised": frame.normalize,
    "marks": marks.count_marks,
    "what is seen": remove_invisible,
}
NASTY = (
    *("\\", "%25", "%5c", "&amp;", "&#37;", "\\x26", "\\u005c", "&lt;", "=0", "U+0025 ", "\\u{0"),
    *("<", " ", "\t", "\n", "\\n", "\r", "\x0b", "\x00", "human:", "system", "###", "1) "),
    *("tool_response", "<|a|>", "[INST]", "<br>"),
    *("ﷺ", "㌖", "𝐭", "é", "ΐ", "t\u0301", "\u200b", "_"),
    *("eyJ", "QUJD", "H4sI", "eJw", "0101010 ", "65,", "4a", "a,", "[", '{"a":', '"'),
    *(KEY, KEY[:24], f"{KEY[-15:]} "),
)
KNOWN = (
    *(("", "\\"), ("<", " "), ("human", " "), ("", "\x0b"), ("", "ﷺ"), ("", "é"), ("", "㌖"), ("", KEY), ("", f"{KEY[:24]} ")),
    *(("", "eyJ\\u{25}"), ("[", '"a",'), ("", "%25"), ("", "\\x26 1,ﷺ&#37;"), ("", "_\\n\u200b<br>"), ("eyJ", "t\u0301")),
    *(("", "//7//v/+"), ("//7+/2H//v7/", "Qf9B/0H/")),  # byte order marks, and full-width letters after four of them, in base64
)


def find_slow(before: str, repeated: str, function: Callable[[str], object], sizes: Sequence[int] = SIZES) -> str | None:
    """Return what is told of a text that takes more than linear time, or None.

    Judged by two doublings after each other: a single one may make something worth decoding that was not before.
    """
    times: list[float] = []
    for size in sizes:
        text = (before + repeated * (size // len(repeated) + 1))[:size]
        times.append(measure_cpu(lambda text=text: function(text), 1 if times and times[-1] > FLOOR_S else 2))  # type: ignore[misc]  # bound per turn
        doublings = list(pairwise(times))[-2:]
        if doublings and doublings[-1][1] <= FACTOR_MAX * doublings[-1][0] and len(times) >= len(sizes) - 1:
            return None  # the longest text, which takes most of the time, could not change that
        if len(doublings) == 2 and times[-1] > FLOOR_S and all(last > FACTOR_MAX * first for first, last in doublings):
            return f"{before!r} + {repeated!r} * n: {[f'{time * 1_000:.1f} ms' for time in times]} for {sizes[: len(times)]}"
    return None


@pytest.mark.parametrize("name", ["a request", "an answer", "a turn", "nested JSON redacted"])
@pytest.mark.parametrize(("before", "repeated"), KNOWN, ids=ascii)
def test_a_text_that_was_slow_takes_linear_time_all_the_way(name: str, before: str, repeated: str) -> None:
    # measured again where it seems slow: the machine may have been
    assert find_slow(before, repeated, FUNCTIONS[name]) is None or find_slow(before, repeated, FUNCTIONS[name]) is None


MIXTURE = st.lists(st.sampled_from(NASTY) | st.text(min_size=1, max_size=3), min_size=1, max_size=4).map("".join)


@given(before=st.just("") | MIXTURE, repeated=MIXTURE, name=st.sampled_from(sorted(FUNCTIONS)))
@settings(max_examples=30, deadline=None)
def test_a_function_takes_linear_time_for_any_mixture(before: str, repeated: str, name: str) -> None:
    function, sizes = FUNCTIONS[name], (4_096, 8_192, 16_384)
    assert find_slow(before, repeated, function, sizes) is None or find_slow(before, repeated, function, sizes) is None
