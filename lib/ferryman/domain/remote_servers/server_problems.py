"""What is wrong with an MCP server as a person would add it: its URL, and the headers that requests to it have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ferryman.domain.credentials.credential import NAME, AuthType, find_injection_problems
from ferryman.domain.credentials.value import find_value_problems
from ferryman.domain.http.headers import normalize_header
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.domain.problem import Problem
from ferryman.domain.remote_servers.authorization import TOKEN_NAME
from ferryman.domain.remote_servers.server import HEADERS_MAX, ServerAuth

BEARER_NAME = "BEARER_TOKEN"
"""The name of the credential with the token of a server whose authentication is `bearer`."""

AUTHORIZATION = "Authorization"
_PROTOCOL = frozenset(("accept", "last-event-id", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"))
"""Headers that the protocol itself sets, beside `Mcp-Param-…`."""


def find_url_problems(url: str) -> list[Problem]:
    """Return the problems of the URL of an MCP server's endpoint."""
    try:
        parse_url(url)
    except InvalidUrlError as error:
        return [Problem("url", f"must be an https URL of a public host: {error}")]
    return [Problem("url", "must not have a fragment")] if "#" in url else []


def find_auth_problems(auth: ServerAuth, token: str | None, headers: Iterable[str]) -> list[Problem]:
    """Return the problems of how requests are authenticated, with the `token` and the names of `headers` as they were given."""
    names = [*headers]
    if auth is ServerAuth.BEARER and token is None:
        return [Problem("auth.token", "is required when auth.type is bearer")]
    if auth is not ServerAuth.BEARER and token is not None:
        return [Problem("auth.token", "is only for auth.type bearer")]
    if auth is ServerAuth.NONE and names:
        return [Problem("headers", "are only for auth.type headers, bearer and oauth")]
    if auth is ServerAuth.HEADERS and not names:
        return [Problem("headers", "are required when auth.type is headers")]
    problems = [] if token is None else [Problem("auth.token", problem.message) for problem in find_value_problems(token)]
    is_twice = auth in (ServerAuth.BEARER, ServerAuth.OAUTH) and any(name.lower() == "authorization" for name in names)
    return [*problems, *([Problem("headers", f"must not have Authorization when auth.type is {auth}")] if is_twice else [])]


def find_header_problems(values: Mapping[str, str], credentials: Mapping[str, str]) -> list[Problem]:
    """Return the problems of headers with their `values`, and of the names that these are stored under."""
    problems, seen = [], set[str]()
    if len(values) > HEADERS_MAX:
        problems.append(Problem("headers", f"must be at most {HEADERS_MAX}"))
    for header, value in values.items():
        place, lower = f"headers.{header}", normalize_header(header)
        wrong = find_injection_problems(AuthType.HEADER, header, None)
        if wrong:
            problems.append(Problem(place, wrong[0].message))
        elif lower in _PROTOCOL or lower.startswith("mcp-param-"):
            problems.append(Problem(place, "is a header that the protocol sets"))
        elif lower in seen:
            problems.append(Problem(place, "is given twice"))
        seen.add(lower)
        problems += [Problem(place, problem.message) for problem in find_value_problems(value)]
    names = name_credentials(values, credentials)
    for header, name in names.items():
        if not NAME.fullmatch(name) or name in (TOKEN_NAME, BEARER_NAME):
            problems.append(Problem(f"credentials.{header}", "must be capital letters, digits and '_', and none of ours"))
    if len(set(names.values())) < len(names):
        problems.append(Problem("credentials", "must be names that differ"))
    problems += [Problem(f"credentials.{header}", "is none of the headers") for header in credentials if header not in values]
    return problems


def find_header_name_problems(auth: ServerAuth, headers: Mapping[str, str]) -> list[Problem]:
    """Return the problems of headers of a server that was stored elsewhere, and of the credentials that they name."""
    problems = []
    for header, name in headers.items():
        lower, wrong = normalize_header(header), find_injection_problems(AuthType.HEADER, header, None)
        if wrong or lower in _PROTOCOL or lower.startswith("mcp-param-"):
            problems.append(Problem("headers", "must be HTTP headers that the protocol does not set itself"))
        if not NAME.fullmatch(name) or name == TOKEN_NAME:
            problems.append(Problem("headers", "must each name a credential in capital letters, digits and '_'"))
    if len({header.lower() for header in headers}) < len(headers) or (headers and auth is ServerAuth.NONE):
        problems.append(Problem("headers", "must be given once each, and none where auth is none"))
    return problems


def name_credentials(headers: Iterable[str], credentials: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the credentials that the values of `headers` are stored under, by header."""
    return {header: credentials.get(header) or _derive_name(header) for header in headers}


def _derive_name(header: str) -> str:
    letters = "".join(character if character.isascii() and character.isalnum() else "_" for character in header.upper())
    return (letters if letters[:1].isalpha() else f"H_{letters}")[:64]
