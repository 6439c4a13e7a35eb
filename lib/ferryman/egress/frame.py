"""The frame: tells the model where external data begins and ends; nothing inside can close, reopen or imitate it."""

from __future__ import annotations

import html
import re
import unicodedata

from ferryman.egress import marks
from ferryman.egress.invisible import visible
from ferryman.egress.leaks.escapes import backslashes, entities, percents

ROUNDS = 12


def wrapped(body: str, *, nonce: str, truncated: bool) -> str:
    """The tool response the model reads. `body` has been through `tamed`; `nonce` is 64 random bits in hexadecimal."""
    return f'<tool_response id="{nonce}" truncated="{"true" if truncated else "false"}">{body}</tool_response>'


def harmless(text: str) -> str:
    """`text` for a place outside of any frame: nothing in it is hidden, and nothing passes for a frame, a role or a token."""
    return tamed(visible(text))


def tamed(body: str) -> str:
    """`body` with every imitation of the frame, of a chat role and of a control token made harmless.

    Where one only shows after normalising and unescaping, the normalised text is what is kept: leaving the escape would
    leave the imitation to whoever undoes it.
    """
    for _ in range(ROUNDS):
        bare = normalised(body)
        if bare != body and marks.count(bare) != marks.count(body):
            body = bare
        tame = marks.disarmed(body)
        if tame == body:
            return body
        body = tame
    return html.escape(marks.disarmed(re.sub(r"[&\\%]", " ", normalised(body))), quote=False)


def normalised(text: str) -> str:
    """`text` as it would read with compatibility forms, entities and escapes all undone, until nothing changes."""
    for _ in range(ROUNDS):
        before = text
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
            folded = text.casefold()
            if marks.imitations(folded) != marks.imitations(text):
                text = folded
        if "\\" in text or "%" in text:
            text = _revealed(text)
        text = visible(entities(text))
        if text == before:
            break
    return text


def _revealed(text: str) -> str:
    # Escapes are only undone where that shows something: a quote or a backslash given back would damage honest JSON.
    plain = percents(backslashes(text))
    # Undoing one escape may take the first letter of what another notation just showed: then the text stays as it is.
    return plain if any(after > before for after, before in zip(marks.count(plain), marks.count(text), strict=True)) else text
