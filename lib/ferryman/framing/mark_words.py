"""Mark words: what a text has wherever a mark of some kind is in it.

Few texts have any, and to look for a word costs a tenth of what a pattern does.
"""

from __future__ import annotations

from typing import NamedTuple

_CASED = "\u017f\u0131\u0130\u212a"
"""The characters beyond ASCII that equal a Latin letter where case is ignored: s, i, i and k."""

_NO_LETTER = bytes(code for code in range(256) if not bytes((code,)).isalnum())
_SPELLED = bytes.maketrans(b"01i53", b"ollse")
"""Letters and digits that a frame's name may be spelled with, each as one of them."""

_AFTER_ROLE = b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f*_`)]}>"
"""In ASCII, what may stand between a role and its colon."""

_FRAME = b"toolresponse"
_ROLES = (
    *(b"human:", b"assistant:", b"system:", b"user:", b"developer:", b"tool:", b"function:", b"ai:", b"bot:"),
    *(b"instruction:", b"instructions:"),
)


class PossibleMarks(NamedTuple):
    """Which kinds of marks a text may hold: the frame's name, a role, a heading, a token, a word in brackets and a tag."""

    frame: bool
    role: bool
    heading: bool
    token: bool
    bracketed: bool
    tag: bool


EVERY = PossibleMarks(True, True, True, True, True, True)


def find_possible_marks(like: str) -> PossibleMarks:
    """Return which kinds of marks may be in `like`, a text by its shape: none of a kind that is left out is."""
    if not like.isascii() and any(character in like for character in _CASED):
        return EVERY
    small = like.encode("ascii", "ignore").lower()
    angle, bracket = b"<" in small, b"[" in small
    after = small.translate(None, _AFTER_ROLE) if b":" in small else b""
    return PossibleMarks(
        # without a tag, only signs may be between its letters
        frame=angle or _FRAME in small.translate(_SPELLED, _NO_LETTER),
        role=any(role in after for role in _ROLES),
        heading=b"###" in small,
        token=angle or (bracket and (b"[|" in small or b"[e~[" in small)) or b"]~" in small,
        bracketed=angle or bracket,
        tag=angle,
    )
