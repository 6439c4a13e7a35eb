"""Escapes: notations that write a character as a longer sequence, undone everywhere in a text."""

from __future__ import annotations

import html
import quopri
import re
import unicodedata
from collections.abc import Callable

from ferryman.egress.leaks.lookalikes import PLAIN

# The repetition matches escapes of the escape sign itself (%2525…, &amp;amp;…) at once, so that depth costs nothing.
_PERCENT = re.compile(r"%(?:25)*([0-9A-Fa-f]{2})")
_PERCENT_U = re.compile(r"%(?:25)*[uU]([0-9A-Fa-f]{4})")
_AMPERSANDS = re.compile(r"&(?:amp;?|#0*38;?|#[xX]0*26;?)+", re.IGNORECASE)
# Backslashes are matched from the first on: a match from each of them would cost the square of their number.
_BACKSLASH = re.compile(
    r"(?<!\\)\\++(?:u\{0*([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x\{?([0-9A-Fa-f]{2})\}?|([0-3]?[0-7]{2})|o\{([0-7]{2,3})\}"
    r"|([abefnrtv/\"'`]))"
)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_BYTEWISE = re.compile("[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CODED_ESCAPE = re.compile(r"\\[uUxo0-7]|\\\\")
_PLAIN_ESCAPES = (("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ("\\/", "/"), ('\\"', '"'), ("\\'", "'"))
_CODE_POINT = re.compile(r"\b[Uu]\+([0-9A-Fa-f]{4,6})[\s,;]?")
_SOFT_BREAK = re.compile(r"=[ \t]*\r?\n")
_QUOTED = re.compile(r"=[0-9A-Fa-f]{2}")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}


def undo_escapes(text: str) -> str:
    """Return `text` with percent, backslash, entity and code point notations undone once, and homoglyphs replaced."""
    for undo in _STEPS:
        text = undo(text)
    return text


def undo_quoted_printable(text: str) -> str:
    """Return `text` with quoted-printable undone."""
    if "=" not in text or not (_QUOTED.search(text) or _SOFT_BREAK.search(text)):
        return text
    return quopri.decodestring(text.encode("utf-8", "replace")).decode("utf-8", "replace")


def undo_entities(text: str) -> str:
    """Return `text` with HTML entities undone, however often their ampersand was escaped."""
    return html.unescape(_AMPERSANDS.sub("&", text)) if "&" in text else text


def undo_backslashes(text: str) -> str:
    """Return `text` with the escapes of string literals undone."""
    if "\\" not in text:
        return text
    if not _CODED_ESCAPE.search(text):
        # Honest JSON has many of these; one substitution for each would cost more than all the rest.
        for escape, character in _PLAIN_ESCAPES:
            text = text.replace(escape, character)
        return text
    text = mend_utf8(_BACKSLASH.sub(_undo_backslash, text))
    return _PAIR.sub(lambda match: match[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def undo_percents(text: str) -> str:
    """Return `text` with percent-encoding undone; bytes that are UTF-8 become their characters."""
    if "%" not in text:
        return text
    text = _PERCENT_U.sub(lambda match: _get_character(match[1], 16), text)
    return mend_utf8(_PERCENT.sub(lambda match: _get_character(match[1], 16), text))


def replace_lookalikes(text: str) -> str:
    """Return `text` with full-width, mathematical, enclosed, hidden and look-alike forms of ASCII replaced by it."""
    if text.isascii():
        return text
    known: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        characters = match[0]
        if characters not in known:
            # Decomposed, not composed: a letter with an accent remains that letter.
            known[characters] = unicodedata.normalize("NFKD", characters.translate(PLAIN))
        return known[characters]

    return _BEYOND_ASCII.sub(replace, text)


def mend_utf8(text: str) -> str:
    """Return `text` with the characters whose UTF-8 bytes were written one by one."""
    return text if text.isascii() else _BYTEWISE.sub(_decode_utf8, text)


def _decode_utf8(match: re.Match[str]) -> str:
    try:
        return match[0].encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return match[0]


def _undo_code_points(text: str) -> str:
    return _CODE_POINT.sub(lambda match: _get_character(match[1], 16), text) if "U+" in text or "u+" in text else text


def _undo_backslash(match: re.Match[str]) -> str:
    for group, base in ((1, 16), (2, 16), (3, 16), (4, 16), (5, 8), (6, 8)):
        if match[group] is not None:
            return _get_character(match[group], base)
    return _LETTERS.get(match[7], match[7] if match[7] in "/\"'`" else " ")


def _get_character(digits: str, base: int) -> str:
    code = int(digits, base)
    return chr(code) if code < 0x110000 else ""


_STEPS: tuple[Callable[[str], str], ...] = (
    replace_lookalikes,
    undo_percents,
    undo_backslashes,
    undo_entities,
    _undo_code_points,
)
