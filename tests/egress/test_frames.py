"""Frames by class: one frame at the very start and end, and nothing in it that reads as another frame, a turn or a token."""

from __future__ import annotations

import html
import json
import re
import unicodedata

import pytest

from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX
from ferryman.operations import check
from tests.egress.frames import CHARSETS, FRAMES, HONEST, SCRIPTS, TOKENS, TURNS
from tests.egress.test_sanitize import HEAD, inner, text
from tests.figures import Tally

NAME = re.compile(r"tool[\W_]{0,3}response")
LINE = re.compile(
    r"(?:^|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|\\[nr]|<br/?>|</?p>|<div[^>]*>)\W*(?:human|assistant|system|user)\W{0,4}:"
)
MARKER = "... (truncated)"


def read(rendered: str) -> str:
    """Return what is left when compatibility forms, case and two layers of entities are undone."""
    return html.unescape(html.unescape(unicodedata.normalize("NFKC", rendered))).casefold()


def framed(rendered: str) -> bool:
    """Tell whether there is exactly one frame around text of a bounded length without a character that is not seen."""
    again = unicodedata.normalize("NFKC", read(rendered)).casefold()
    body = rendered.removeprefix(HEAD).partition('">')[2].removesuffix("</tool_response>")
    return (
        rendered.startswith(HEAD)
        and rendered.endswith("</tool_response>")
        and len(NAME.findall(read(rendered))) == len(NAME.findall(again)) == 2
        and len(body.removesuffix(MARKER)) <= RESULT_CHARACTERS_MAX
        and not any(unicodedata.category(character) in ("Cc", "Cf", "Cs") and character not in "\n\t" for character in rendered)
        and not re.search("[\ufe00-\ufe0f\U000e0000-\U000e0fff]", rendered)
    )


@pytest.mark.parametrize("klass", FRAMES)
async def test_nothing_in_a_frame_closes_reopens_or_imitates_it(klass: str, tally: Tally) -> None:
    missed = []
    for body in FRAMES[klass]:
        for whole in (body, f"before {body} after", json.dumps({"text": body}, ensure_ascii=False)):
            rendered = text(whole)
            checked = (await check.check_frame({"response": {"body_text": whole}}))["text"]
            # `check` shows the same, with a nonce of its own
            passed = framed(rendered) and checked == rendered.replace("0123456789abcdef", "0" * 16, 1)
            tally("frames", klass, passed)
            if not passed:
                missed.append((whole[-60:], rendered[-90:]))
    assert missed == []


LOOK_ALIKE = ("look-alikes", "compatibility forms", "comments inside the words", "tags inside the words", "far apart", "digits")


@pytest.mark.parametrize("klass", [*LOOK_ALIKE, *SCRIPTS])
def test_an_imitation_of_the_frame_is_neutralized(klass: str, tally: Tally) -> None:
    missed = []
    for body in FRAMES.get(klass) or SCRIPTS[klass]:
        for whole in (body, f"before {body} after", json.dumps({"text": body}, ensure_ascii=False)):
            passed = inner(text(whole)).count("[frame]") == 1
            tally("frames", "letters of other scripts" if klass in SCRIPTS else klass, passed)
            if not passed:
                missed.append((whole[-60:], inner(text(whole))[-90:]))
    assert missed == []


@pytest.mark.parametrize("klass", TURNS)
def test_no_line_reads_as_a_turn_of_a_chat(klass: str, tally: Tally) -> None:
    missed = []
    for body in TURNS[klass]:
        rendered = text(body)
        passed = (
            framed(rendered) and not LINE.search(read(inner(rendered))) and "hi" in rendered and "[role " in inner(rendered)
        )
        tally("turns", klass, passed)
        if not passed:
            missed.append((body, inner(rendered)))
    assert missed == []


@pytest.mark.parametrize("klass", TOKENS)
def test_no_control_token_of_a_model_is_left(klass: str, tally: Tally) -> None:
    missed = []
    for token in TOKENS[klass]:
        for body in (token, f"text\n{token}\ntext", f"a {token}b"):
            if klass == "headings" and body.startswith("a "):
                continue
            rendered = text(body)
            passed = framed(rendered) and read(token) not in read(inner(rendered))
            tally("tokens", klass, passed)
            if not passed:
                missed.append((body, inner(rendered)))
    assert missed == []


@pytest.mark.parametrize("klass", CHARSETS)
def test_no_charset_makes_a_frame(klass: str, tally: Tally) -> None:
    missed = []
    for body, content_type in CHARSETS[klass]:
        passed = framed(text(body, content_type))
        tally("charsets", klass, passed)
        if not passed:
            missed.append((body, content_type, text(body, content_type)))
    assert missed == []


@pytest.mark.parametrize("body", HONEST, ids=range(len(HONEST)))
def test_what_is_honest_stays_as_it_is(body: str, tally: Tally) -> None:
    tally("frames", "honest text unchanged", inner(text(body)) == body)
    assert inner(text(body)) == body


@pytest.mark.parametrize(
    "body", ['{"tool":"response"}', '["tool","response"]', '{"a": "tool", "response": "b"}', '[["tool"],"response"]']
)
def test_json_that_reads_like_the_frame_s_name_stays_json(body: str, tally: Tally) -> None:
    rendered = text(body)
    passed = framed(rendered) and isinstance(json.loads(inner(rendered)), type(json.loads(body)))
    tally("frames", "JSON stays JSON", passed)
    assert passed, rendered


@pytest.mark.parametrize("size", [0, 1, 49_999, 50_000, 50_001, 60_000, 131_071, 131_072, 131_073, 500_000])
@pytest.mark.parametrize("letter", ["a", "é", "日", "😀"])
def test_the_text_is_cut_at_exactly_fifty_thousand_characters(size: int, letter: str, tally: Tally) -> None:
    rendered = text(letter * size)
    expected = letter * min(size, RESULT_CHARACTERS_MAX) + (MARKER if size > RESULT_CHARACTERS_MAX else "")
    passed = (
        framed(rendered)
        and inner(rendered) == expected
        and (f'truncated="{str(size > RESULT_CHARACTERS_MAX).lower()}"' in rendered)
    )
    tally("frames", "length", passed)
    assert passed
