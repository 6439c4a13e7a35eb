"""Template injection protection: `{{name}}` and `{{#if}}`, filled in one pass; no value is read as a template.

And the names that the templates of a declared tool have, and what each of them may be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from itertools import groupby
from typing import Any, Union

from ferryman.declared.fields import join_place, report
from ferryman.domain.credentials.credential import NAME
from ferryman.domain.http.request import SecretPlaceholder, Template, Text
from ferryman.domain.json_tree import walk
from ferryman.domain.problem import Problem
from ferryman.domain.tools.declared import Auth, ClientCredentials

NESTING_MAX = 16
"""How deep blocks may be nested."""

_IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
_PATH = rf"{_IDENTIFIER}(?:\.[A-Za-z0-9_-]+)*"
_TAG = re.compile(r"\{\{([^{}]*)\}\}")
_NAME = re.compile(_PATH, re.ASCII)
_LITERAL = r"\"[^\"]*\"|'[^']*'|-?[0-9]+(?:\.[0-9]+)?|true|false|null"
_IF = re.compile(rf"#if\s+(?P<name>{_PATH})(?:\s*(?P<operator>==|!=)\s*(?P<literal>{_LITERAL}))?", re.ASCII)
_EXACT = 2**53
_WRONG_ELSE = "has an {{else}} outside of a block, or a second one"


class MalformedTemplateError(ValueError):
    """The text is not a template; the message says what would be accepted."""


class Mode(StrEnum):
    """Who runs the templates: `{{env.NAME}}` is only for embedded use, `{{secrets.NAME}}` only for hosted (S1-16, S1-17)."""

    HOSTED = "hosted"
    EMBEDDED = "embedded"


class Absent(Enum):
    """The value of an optional parameter that the model omitted: its pair, header or field is dropped."""

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
        """`env` or `secrets` where the name is in one of these."""
        return self.root if len(self.parts) > 1 and self.root in ("env", "secrets") else None

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class If:
    """A block. Without `literal` its condition is that the value is not empty; `equal` says which of `==` and `!=` it has."""

    name: Name
    literal: str | None
    equal: bool
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...]


Node = Union[str, Name, If]  # noqa: UP007 - named before If is a class
ParsedTemplate = tuple[Node, ...]
Scope = Callable[[Name], Any]
"""Returns the value of a name: None where there is none, ABSENT, or a `Template` where it is, or contains, a secret."""


def parse(text: str) -> ParsedTemplate:
    """Return `text` as a template. Raise `MalformedTemplateError`.

    A `}}` that closes nothing is text; there is no way to write a `{{` as text.
    """
    tokens = _TAG.split(text)
    for index in range(0, len(tokens), 2):
        if "{{" in tokens[index] or (tokens[index].endswith("{") and index + 1 < len(tokens)):
            raise MalformedTemplateError("has a '{{' that no '}}' closes, or three braces")
    nodes, end = _parse_nodes(enumerate(tokens), 0)
    if end is not None:
        raise MalformedTemplateError("has an {{/if}} that closes no {{#if}}" if end == "/if" else _WRONG_ELSE)
    return nodes


def _parse_nodes(tokens: Iterator[tuple[int, str]], depth: int) -> tuple[ParsedTemplate, str | None]:
    """Return the nodes before the end of the block, and the tag that ends it."""
    nodes: list[Node] = []
    for index, token in tokens:
        tag = token.strip()
        if index % 2 == 0:
            nodes += [token] if token else []
        elif tag in ("else", "/if"):
            return tuple(nodes), tag
        elif tag.startswith("#"):
            nodes.append(_parse_block(tag, tokens, depth + 1))
        elif _NAME.fullmatch(tag):
            nodes.append(Name(tuple(tag.split("."))))
        else:
            message = "has a {{…}} that is not a name: letters, digits and '_', parts joined by '.'; there are no helpers"
            raise MalformedTemplateError(message)
    return tuple(nodes), None


def _parse_block(tag: str, tokens: Iterator[tuple[int, str]], depth: int) -> If:
    if (match := _IF.fullmatch(tag)) is None:
        message = 'has a block other than {{#if name}}, {{#if name == "text"}} and {{#if name != "text"}}'
        raise MalformedTemplateError(message)
    if depth > NESTING_MAX:
        raise MalformedTemplateError(f"has more than {NESTING_MAX} blocks within each other")
    then, end = _parse_nodes(tokens, depth)
    otherwise, end = _parse_nodes(tokens, depth) if end == "else" else ((), end)
    if end != "/if":
        raise MalformedTemplateError("has an {{#if}} that no {{/if}} closes" if end is None else _WRONG_ELSE)
    return If(Name(tuple(match["name"].split("."))), match["literal"], match["operator"] != "!=", then, otherwise)


def list_names(template: ParsedTemplate) -> Iterator[tuple[Name, bool]]:
    """Yield every name in `template`, and whether a condition has it."""
    for node in template:
        if isinstance(node, Name):
            yield node, False
        elif isinstance(node, If):
            yield node.name, True
            yield from list_names(node.then)
            yield from list_names(node.otherwise)


def get_only_name(template: ParsedTemplate) -> Name | None:
    """Return the name that is all of `template`, or None where it has anything else."""
    return template[0] if len(template) == 1 and isinstance(template[0], Name) else None


def fill(template: ParsedTemplate, scope: Scope) -> Any:
    """Return `template` with its names replaced: a value of any type where it is only a name (S1-26), else a text."""
    name = get_only_name(template)
    return scope(name) if name is not None else join_pieces(_fill_pieces(template, scope))


def get_part(value: Any, parts: Iterable[str]) -> Any:
    """Return the value at the path `parts` in `value`, or None."""
    for part in parts:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list | tuple) and part.isdecimal() and len(part) < 10 and int(part) < len(value):
            value = value[int(part)]
        elif value is not ABSENT:
            return None
    return value


def to_text(value: Any) -> str:
    """Return `value` as text: null empty, true and false as in JSON, whole numbers without a point, what is nested as JSON."""
    if value is None or value is ABSENT:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def join_pieces(pieces: Iterable[Any]) -> Text:
    """Return `pieces` as one text: a `Template` where any of them has a secret in it."""
    flat = [part for piece in pieces for part in (piece.pieces if isinstance(piece, Template) else (to_text(piece),))]
    parts: list[str | SecretPlaceholder] = []
    for is_placeholder, group in groupby(flat, lambda part: isinstance(part, SecretPlaceholder)):
        run = list(group)
        parts += run if is_placeholder else ["".join(map(str, run))]
    if all(isinstance(part, str) for part in parts):
        return "".join(map(str, parts))
    return Template(tuple(part for part in parts if part != ""))


def _fill_pieces(template: ParsedTemplate, scope: Scope) -> Iterator[Any]:
    for node in template:
        if isinstance(node, str):
            yield node
        elif isinstance(node, Name):
            yield scope(node)
        else:
            yield from _fill_pieces(node.then if _is_true(node, scope(node.name)) else node.otherwise, scope)


def _is_true(block: If, value: Any) -> bool:
    """Say whether the condition holds.

    Empty texts and lists, 0, false and null are false; null is equal to null alone, other scalars are compared as texts.
    """
    if block.literal is None:
        return value is not ABSENT and bool(value)
    if block.literal == "null":
        equal = value is None or value is ABSENT
    elif value is None or value is ABSENT or isinstance(value, Mapping | list | tuple):
        equal = False
    else:
        equal = to_text(value) == (block.literal[1:-1] if block.literal[0] in "\"'" else block.literal)
    return equal is block.equal


STATE = ("date", "datetime", "execution_id", "task_name")
"""What every template may name, as the prompt of a task may (0.1)."""

SECRET_IN_CONDITION = "has a secret in a condition: what is sent would reveal it"  # noqa: S105 - a message

PlacedText = tuple[str, str]
"""The place of a text, and the text."""


def list_texts(values: Mapping[str, Any], *place: object) -> Iterator[PlacedText]:
    """Yield the texts in `values`, each with its place below `place`."""
    return ((join_place(*place, *path), leaf) for path, leaf in walk(values) if isinstance(leaf, str))


def list_login_texts(auth: Auth, where: str = "") -> Iterator[PlacedText]:
    """Yield the templates of an auth block."""
    if isinstance(auth, ClientCredentials):
        return list_texts({"client_id": auth.client_id, "client_secret": auth.client_secret, "scope": auth.scope}, where)
    return list_texts({"headers": auth.request.headers, "body": auth.request.body}, where, "request")


def list_placed_names(texts: Iterable[PlacedText]) -> Iterator[tuple[str, Name, bool]]:
    """Yield every name with its place, and whether a condition has it; a malformed text has no names."""
    for place, text in texts:
        try:
            yield from ((place, name, condition) for name, condition in list_names(parse(text)))
        except MalformedTemplateError:
            continue


def is_secret(name: Name, public: Collection[str]) -> bool:
    """Say whether `name` names a credential: all of `secrets` do, and variables of `env` except the `public` ones (S1-16)."""
    return name.store == "secrets" or (name.store == "env" and name.parts[1] not in public)


def find_credentials(texts: Iterable[PlacedText], public: Collection[str] = ()) -> frozenset[str]:
    """Return the credentials that the texts name; in embedded use, the variables of the environment that are secret."""
    return frozenset(name.parts[1] for _, name, _ in list_placed_names(texts) if is_secret(name, public))


def find_template_problems(texts: Iterable[PlacedText], mode: Mode, public: Collection[str] = ()) -> Iterator[Problem]:
    """Yield what is wrong with the templates, whatever their plain names mean."""
    for place, text in texts:
        try:
            names = list(list_names(parse(text)))
        except MalformedTemplateError as error:
            yield report(str(error), place)
            continue
        messages = {_find_name_problem(name, condition, mode, public) for name, condition in names}
        yield from (report(message, place) for message in sorted(filter(None, messages)))


def _find_name_problem(name: Name, condition: bool, mode: Mode, public: Collection[str]) -> str | None:
    if name.store is None:
        return None
    if name.store == "secrets" and mode is not Mode.HOSTED:
        return "names a credential of a task, and there is no task in a process of one's own: write {{env.NAME}}"
    if name.store == "env" and mode is not Mode.EMBEDDED:
        return "names the environment, which no task reads: store a credential and write {{secrets.NAME}}"
    if len(name.parts) != 2 or not NAME.fullmatch(name.parts[1]):
        what = "credential" if mode is Mode.HOSTED else "variable"
        return f"must name a {what}, as in {{{{{name.store}.API_KEY}}}}: capital letters, digits and underscores"
    return SECRET_IN_CONDITION if condition and is_secret(name, public) else None
