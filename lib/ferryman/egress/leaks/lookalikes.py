"""Homoglyphs and hidden forms of ASCII characters that Unicode normalisation does not change."""

from __future__ import annotations

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
    for offset in range(26):
        letter = chr(ord("A") + offset)
        for first in (0x1F150, 0x1F170, 0x1F1E6):  # negative circled, negative squared, regional indicators
            table[first + offset] = letter
    for code in range(0x20, 0x7F):
        table[0xE0000 + code] = chr(code)  # tag characters
    for byte in range(16):
        table[0xFE00 + byte] = chr(byte)  # variation selectors, each of which encodes a byte
    for byte in range(16, 256):
        table[0xE0100 + byte - 16] = chr(byte)
    for digit in range(10):
        for zero in ZEROS:
            table[zero + digit] = chr(ord("0") + digit)
        table[0x1FBF0 + digit] = chr(ord("0") + digit)
        table[(0x2776 if digit else 0x24FF) + (digit - 1 if digit else 0)] = chr(ord("0") + digit)  # negative circled digits
    # Invisible ones, and Arabic ligatures, of which one may be eighteen letters long.
    hidden = (*(0xAD, 0x34F, 0x61C, 0x180E, 0xFEFF), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070))
    return table | dict.fromkeys((*hidden, *range(0xFB50, 0xFE00)))


PLAIN = _build_table()  # For `str.translate`: look-alikes to ASCII, invisible characters to nothing.
