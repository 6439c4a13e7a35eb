"""The frame: tells the model where external data begins and ends; nothing inside can close, reopen or imitate it."""

from __future__ import annotations

import html
import re
import unicodedata

from ferryman.egress.invisible import visible
from ferryman.egress.leaks.escapes import backslashes, entities, percents

ROUNDS = 12
_IMITATION = re.compile(r"tool[\W_]{0,8}response", re.IGNORECASE)
_ROLE = re.compile(
    r"(?m)(^|\\[nr]|[\x0b\x0c])([^\S\n]*(?:[#>*_=|~`-]+[^\S\n]*)*)(human|assistant|system|user|developer|tool|function)"
    r"((?:[^\S\n]*[*_`]{0,3})?[^\S\n]*:)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"<[|｜]([^<>\n]{0,64}?)[|｜]>|<(/?(?:start_of_turn|end_of_turn|sys)\b[^<>\n]{0,64})>", re.IGNORECASE)
_DOUBLED = re.compile(r"<<(/?\s*SYS\s*)>>|\[(/?\s*INST\s*)\]", re.IGNORECASE)
_TAG = re.compile(
    r"<(\s*/?\s*(?:antml:)?(?:system|assistant|human|function_calls?|function_results?|invoke|parameter|tool_[a-z_]{1,24}|"
    r"system[-_][a-z_-]{1,24}|im_start|im_end)\b[^<>]{0,200})>",
    re.IGNORECASE,
)


def wrapped(body: str, *, nonce: str, truncated: bool) -> str:
    """The tool response the model reads. `body` has been through `tamed`; `nonce` is 64 random bits in hexadecimal."""
    return f'<tool_response id="{nonce}" truncated="{"true" if truncated else "false"}">{body}</tool_response>'


def tamed(body: str) -> str:
    """`body` with every imitation of the frame, of a chat role and of a control token made harmless.

    Where one only shows after normalising and unescaping, the normalised text is what is kept: leaving the escape would
    leave the imitation to whoever undoes it.
    """
    for _ in range(ROUNDS):
        bare = normalised(body)
        if bare != body and _marks(bare) != _marks(body):
            body = bare
        tame = _disarmed(body)
        if tame == body:
            return body
        body = tame
    return html.escape(_disarmed(re.sub(r"[&\\%]", " ", normalised(body))), quote=False)


def normalised(text: str) -> str:
    """`text` as it would read with compatibility forms, entities and escapes all undone, until nothing changes."""
    for _ in range(ROUNDS):
        before = text
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
            folded = text.casefold()
            if len(_IMITATION.findall(folded)) != len(_IMITATION.findall(text)):
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
    return plain if any(after > before for after, before in zip(_marks(plain), _marks(text), strict=True)) else text


def _marks(text: str) -> tuple[int, ...]:
    return tuple(len(each.findall(text)) for each in (_IMITATION, _ROLE, _TOKEN, _DOUBLED, _TAG))


def _disarmed(text: str) -> str:
    text = _IMITATION.sub("[frame]", text)
    text = _ROLE.sub(r"\1\2[\3]\4", text)
    text = _TOKEN.sub(lambda found: f"[{(found[1] or found[2] or '').strip('|｜')}]", text)
    text = _DOUBLED.sub(lambda found: f"({(found[1] or found[2]).strip()})", text)
    return _TAG.sub(r"[\1]", text)
