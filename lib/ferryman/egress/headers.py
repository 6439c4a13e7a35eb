"""Headers: the few a model may set, each in one spelling; every other is refused rather than dropped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from ferryman.domain import refusal
from ferryman.domain.credential import AuthType, Credential, declarable, spelling
from ferryman.domain.http import Text
from ferryman.domain.refusal import Refused

COUNT_MAX = 20
CHARACTERS_MAX = 4_096
"""Names and values of all headers together."""

ALLOWED = frozenset(
    ("accept", "accept-language", "content-type", "idempotency-key", "if-modified-since", "if-none-match", "prefer")
)
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}", re.ASCII)
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?", re.ASCII)
_JSON = re.compile(r"application/json(?:; ?charset=\"?utf-8\"?)?", re.ASCII | re.IGNORECASE)
_OWN = re.compile(r"x-[a-z0-9][a-z0-9-]*", re.ASCII)
# What proxies and frameworks read as route, identity or method, and what looks like a key: none of it is the model's to say.
_DENIED = re.compile(
    r"x-(?:forward|forwarded|envoy|goog|google|cloud|cloudtasks|serverless|appengine|arr|cf|vercel|fastly|proxy|proxyuser|"
    r"real-ip|client-ip|client-cert|client-host|cluster-client-ip|true-client-ip|original|originating|remote|rewrite|host|http|"
    r"method|waf|wap|middleware|accel|sendfile|backend|requested-host|user|username|user-id|user-ip|user-name|user-email|email|ssl|tls|scheme|"
    r"url-scheme|server-name|port|azure-clientip)(?:-.*)?"
    r"|x-.*(?:auth|api-?key|access-?key|token|secret|passw|credential|cookie|session|signature|bearer|jwt|forwarded|override).*",
    re.ASCII,
)


def checked(headers: Mapping[str, Any], credentials: Iterable[Credential]) -> tuple[tuple[str, str], ...]:
    """The model's headers as they may be sent, names in lower case, or `Refused`. `credentials` are all of the task."""
    if len(headers) > COUNT_MAX:
        _refuse(f"at most {COUNT_MAX} headers")
    reserved = {spelling(name) for name in injected_names(credentials)}
    found: dict[str, str] = {}
    characters = 0
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            _refuse("a header name must be an HTTP token of at most 64 characters")
        if not isinstance(value, str) or not _VALUE.fullmatch(value):
            _refuse("a header value must be text in printable ASCII, without line breaks or outer spaces")
        characters += len(name) + len(value)
        one = spelling(name)
        _admit(name.lower(), one, value, reserved)
        if one in found:
            _refuse("a header may be given once, in one spelling")
        found[one] = value
    if characters > CHARACTERS_MAX:
        _refuse(f"headers may have at most {CHARACTERS_MAX} characters in all")
    return tuple(found.items())


def own(headers: Mapping[str, Text]) -> None:
    """Refuse headers of a declared tool that would break the request: its owner chose the names, the model some values."""
    if len(headers) > COUNT_MAX:
        _refuse(f"at most {COUNT_MAX} headers")
    if len({spelling(name) for name in headers}) < len(headers):
        _refuse("a header may be given once, in one spelling")
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or not declarable(name):
            _refuse("a declared header must be an HTTP token of at most 64 characters that does not frame the request")
        if not _VALUE.fullmatch(str(value)):
            _refuse("a header value must be text in printable ASCII, without line breaks or outer spaces")
    if sum(len(name) + len(str(value)) for name, value in headers.items()) > CHARACTERS_MAX:
        _refuse(f"headers may have at most {CHARACTERS_MAX} characters in all")


def injected_names(credentials: Iterable[Credential]) -> Iterable[str]:
    """The header names that the task's credentials are injected as."""
    for credential in credentials:
        if credential.label.auth_type is AuthType.HEADER and credential.label.auth_header_name:
            yield credential.label.auth_header_name


def _admit(lower: str, one: str, value: str, reserved: set[str]) -> None:
    if one in reserved:
        _refuse("a credential's own header is set by the executor only")
    if lower in ALLOWED:
        if lower == "content-type" and not _JSON.fullmatch(value):
            _refuse("content-type may only be application/json")
    elif not _OWN.fullmatch(one) or _DENIED.fullmatch(one):
        _refuse(f"allowed are {', '.join(sorted(ALLOWED))} and the API's own x- headers that carry no key, identity or route")


def _refuse(rule: str) -> NoReturn:
    raise Refused(refusal.header_forbidden(rule))
