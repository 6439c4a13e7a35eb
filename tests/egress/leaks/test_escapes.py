"""Escapes: each notation of a character, undone, and what only resembles one, left."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ferryman.framing import escapes

UNDONE: dict[Callable[[str], str], dict[str, str]] = {
    escapes.undo_percents: {
        "%41%42": "AB",
        "%2541": "A",
        "%25252541": "A",
        "%25": "%",
        "%u0041": "A",
        "%25U0041": "A",
        "%c3%a9": "é",
        "%E2%82%AC": "€",
        "%F0%9F%98%80": "😀",
        "%e9": "é",
        "%4": "%4",
        "%zz": "%zz",
        "%u00": "%u00",
        "no sign": "no sign",
    },
    escapes.undo_backslashes: {
        r"\u0041": "A",
        r"\u{41}": "A",
        r"\u{0000041}": "A",
        r"\U00000041": "A",
        r"\U00110000x": "x",
        r"\x41": "A",
        r"\x{41}": "A",
        r"\101": "A",
        r"\60": "0",
        r"\o{101}": "A",
        r"\\u0041": "A",
        r"\\\\x41": "A",
        r"\ud83d\ude00": "😀",
        r"\xc3\xa9": "é",
        r"\x41\n\r\t\/\"\'\`\b": "A\n\r\t/\"'` ",
        r"\n\r\t\/\"\'": "\n\r\t/\"'",
        r"\q\x": r"\q\x",
        r"\q": r"\q",
        "no sign": "no sign",
    },
    escapes.undo_entities: {
        "&#65;&#x41;&lt;": "AA<",
        "&amp;#65;": "A",
        "&amp;amp;amp;lt;": "<",
        "&#38;#65;": "A",
        "&#038;#65;": "A",
        "&#x26;#65;": "A",
        "&#X026;#65;": "A",
        "&AMP;#65;": "A",
        "a & b": "a & b",
    },
    escapes.undo_quoted_printable: {
        "=41=42": "AB",
        "=C3=A9": "é",
        "ab=\ncd": "abcd",
        "ab=\r\ncd": "abcd",
        "a=b": "a=b",
        "a == é": "a == é",
        "é=41": "éA",
        "=FF=41": "\ufffdA",
    },
    escapes.replace_lookalikes: {
        "ＡＢ": "AB",
        "𝐀𝐛": "Ab",
        "аЕ": "aE",
        "a\u200bb\xadc": "abc",
        "🅰": "A",
        "🇦🇧": "AB",
        "⑴": "(1)",
        "é": "e\u0301",
        "plain": "plain",
        "ааxаа": "aaxaa",
    },
    escapes.mend_utf8: {"Ã©": "é", "â\x82¬": "€", "ð\x9f\x98\x80": "😀", "é": "é", "\xe0\x80\x80": "\xe0\x80\x80", "a": "a"},
    escapes.undo_escapes: {
        "U+0041|": "A|",
        "u+0041 U+0042,u+00043;x": "ABCx",
        "xU+0041": "xU+0041",
        "U+41": "U+41",
        "U+110000|": "|",
        "%26%2365%3B": "A",
        "&amp;#92;x41": r"\x41",
        "％41": "A",
        r"\u0025": "%",
        "%5Cx41": "A",
    },
}


@pytest.mark.parametrize(
    ("undo", "text", "plain"), [(undo, text, plain) for undo, table in UNDONE.items() for text, plain in table.items()]
)
def test_a_notation_is_undone_and_nothing_else(undo: Callable[[str], str], text: str, plain: str) -> None:
    assert undo(text) == plain


@pytest.mark.parametrize("undo", UNDONE)
def test_what_surrounds_a_notation_stays(undo: Callable[[str], str]) -> None:
    for text, plain in UNDONE[undo].items():
        if undo is not escapes.undo_quoted_printable or "\n" not in text:
            assert undo(f"< {text} >") == f"< {plain} >"
