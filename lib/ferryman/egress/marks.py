"""Prompt injection marks: text that a model could take for the frame, a turn of a chat, or a control token of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ferryman.egress.shapes import SHAPES

_ROLES = "human|assistant|system|user|developer|tool|function|ai|bot|chatbot|instructions?"
# What is not seen once a page is shown: comments, declarations, processing instructions, and tags that only style.
_DECLARATION = re.compile(r"<![^<>-][^<>]{0,80}+>|<!>|<\?[^<>]{0,80}+>")
_UNSHOWN = (
    r"<(?:!(?:--(?:[^>-]|-(?!->)){0,80}+--)?|![^<>-][^<>]{0,40}+|\?[^<>]{0,40}+|wbr\b[^<>]{0,40}+"
    r"|/?(?:abbr|a|bdi|bdo|big|b|cite|code|del|dfn|em|font|ins|i|kbd|label|mark|q|samp|small|span|strike|strong|sub|sup|s|tt|u|var)"
    r"\b[^<>]{0,40}+)>"
)
_LETTERS = {"o": "[o0]", "l": "[l1i]", "s": "[s5]", "e": "[e3]"}
"""Digits that look like a letter, and `i`, which a capital one does."""


def _spelt(word: str, apart: str) -> str:
    """Return a pattern for `word` with `apart` between its letters."""
    return apart.join(_LETTERS.get(letter, letter) for letter in word)


_APART = rf"(?:{_UNSHOWN}|[\W_]){{0,3}}+"
_FAR = rf"(?:{_UNSHOWN}|</?[a-z][^<>]{{0,40}}+>|[^\w\"]|_){{0,16}}+"
_IMITATION = re.compile(
    rf"(?P<tool>{_spelt('tool', _APART)})(?P<apart>{_APART}|[\s_.-]{{4,8}})(?P<response>{_spelt('response', _APART)})"
    # once there is a bracket there is more room between letters, and between words
    rf"|(?P<open><[\s/]{{0,16}}+){_spelt('tool', _FAR)}(?:{_FAR}){{4}}{_spelt('response', _FAR)}",
    re.IGNORECASE,
)
# At the beginning of a line, however a line begins: as a character, as an escape, as a tag.
_ROLE = re.compile(
    r"(?P<before>(?:^|\\[nr]|(?<![\x0b\x0c])[\x0b\x0c]++|<(?:br|/?(?:p|div|li|h[1-6]|td|tr|pre|blockquote))\b[^<>\n]{0,40}>)"
    rf"(?:[^\w\n]|_|\d{{1,3}}[.)]){{0,24}}?)(?P<role>{_ROLES})"
    r"(?P<after>[^\S\n]*+(?:[*_`)\]}>】〕」』〉》›»⟩]{1,4}+[^\S\n]*+)?:)"
    # a line that is a link's definition (CommonMark 4.7) says where a word leads, and nothing else
    r"(?!(?<=\]:)[^\S\n]*+<?(?:https?://|mailto:|[./#])[^\s<>]*+>?[^\S\n]*+$)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADING = re.compile(
    r"(?P<before>(?:^|\\[nr])[^\S\n]*+\#{3}[^\S\n]*+)(?P<role>human|assistant|system|user|instructions?|(?:response|input)(?=[^\S\n]*+:))"
    r"(?P<after>[^\S\n]*+(?=:|$|\\[nr]))",
    re.IGNORECASE | re.MULTILINE,
)
_TOKEN = re.compile(
    r"<\s{0,3}[|｜](?P<a>[^<>\n]{0,64}?)[|｜]\s{0,3}>|\[\|(?P<b>[^\[\]\n]{0,64}?)\|\]"
    r"|<(?P<c>/?(?:(?:start|end)_of_[a-z]{1,16}|sys|s|[bes]o[spd]|pad|unk|sep|mask|(?:seed|minimax):[a-z_]{1,24}|_(?:user|bot|system|ap)|"
    r"(?:extra_id|reserved|special|unused)_?\d{1,6})\b[^<>\n]{0,64})>"
    r"|\]~(?P<d>[a-z!]{1,3})\]|\[e~\[",
    re.IGNORECASE,
)
_BRACKETED = re.compile(
    r"<<(?P<a>/?\s*+SYS\s*+)>>|\[(?P<b>/?\s*+(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|gMASK)\s*+)\]",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"<(?P<a>\s*+(?:/\s*+)?(?:[a-z]{1,12}:)?(?:system|assistant|human|user|developer|function_calls?|function_results?|function=[^<>\s]{1,64}|"
    r"invoke|parameter|tools?|tool_[a-z_]{1,24}|system[-_][a-z_-]{1,24}|im_start|im_end|think|thinking|instructions?|role|"
    r"(?:[a-z]{1,16}[-_])?(?:reminders?|important|admin|administrator)(?=[\s/>])|"
    r"(?:user|assistant|human|developer|admin|ephemeral|important|priority|new|anthropic|openai|claude|gpt|gemini)[-_]"
    r"(?:messages?|msg|prompts?|query|requests?|instructions?|notice|notes?|context|policy|commands?|override|turn)|"
    r"message\s[^<>]{0,80}role)\b[^<>]{0,200})>",
    re.IGNORECASE,
)


_NEAR = 200
"""How far from a comment a mark may be that it hides."""

_ALIKE = {**{code: chr(code) for code in range(0x80)}, **SHAPES}
"""With ASCII too: `translate` looks for it as well, and takes twice the time for what it does not find."""


def _bare(found: re.Match[str]) -> str:
    return next((each for each in found.groups() if each is not None), "").strip("|｜ ")


def _role(found: re.Match[str]) -> str:
    return f"{found['before']}[role {found['role']}]{found['after']}"


def _name(found: re.Match[str]) -> str:
    # Between two quotes it is JSON, which stays JSON.
    if '"' in (found["apart"] or ""):
        return f"{found['tool']}[frame]{found['apart']}{found['response']}"
    return f"{found['open'] or ''}[frame]"


_HARMLESS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_IMITATION, _name),
    (_ROLE, _role),
    (_HEADING, _role),
    (_TOKEN, lambda found: f"[{_bare(found)}]"),
    (_BRACKETED, lambda found: f"({_bare(found)})"),
    (_TAG, lambda found: f"[{found['a']}]"),
)


def count_imitations(text: str) -> int:
    """Count how often the frame's own name occurs in `text`."""
    return len(_IMITATION.findall(text))


def count_marks(text: str) -> tuple[int, ...]:
    """Count the marks of each kind in `text`."""
    like = _alike(text)
    return tuple(sum(1 for _ in pattern.finditer(like)) for pattern, _ in _HARMLESS)


def remove_comments(text: str) -> str:
    """Return `text` without its markup comments if these hide a mark; otherwise as it is."""
    if "<!" not in text and "<?" not in text:
        return text
    pieces = list(_split_at_comments(text))
    # what comments hide is near them: the rest is not searched twice
    near = [piece if len(piece) <= 2 * _NEAR else f"{piece[:_NEAR]}\n{piece[-_NEAR:]}" for piece in pieces]
    hidden, seen = count_marks("<!--x-->".join(near)), count_marks("".join(near))
    return "".join(pieces) if any(after > before for after, before in zip(seen, hidden, strict=True)) else text


def _split_at_comments(text: str) -> Iterator[str]:
    """Yield the parts of `text` between its comments."""
    done = 0
    while (start := text.find("<!--", done)) >= 0 and (end := text.find("-->", start + 2)) >= 0:
        yield from _DECLARATION.split(text[done:start])
        done = end + 3
    yield from _DECLARATION.split(text[done:])


def rewrite_marks(text: str) -> str:
    """Return `text` with every mark rewritten so that it reads as an ordinary word."""
    like = _alike(text)
    for pattern, harmless in _HARMLESS:
        if pattern.search(like):
            text = "".join(_replaced(text, like, pattern, harmless))
            like = _alike(text)
    return text


def _replaced(text: str, like: str, pattern: re.Pattern[str], harmless: Callable[[re.Match[str]], str]) -> Iterator[str]:
    done = 0
    for found in pattern.finditer(like):
        yield text[done : found.start()]
        yield harmless(found)
        done = found.end()
    yield text[done:]


def _alike(text: str) -> str:
    """Return `text` as it looks, character for character."""
    return text if text.isascii() else text.translate(_ALIKE)
