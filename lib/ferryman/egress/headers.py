"""Header allowlist: headers that the model may set in any call, or for one service; any other is refused, not dropped.

Proxies and services read route, identity, method and key from headers of countless names, so a denylist cannot work. A header
that one service documents is allowed towards that service's hosts only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import AuthType, Credential
from ferryman.domain.http.headers import is_declarable_header, normalize_header
from ferryman.domain.http.request import Text

COUNT_MAX = 20
CHARACTERS_MAX = 4_096
"""Names and values of all headers together."""

ALLOWED = frozenset(
    (
        *("accept", "accept-language", "content-type", "prefer"),  # the form of the answer and of the body
        *("if-match", "if-modified-since", "if-none-match", "if-unmodified-since"),  # they can only make a call do less
        "idempotency-key",  # the same
    )
)
"""Allowed in any call: none names the caller, the route or the frame of a request. Others, such as x-request-id, are harmless
for most services; a service that documents one has it in its integration."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}", re.ASCII)
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?", re.ASCII)
_JSON = re.compile(r"application/json(?:; ?charset=\"?utf-8\"?)?", re.ASCII | re.IGNORECASE)


def check_headers(
    headers: Mapping[str, Any], credentials: Iterable[Credential], service_headers: Iterable[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the model's headers with names in lower case. Raise `CallRefusedError`, which names those that may be set.

    `credentials` are all of the task; `service_headers` are those that the called service documents.
    """
    if len(headers) > COUNT_MAX:
        _refuse(f"at most {COUNT_MAX} headers")
    reserved = {normalize_header(name) for name in list_injected_headers(credentials)}
    listed = {normalize_header(name): name.lower() for name in (*ALLOWED, *service_headers)}
    accepted: dict[str, str] = {}
    characters = 0
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            _refuse("a header name must be an HTTP token of at most 64 characters")
        if not isinstance(value, str) or not _VALUE.fullmatch(value):
            _refuse("a header value must be text in printable ASCII, without line breaks or outer spaces")
        characters += len(name) + len(value)
        normal = normalize_header(name)
        if normal in reserved:
            _refuse("a credential's own header is set by the executor only")
        if normal not in listed:
            _refuse(f"allowed for this host are {', '.join(sorted(listed.values()))}")
        if normal == "content-type" and not _JSON.fullmatch(value):
            _refuse("content-type may only be application/json")
        if listed[normal] in accepted:
            _refuse("a header may be given once, in one spelling")
        accepted[listed[normal]] = value
    if characters > CHARACTERS_MAX:
        _refuse(f"headers may have at most {CHARACTERS_MAX} characters in all")
    return tuple(accepted.items())


def reject_fixed_header_conflicts(headers: Mapping[str, Text]) -> None:
    """Raise `CallRefusedError` for headers of a declared tool that break the request: the model chose some of their values."""
    if len(headers) > COUNT_MAX:
        _refuse(f"at most {COUNT_MAX} headers")
    if len({normalize_header(name) for name in headers}) < len(headers):
        _refuse("a header may be given once, in one spelling")
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or not is_declarable_header(name):
            _refuse("a declared header must be an HTTP token of at most 64 characters that does not frame the request")
        if not _VALUE.fullmatch(str(value)):
            _refuse("a header value must be text in printable ASCII, without line breaks or outer spaces")
    if sum(len(name) + len(str(value)) for name, value in headers.items()) > CHARACTERS_MAX:
        _refuse(f"headers may have at most {CHARACTERS_MAX} characters in all")


def list_injected_headers(credentials: Iterable[Credential]) -> Iterable[str]:
    """Yield the header names that the task's credentials are injected as."""
    for credential in credentials:
        if credential.label.auth_type is AuthType.HEADER and credential.label.auth_header_name:
            yield credential.label.auth_header_name


def _refuse(rule: str) -> NoReturn:
    raise CallRefusedError(refusal.refuse_header(rule))
