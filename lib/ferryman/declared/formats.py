"""Formats: what `format` of a schema asks of a text (JSON Schema 2020-12, validation, 7.3), checked in linear time.

The library's own check of an e-mail address only looks for an `@`, that of a pattern compiles it with an engine that may take
exponential time, and those of moments and URIs need packages that are not kept. A format that is not here asks for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from ipaddress import IPv4Address, IPv6Address

from jsonschema import FormatChecker

CHARACTERS_MAX = 2_048
"""No text of one of these formats is longer; a longer one is not read."""

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOSTNAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*", re.ASCII)
_EMAIL = re.compile(rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~.-]{{1,64}}@{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,62}:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_TIME = re.compile(
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])", re.ASCII
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format: its check, and what the model is told that a text must be."""

    is_valid: Callable[[str], bool]
    description: str


def _matches(match: Callable[[str], object]) -> Callable[[str], bool]:
    return lambda text: match(text) is not None


def _is_email(text: str) -> bool:
    local = text.partition("@")[0]
    is_dotted = ".." not in local and not local.startswith(".") and not local.endswith(".")
    return len(text) <= 254 and is_dotted and _EMAIL.fullmatch(text) is not None


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_moment(text: str) -> bool:
    return _is_date(text[:10]) and text[10:11] in ("T", "t", " ") and _TIME.fullmatch(text[11:]) is not None


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def is_valid(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return is_valid


FORMATS: Mapping[str, Format] = {
    "email": Format(is_valid=_is_email, description="an e-mail address, as name@example.com"),
    "date": Format(is_valid=_is_date, description="a date, as 2026-12-24"),
    "time": Format(is_valid=_matches(_TIME.fullmatch), description="a time with its offset, as 18:00:00Z"),
    "date-time": Format(is_valid=_is_moment, description="a date and time with its offset, as 2026-12-24T18:00:00Z"),
    "uuid": Format(is_valid=_matches(_UUID.fullmatch), description="a UUID, as 8b0c9a5e-3f77-4c52-9d58-3a9e2a4f1c11"),
    "hostname": Format(is_valid=_matches(_HOSTNAME.fullmatch), description="a host name, as api.example.com"),
    "ipv4": Format(is_valid=_parses(IPv4Address), description="an IPv4 address, as 192.0.2.1"),
    "ipv6": Format(is_valid=_parses(IPv6Address), description="an IPv6 address, as 2001:db8::1"),
    "uri": Format(is_valid=_matches(_URI.fullmatch), description="a URI, as https://example.com/a"),
}
"""The formats that are checked, by name."""


def build_checker() -> FormatChecker:
    """Return the library's checker with these formats, and no other."""
    checker = FormatChecker(formats=())
    checker.checkers = {name: (_limit_check(form.is_valid), ()) for name, form in FORMATS.items()}
    return checker


def _limit_check(is_valid: Callable[[str], bool]) -> Callable[[object], bool]:
    """Return the check for values of any type: what is no text has no format."""
    return lambda value: not isinstance(value, str) or (len(value) <= CHARACTERS_MAX and is_valid(value))
