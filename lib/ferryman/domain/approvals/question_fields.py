"""The fields of a form that an MCP server asks a person to fill in: flat, bounded, and none for a secret.

Everything in a form is a stranger's text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FIELDS_MAX = 20
CHOICES_MAX = 100
KEY_CHARACTERS_MAX = 200
TEXT_CHARACTERS_MAX = 500
"""How long the title and the description of a field may be, and a choice."""

GROWTH_CHARACTERS = 64
"""By so many characters more than twice its length may a text grow when it is normalized: one ligature has eighteen letters."""

_SECRET = re.compile(
    r"pass\W?(?:word|wd|code|phrase)|\bpwd\b|\bpin\b|secret|credential|private\W?key|seed\W?phrase|recovery\W?(?:key|phrase)"
    r"|(?:api|access|auth|bearer|refresh|session|security|service|account|admin|ssh|signing|encryption)\W?(?:key|token)"
    r"|^(?:tokens?|keys?|otp|jwt|pat)$|\bcvv\b|\bcvc\b|card\W?number|one\W?time\W?(?:code|password)|2fa|mfa\W?code"
)
_FORMATS = frozenset(("email", "uri", "date", "date-time"))


class UnaskableQuestionError(Exception):
    """A question that no person is asked; the text, our own, says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionField:
    """A field of a form: `kind` is string, number, integer, boolean or choices (several of `choices`, each a value)."""

    name: str
    kind: str
    title: str = ""
    description: str = ""
    is_required: bool = False
    least: float | None = None
    most: float | None = None
    choices: tuple[tuple[str, str], ...] = ()
    format: str = ""
    default: Any = None


def list_fields(schema: Any) -> tuple[QuestionField, ...]:
    """Return the fields of a form. Raise `UnaskableQuestionError` where it is not flat, too large, or asks for a secret."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(schema, Mapping) or schema.get("type") != "object" or not isinstance(properties, Mapping):
        raise UnaskableQuestionError("its form is no object with properties")
    if len(properties) > FIELDS_MAX:
        raise UnaskableQuestionError(f"its form has {len(properties)} fields, and at most {FIELDS_MAX} are possible")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) and name in properties for name in required):
        raise UnaskableQuestionError("its form requires what it does not have")
    return tuple(_read_field(name, property_, name in required) for name, property_ in properties.items())


def _read_field(name: Any, schema: Any, is_required: bool) -> QuestionField:
    if not isinstance(name, str) or not 1 <= len(name) <= KEY_CHARACTERS_MAX or not isinstance(schema, Mapping):
        raise UnaskableQuestionError("a field of its form has no name, or no schema")
    title, description, format_ = (_read_text(schema, key) for key in ("title", "description", "format"))
    if any(map(asks_for_secret, (name, title, description, format_))):
        raise UnaskableQuestionError("a field of its form asks for a secret, such as a password or a key")
    kind = schema.get("type")
    about: dict[str, Any] = {"name": name, "title": title, "description": description, "is_required": is_required}
    about["default"] = schema.get("default")
    match kind:
        case "boolean":
            return QuestionField(kind=kind, **about)
        case "number" | "integer":
            least, most = _read_range(schema, "minimum", "maximum")
            return QuestionField(kind=kind, least=least, most=most, **about)
        case "string":
            least, most = _read_range(schema, "minLength", "maxLength")
            known = format_ if format_ in _FORMATS else ""
            return QuestionField(kind=kind, least=least, most=most, choices=_read_choices(schema), format=known, **about)
        case "array":
            least, most = _read_range(schema, "minItems", "maxItems")
            items = schema.get("items")
            choices = _read_choices(items) if isinstance(items, Mapping) else ()
            if choices:
                return QuestionField(kind="choices", least=least, most=most, choices=choices, **about)
    raise UnaskableQuestionError("a field of its form is no text, number, true or false, or choice")


def _read_text(schema: Mapping[str, Any], key: str) -> str:
    text = schema.get(key, "")
    if not isinstance(text, str) or len(text) > TEXT_CHARACTERS_MAX:
        raise UnaskableQuestionError(f"the {key} of a field is longer than {TEXT_CHARACTERS_MAX} characters, or no text")
    return text


def _read_range(schema: Mapping[str, Any], least: str, most: str) -> tuple[float | None, float | None]:
    bounds = [schema.get(least), schema.get(most)]
    if any(bound is not None and (isinstance(bound, bool) or not isinstance(bound, int | float)) for bound in bounds):
        raise UnaskableQuestionError("a bound of a field is no number")
    return bounds[0], bounds[1]


def _read_choices(schema: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    titled = schema.get("oneOf", schema.get("anyOf"))
    if isinstance(titled, list):
        pairs = [(item.get("const"), item.get("title", "")) if isinstance(item, Mapping) else (None, "") for item in titled]
    elif isinstance(schema.get("enum"), list):
        names = schema.get("enumNames")
        values: list[Any] = schema["enum"]
        has_names = isinstance(names, list) and len(names) == len(values)
        pairs = list(zip(values, names if has_names and isinstance(names, list) else [""] * len(values), strict=True))
    else:
        return ()
    if len(pairs) > CHOICES_MAX:
        raise UnaskableQuestionError(f"a field has {len(pairs)} choices, and at most {CHOICES_MAX} are possible")
    if not all(isinstance(text, str) and len(text) <= TEXT_CHARACTERS_MAX for pair in pairs for text in pair):
        raise UnaskableQuestionError("a choice of a field is no text, or a long one")
    return tuple((str(value), str(title)) for value, title in pairs)


def asks_for_secret(text: str) -> bool:
    """Tell whether a text asks for a password, a key, a token or the like, in whatever letters.

    One that grows to several times its length once it is normalized is none that anybody can read, and counts as such.
    """
    plain = unicodedata.normalize("NFKC", text)
    if len(plain) > 2 * len(text) + GROWTH_CHARACTERS:
        return True
    if not plain.isascii():
        plain = "".join(character for character in plain if unicodedata.category(character) != "Cf")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", plain).replace("_", " ")
    return _SECRET.search(words.strip().casefold()) is not None
