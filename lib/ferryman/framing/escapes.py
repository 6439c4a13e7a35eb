"""Escapes: notations that write a character as a longer sequence, undone everywhere in a text."""

from __future__ import annotations

import html
import quopri
import re
import unicodedata
from collections.abc import Callable

# Homoglyphs and hidden forms of ASCII characters that Unicode normalisation does not change.
_SHAPES = (
    "аaАAвbВBсcСCԁdеeЕEһhНHіiІIїiјjЈJкkКKӏlмmМMոnоoОOрpРPԛqгrѕsЅSтtТTυuѵvԝwхxХXуyУYᴢzЗ3"
    "αaΑAΒBβbϲcϹCεeΕEγyΗHιiΙIκkΚKΜMνvΝNοoΟOρpΡPσoτtΤTυuχxΧXΥYΖZ"
    "ıiɩiɑaɡgʀrɪiʟlɴnʙbᴀaᴄcᴅdᴇeꜰfɢgʜhᴊjᴋkᴍmᴏoᴘpꜱsᴛtᴜuᴠvᴡwʏy"
)

ZEROS = (
    *(0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6, 0x0E50, 0x0ED0),
    *(0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0),
    *(0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0),
    *(0x11650, 0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x11F50, 0x16A60, 0x16AC0, 0x16B50, 0x1E140),
    *(0x1E2F0, 0x1E4D0, 0x1E950),
)
"""The zeros of scripts whose digits normalisation does not convert."""


def _build_table() -> dict[int, str | None]:
    table: dict[int, str | None] = {ord(like): ascii_ for like, ascii_ in zip(_SHAPES[::2], _SHAPES[1::2], strict=True)}
    for first in (0x1F150, 0x1F170, 0x1F1E6):  # negative circled, negative squared, regional indicators
        table |= {first + offset: chr(ord("A") + offset) for offset in range(26)}
    table |= {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}  # tag characters
    # variation selectors, each of which encodes a byte
    table |= {(0xFE00 + byte if byte < 16 else 0xE0100 + byte - 16): chr(byte) for byte in range(256)}
    for digit in range(10):
        codes = (*(zero + digit for zero in ZEROS), 0x1FBF0 + digit, 0x2775 + digit if digit else 0x24FF)  # negative circled
        table |= dict.fromkeys(codes, str(digit))
    # Invisible ones, and Arabic ligatures, of which one may be eighteen letters long.
    hidden = (*(0xAD, 0x34F, 0x61C, 0x180E, 0xFEFF), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070))
    return table | dict.fromkeys((*hidden, *range(0xFB50, 0xFE00)))


PLAIN = _build_table()  # For `str.translate`: look-alikes to ASCII, invisible characters to nothing.


# The repetition matches escapes of the escape sign itself (%2525…, &amp;amp;…) at once, so that depth costs nothing.
_PERCENT = re.compile(r"%(?:25)*([0-9A-Fa-f]{2})")
_PERCENT_U = re.compile(r"%(?:25)*[uU]([0-9A-Fa-f]{4})")
_AMPERSANDS = re.compile(r"&(?:amp;?|#0*38;?|#[xX]0*26;?)+", re.IGNORECASE)
# Backslashes are matched from the first on: a match from each of them would cost the square of their number.
_BACKSLASH = re.compile(
    r"(?<!\\)\\++(?:u\{0*([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x\{?([0-9A-Fa-f]{2})\}?|([0-3]?[0-7]{2})|o\{([0-7]{2,3})\}"
    r"|([abefnrtv/\"'`]))"
)
_ASCII = bytes(range(128))
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
DIFFERENT_FEW = 8  # characters beyond ASCII that are replaced one after the other: a search for all takes as long as ten
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_CONTINUING = re.compile("[\x80-\xbf]")
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
    known: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        escape = match[0]
        if escape not in known:
            known[escape] = _undo_backslash(match)
        return known[escape]

    text = mend_utf8(_BACKSLASH.sub(replace, text))
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
    characters = set(text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass"))
    if len(characters) <= DIFFERENT_FEW:
        replaced = {character: plain for character in characters if (plain := _replace_lookalike(character)) != character}
        if characters.isdisjoint("".join(replaced.values())):
            for character, plain in replaced.items():
                text = text.replace(character, plain)
            return text
    known: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        if match[0] not in known:
            known[match[0]] = _replace_lookalike(match[0])
        return known[match[0]]

    return _BEYOND_ASCII.sub(replace, text)


def _replace_lookalike(characters: str) -> str:
    # Decomposed, not composed: a letter with an accent remains that letter.
    return unicodedata.normalize("NFKD", characters.translate(PLAIN))


def mend_utf8(text: str) -> str:
    """Return `text` with the characters whose UTF-8 bytes were written one by one."""
    return text if text.isascii() or not _CONTINUING.search(text) else _BYTEWISE.sub(_decode_utf8, text)


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
