"""Challenges: what a server's WWW-Authenticate header asks for (RFC 9110, 11.6.1; RFC 6750; RFC 9728, 5.1), in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ferryman.domain.credentials.connection import SCOPES_MAX, find_scope_problems
from ferryman.tools.mcp.authorization.failure import AuthorizationFailedError

HEADER_CHARACTERS_MAX = 8_192
"""All WWW-Authenticate headers of one answer together."""

INSUFFICIENT_SCOPE = "insufficient_scope"
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - a grammar (RFC 9110, 5.6.2)
_SCHEME = re.compile(rf"({_TOKEN})(?: +|\Z)", re.ASCII)
_PARAMETER = re.compile(rf"({_TOKEN})[ \t]*=[ \t]*(.*)", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """The bearer challenge of an answer; a member is None or empty where the server named none."""

    resource_metadata: str | None = None
    scopes: tuple[str, ...] = ()
    error: str | None = None

    @property
    def needs_more_scopes(self) -> bool:
        """Whether the token is good, and its scopes are not enough."""
        return self.error == INSUFFICIENT_SCOPE


NO_CHALLENGE = Challenge()


def read_challenge(headers: Iterable[str]) -> Challenge:
    """Return the first bearer challenge in the WWW-Authenticate headers of an answer, `NO_CHALLENGE` for none.

    Raise `AuthorizationFailedError` for headers over their bound, and for scopes that are none.
    """
    known = tuple(headers)
    if sum(map(len, known)) > HEADER_CHARACTERS_MAX:
        raise AuthorizationFailedError(f"the WWW-Authenticate headers have more than {HEADER_CHARACTERS_MAX:,} characters")
    parameters: dict[str, str] | None = None
    for scheme, name, value in (item for header in known for item in _iterate_parameters(header)):
        if scheme is not None:
            if parameters is not None:
                break
            parameters = {} if scheme.lower() == "bearer" else None
        if parameters is not None and name:
            if name.lower() in parameters:
                raise AuthorizationFailedError(f"the WWW-Authenticate header names {name[:32]} twice")
            parameters[name.lower()] = value
    if parameters is None:
        return NO_CHALLENGE
    scopes = tuple(dict.fromkeys(parameters.get("scope", "").split()))
    check_scopes(scopes, "the WWW-Authenticate header")
    return Challenge(
        resource_metadata=parameters.get("resource_metadata"), scopes=scopes, error=parameters.get("error", "")[:64] or None
    )


def check_scopes(scopes: tuple[str, ...], where: str) -> None:
    """Raise `AuthorizationFailedError` unless they are scopes (RFC 6749, 3.3), and at most `SCOPES_MAX`."""
    if find_scope_problems(scopes):
        raise AuthorizationFailedError(f"{where} has more than {SCOPES_MAX} scopes, or one that is no scope")


def _iterate_parameters(header: str) -> Iterator[tuple[str | None, str, str]]:
    """Yield the scheme where one begins, and a parameter's name and value, "" for none; what is neither is passed over."""
    for item in _split(header):
        text, scheme = item.strip(" \t"), None
        match = _PARAMETER.fullmatch(text)
        if match is None:
            begun = _SCHEME.match(text)
            if begun is None:
                continue
            scheme, text = begun[1], text[begun.end() :]
            match = _PARAMETER.fullmatch(text)
        yield scheme, *(("", "") if match is None else (match[1], _read_value(match[2])))


def _split(header: str) -> Iterator[str]:
    """Yield the parts between the commas that are in no quoted string."""
    start, position, is_quoted = 0, 0, False
    while position < len(header):
        character = header[position]
        if is_quoted and character == "\\":
            position += 1
        elif character == '"':
            is_quoted = not is_quoted
        elif character == "," and not is_quoted:
            yield header[start:position]
            start = position + 1
        position += 1
    yield header[start:]


def _read_value(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
    return text
