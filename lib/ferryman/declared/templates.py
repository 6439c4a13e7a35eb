"""Templates: `{{name}}` and `{{#if}}` in an owner's texts, filled in one pass; what is put in is never read as one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from itertools import groupby
from typing import Any, Union

from ferryman.domain.http.request import SecretPlaceholder, Template, Text

NESTING_MAX = 16
"""Blocks within blocks."""

_IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
_PATH = rf"{_IDENTIFIER}(?:\.[A-Za-z0-9_-]+)*"
_TAG = re.compile(r"\{\{([^{}]*)\}\}")
_NAME = re.compile(_PATH, re.ASCII)
_LITERAL = r"\"[^\"]*\"|'[^']*'|-?[0-9]+(?:\.[0-9]+)?|true|false|null"
_IF = re.compile(rf"#if\s+(?P<name>{_PATH})(?:\s*(?P<operator>==|!=)\s*(?P<literal>{_LITERAL}))?", re.ASCII)
_EXACT = 2**53


class MalformedTemplateError(ValueError):
    """The text is not a template; its message says what would be accepted."""


class Mode(StrEnum):
    """Who runs the templates: `{{env.NAME}}` is only for embedded use, `{{secrets.NAME}}` only for hosted (S1-16, S1-17)."""

    HOSTED = "hosted"
    EMBEDDED = "embedded"


class Absent(Enum):
    """What an optional parameter is that the model left out: its pair, header or field is dropped."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Name:
    """A dotted name, part by part."""

    parts: tuple[str, ...]

    @property
    def root(self) -> str:
        return self.parts[0]

    @property
    def store(self) -> str | None:
        """`env` or `secrets` where the name is of one of these."""
        return self.root if len(self.parts) > 1 and self.root in ("env", "secrets") else None

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class If:
    """A block. Without `literal` it asks whether there is something; `equal` is which of `==` and `!=` it says."""

    name: Name
    literal: str | None
    equal: bool
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...]


Node = Union[str, Name, If]  # noqa: UP007 - named before If is a class
ParsedTemplate = tuple[Node, ...]
Scope = Callable[[Name], Any]
"""What a name stands for: a value, None where there is none, ABSENT, or a `Template` where it is, or has in it, a secret."""


@dataclass(slots=True)
class _Block:
    match: re.Match[str]
    outer: list[Node]
    then: list[Node]
    otherwise: list[Node] | None = None

    def closed(self) -> If:
        name, literal = Name(tuple(self.match["name"].split("."))), self.match["literal"]
        return If(name, literal, self.match["operator"] != "!=", tuple(self.then), tuple(self.otherwise or ()))


def parse(text: str) -> ParsedTemplate:
    """`text` as a template, or `MalformedTemplateError`. A `}}` that closes nothing is text; there is no way to write a `{{` as
    text."""
    current: list[Node] = []
    blocks: list[_Block] = []
    tokens = _TAG.split(text)
    for index, token in enumerate(tokens):
        if index % 2 == 0:
            if "{{" in token or (token.endswith("{") and index + 1 < len(tokens)):
                raise MalformedTemplateError("has a '{{' that no '}}' closes, or three braces")
            if token:
                current.append(token)
            continue
        tag = token.strip()
        if tag.startswith("#"):
            if (match := _IF.fullmatch(tag)) is None:
                raise MalformedTemplateError(
                    'has a block other than {{#if name}}, {{#if name == "text"}} and {{#if name != "text"}}'
                )
            if len(blocks) == NESTING_MAX:
                raise MalformedTemplateError(f"has more than {NESTING_MAX} blocks within each other")
            blocks.append(_Block(match, current, then=[]))
            current = blocks[-1].then
        elif tag == "else":
            if not blocks or blocks[-1].otherwise is not None:
                raise MalformedTemplateError("has an {{else}} outside of a block, or a second one")
            current = blocks[-1].otherwise = []
        elif tag == "/if":
            if not blocks:
                raise MalformedTemplateError("has an {{/if}} that closes no {{#if}}")
            block = blocks.pop()
            current = block.outer
            current.append(block.closed())
        elif _NAME.fullmatch(tag):
            current.append(Name(tuple(tag.split("."))))
        else:
            raise MalformedTemplateError(
                "has a {{…}} that is no name: letters, digits and '_', parts joined by '.'; there are no helpers"
            )
    if blocks:
        raise MalformedTemplateError("has an {{#if}} that no {{/if}} closes")
    return tuple(current)


def names(template: ParsedTemplate) -> Iterator[tuple[Name, bool]]:
    """Every name in `template`, and whether it stands in a condition."""
    for node in template:
        if isinstance(node, Name):
            yield node, False
        elif isinstance(node, If):
            yield node.name, True
            yield from names(node.then)
            yield from names(node.otherwise)


def whole(template: ParsedTemplate) -> Name | None:
    """The name that `template` is nothing but."""
    return template[0] if len(template) == 1 and isinstance(template[0], Name) else None


def fill(template: ParsedTemplate, scope: Scope) -> Any:
    """`template` with its names replaced: a value of any type where it is nothing but a name (S1-26), else a text."""
    name = whole(template)
    return scope(name) if name is not None else joined(_pieces(template, scope))


def drill(value: Any, parts: Iterable[str]) -> Any:
    """What stands in `value` at `parts`; None where nothing does."""
    for part in parts:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list | tuple) and part.isdecimal() and len(part) < 10 and int(part) < len(value):
            value = value[int(part)]
        elif value is not ABSENT:
            return None
    return value


def text(value: Any) -> str:
    """`value` as text: null as nothing, true and false as in JSON, whole numbers without a point, what is nested as JSON."""
    if value is None or value is ABSENT:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def joined(pieces: Iterable[Any]) -> Text:
    """`pieces` as one text: a `Template` where any of them has a secret in it."""
    flat = [each for piece in pieces for each in (piece.pieces if isinstance(piece, Template) else (text(piece),))]
    runs: list[str | SecretPlaceholder] = []
    for placeholder, run in groupby(flat, lambda each: isinstance(each, SecretPlaceholder)):
        several = list(run)
        runs += several if placeholder else ["".join(map(str, several))]
    if all(isinstance(each, str) for each in runs):
        return "".join(map(str, runs))
    return Template(tuple(each for each in runs if each != ""))


def _pieces(template: ParsedTemplate, scope: Scope) -> Iterator[Any]:
    for node in template:
        if isinstance(node, str):
            yield node
        elif isinstance(node, Name):
            yield scope(node)
        else:
            yield from _pieces(node.then if _holds(node, scope(node.name)) else node.otherwise, scope)


def _holds(block: If, value: Any) -> bool:
    """Empty texts and lists, 0, false and null are nothing; null is equal to null alone, other scalars by their text."""
    if block.literal is None:
        return value is not ABSENT and bool(value)
    if block.literal == "null":
        same = value is None or value is ABSENT
    elif value is None or value is ABSENT or isinstance(value, Mapping | list | tuple):
        same = False
    else:
        same = text(value) == (block.literal[1:-1] if block.literal[0] in "\"'" else block.literal)
    return same is block.equal
