"""Look-alikes: characters that stand for an ASCII one, openly, by shape or in hiding, and that normalisation leaves alone."""

from __future__ import annotations

_SHAPES = (
    "аaАAвbВBсcСCԁdеeЕEһhНHіiІIїiјjЈJкkКKӏlмmМMոnоoОOрpРPԛqгrѕsЅSтtТTυuѵvԝwхxХXуyУYᴢzЗ3"
    "αaΑAΒBβbϲcϹCεeΕEγyΗHιiΙIκkΚKΜMνvΝNοoΟOρpΡPσoτtΤTυuχxΧXΥYΖZ"
    "ıiɩiɑaɡgʀrɪiʟlɴnʙbᴀaᴄcᴅdᴇeꜰfɢgʜhᴊjᴋkᴍmᴏoᴘpꜱsᴛtᴜuᴠvᴡwʏy"
)


def _table() -> dict[int, str | None]:
    table: dict[int, str | None] = {ord(like): ascii_ for like, ascii_ in zip(_SHAPES[::2], _SHAPES[1::2], strict=True)}
    for offset in range(26):
        letter = chr(ord("A") + offset)
        for first in (0x1F150, 0x1F170, 0x1F1E6):  # negative circled, negative squared, regional indicators
            table[first + offset] = letter
    for code in range(0x20, 0x7F):
        table[0xE0000 + code] = chr(code)  # tag characters
    for byte in range(16):
        table[0xFE00 + byte] = chr(byte)  # variation selectors that carry a byte each
    for byte in range(16, 256):
        table[0xE0100 + byte - 16] = chr(byte)
    for digit in range(10):
        table[0x1FBF0 + digit] = chr(ord("0") + digit)
        table[(0x2776 if digit else 0x24FF) + (digit - 1 if digit else 0)] = chr(ord("0") + digit)  # negative circled digits
    # Invisible ones, and Arabic ligatures, of which one may be eighteen letters long.
    for code in (
        0xAD,
        0x34F,
        0x61C,
        0x180E,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        0xFEFF,
        *range(0xFB50, 0xFE00),
    ):
        table[code] = None
    return table


PLAIN = _table()
"""For `str.translate`: look-alikes to ASCII, invisible characters to nothing."""
