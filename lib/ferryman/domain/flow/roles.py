"""The role of an argument, by its name, its description and its JSON Schema; what is not recognized decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ferryman.domain.flow.signature import ArgumentFlow
from ferryman.domain.flow.verbs import CHANGING, READING, makes_new
from ferryman.domain.flow.words import read_words, split_words
from ferryman.domain.tools.correction import ArgumentRole

CONTENT_WORDS = read_words(
    """body caption comment comments content contents description details feedback html markdown memo message note notes
    reason remark remarks reply subject summary text"""
)
"""Last words of names of what others read."""

DETAIL_WORDS = read_words(
    """at color colour cursor date datetime day deadline due duration encoding end format hour hours interval language
    limit locale location minutes month n offset page priority recurrence results since size sort start time timestamp
    timezone tz unit units until venue week when year zone"""
)
"""Last words of names of how, when, and where something takes place; none of them says where an effect goes."""

LOCATOR_WORDS = read_words("callback domain endpoint host hostname href link server site uri url website webhook")
"""Words of names of where a request is sent."""

TITLE = ("title",)
"""The last word of the name of a title."""

ID_WORDS = read_words("id ids identifier key number ref slug uuid")
"""Last words of names of the key of a thing."""

EXECUTABLE_WORDS = read_words("code command query_string script shell sql statement")
"""Words of names of what is executed: a tool that takes it does not only read."""

RECEIVING_WORDS = read_words(
    """assignee attendee attendees bcc cc channel contact email emails guest guests invitee member members participant
    participants people person recipient recipients to user username users"""
)
"""Words of names of somebody who receives something."""

RECEIVING_NAMES = ("to", "for", "with", "invite", "message", "email", "tell", "ask", "user", "channel")
"""Words before a short value in a text that name it as somebody who receives something."""

AMOUNT_NAMES = ("amount", "pay", "send", "transfer", "of", "price", "total", "fee", "cost")
"""Words before a short number in a text that name it as an amount."""

_SCHEMA_DEPTH_MAX = 8


def classify_argument(name: str, schema: Any, definitions: Mapping[str, Any], *, tool: Sequence[str] = ()) -> ArgumentFlow:
    """Return the role of an argument of a call that has an effect.

    `definitions` are those that `schema` may refer to, and `tool` are the words of its tool's name.
    """
    return _classify(split_words(name), tuple(_list_variants(schema, definitions)), tool)


def classify_name(name: str) -> ArgumentFlow:
    """Return the role of a value in an object of an argument, of which no schema says anything: by its name."""
    return _classify_words(split_words(name))


@lru_cache(maxsize=1_000)
def _classify_words(words: tuple[str, ...]) -> ArgumentFlow:
    return _classify(words, tuple(_list_variants({}, {})), ())


def _classify(words: tuple[str, ...], variants: Sequence[Mapping[str, Any]], tool: Sequence[str]) -> ArgumentFlow:
    is_key = bool(words) and words[-1] in ID_WORDS
    things = tuple(word for word in words if word not in ID_WORDS) or tuple(
        word for word in tool if word not in READING and word not in CHANGING
    )
    return ArgumentFlow(
        role=_find_role(words, variants),
        words=_list_naming_words(words, variants, is_key=is_key),
        identifies=is_key,
        things=things if is_key else (),
        is_new_title=words[-1:] == TITLE and makes_new(tool),
    )


def is_locator(name: str, schema: Any, definitions: Mapping[str, Any]) -> bool:
    """Tell whether an argument says where a request is sent, such as a URL or a host."""
    formats = {variant.get("format") for variant in _list_variants(schema, definitions)}
    return not LOCATOR_WORDS.isdisjoint(split_words(name)) or not formats.isdisjoint(("uri", "url", "hostname", "iri"))


def is_executable(name: str) -> bool:
    """Tell whether an argument is a program, whatever it does."""
    return not EXECUTABLE_WORDS.isdisjoint(split_words(name))


def _find_role(words: Sequence[str], variants: Sequence[Mapping[str, Any]]) -> ArgumentRole:
    last = words[-1] if words else ""
    if last in CONTENT_WORDS:
        return ArgumentRole.CONTENT
    if last in DETAIL_WORDS or any(
        str(variant.get("format")) in ("date", "date-time", "time", "duration") for variant in variants
    ):
        return ArgumentRole.DETAIL
    possible = [variant for variant in variants if variant.get("type") != "null"]
    is_receiving = not RECEIVING_WORDS.isdisjoint(words)
    if possible and not is_receiving and all(_is_choice(variant) for variant in possible):
        return ArgumentRole.DETAIL
    return ArgumentRole.DECIDES


def _is_choice(variant: Mapping[str, Any]) -> bool:
    """Tell whether a schema leaves only a choice among values that it names."""
    return variant.get("type") == "boolean" or "enum" in variant or "const" in variant


def _list_naming_words(words: tuple[str, ...], variants: Sequence[Mapping[str, Any]], *, is_key: bool) -> tuple[str, ...]:
    if is_key:
        return tuple(dict.fromkeys((*words, "id", "number")))
    if any(variant.get("type") in ("number", "integer") for variant in variants):
        return tuple(dict.fromkeys((*words, *AMOUNT_NAMES)))
    return tuple(dict.fromkeys((*words, *RECEIVING_NAMES))) if not RECEIVING_WORDS.isdisjoint(words) else words


def _list_variants(schema: Any, definitions: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what a schema may be, with references and alternatives resolved, as far as `_SCHEMA_DEPTH_MAX`."""
    resolved, level = [], [schema]
    for _ in range(_SCHEMA_DEPTH_MAX):
        following: list[Any] = []
        for part in level:
            if not isinstance(part, Mapping):
                continue
            inner = [part[key] for key in ("anyOf", "oneOf", "allOf") if isinstance(part.get(key), list)]
            reference = part.get("$ref")
            if isinstance(reference, str):
                following.append(definitions.get(reference.rpartition("/")[2]))
            elif inner:
                following += [variant for variants in inner for variant in variants[:50]]
            else:
                resolved.append(part)
        level = following[:200]
    return resolved
