"""The frame around external data (defence against prompt injection): nothing inside can close, reopen or imitate it."""

from __future__ import annotations

import html
import re
import unicodedata

from ferryman.framing import marks
from ferryman.framing.escapes import undo_backslashes, undo_entities, undo_percents

_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A)}
# Format characters, fillers, joiners, tags, variation selectors, lone surrogates and noncharacters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_BREAKS = re.compile("\r\n?|\x85|\u2028|\u2029")


def remove_invisible(text: str) -> str:
    """Return `text` without controls (but tab and newline), bidi marks and invisible characters; line breaks are newlines.

    A reader does not see them, and a model does (prompt injection in hiding).
    """
    if not text.isascii():
        return _UNSEEN.sub("", _BREAKS.sub("\n", text))
    # `translate` is fast with ASCII only
    return (_BREAKS.sub("\n", text) if "\r" in text else text).translate(_CONTROLS)


ROUNDS = 12
_LONG = re.compile("[\ufdfa\ufdfb]")
"""Ligatures that decompose to eighteen and eight letters, none of them Latin: a text of them would grow as much."""


CLOSING = "</tool_response>"


def wrap(body: str, *, nonce: str, truncated: bool, attributes: str = "") -> str:
    """Return the tool response for the model. `body` comes from `neutralize`; `nonce` is 64 random bits in hexadecimal.

    `attributes` are those of a `ResponseHead`, as they are written.
    """
    return f'<tool_response id="{nonce}" truncated="{"true" if truncated else "false"}"{attributes}>{body}{CLOSING}'


def neutralize_unframed(text: str) -> str:
    """Return `text` for a place outside of any frame: nothing in it is hidden or passes for a frame, a role or a token."""
    return neutralize(remove_invisible(text))


def neutralize(body: str) -> str:
    """Return `body` with every imitation of the frame, of a chat role and of a control token neutralized.

    Where one only shows after normalising and unescaping, the normalised text is returned: a reader that undoes the escape
    would find the imitation.
    """
    for _ in range(ROUNDS):
        body = marks.remove_comments(body)
        bare = normalize(body)
        if bare != body and marks.count_marks(bare) != marks.count_marks(body):
            body = bare
        rewritten = marks.rewrite_marks(body)
        if rewritten == body:
            return body
        body = rewritten
    return html.escape(marks.rewrite_marks(re.sub(r"[&\\%]", " ", normalize(body))), quote=False)


def normalize(text: str) -> str:
    """Return `text` with compatibility forms, entities and escapes undone until nothing changes."""
    for _ in range(ROUNDS):
        before = text
        if not text.isascii():
            text = unicodedata.normalize("NFKC", _LONG.sub(" ", text))
            folded = text.casefold()
            if marks.count_imitations(folded) != marks.count_imitations(text):
                text = folded
        if "\\" in text or "%" in text:
            text = _undo_revealing(text)
        text = marks.remove_comments(remove_invisible(undo_entities(text)))
        if text == before:
            break
    return text


def _undo_revealing(text: str) -> str:
    # Escapes are only undone where that shows a mark: an unescaped quote or backslash would damage honest JSON.
    plain = undo_percents(undo_backslashes(text))
    counts = marks.count_marks(_show_beneath(plain))
    if not any(counts):
        return text
    # Undoing one escape may remove the first letter of a mark that another notation showed: then the text is not changed.
    return plain if any(after > before for after, before in zip(counts, marks.count_marks(text), strict=True)) else text


def _show_beneath(plain: str) -> str:
    """Return a text whose escapes were undone as it reads with its compatibility forms and entities undone, too.

    The escapes of wide letters, as a URL has them, show no mark before that.
    """
    plain = undo_entities(plain)
    return plain if plain.isascii() else unicodedata.normalize("NFKC", _LONG.sub(" ", plain))
