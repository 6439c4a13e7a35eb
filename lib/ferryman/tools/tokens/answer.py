"""Answers: the token in what a token endpoint said, or a refusal that repeats none of it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from ferryman.declared import paths
from ferryman.domain import refusal
from ferryman.domain.credential import Credential
from ferryman.domain.declared import Auth, ClientCredentials, Extract
from ferryman.domain.http import Inbound
from ferryman.domain.refusal import Refused
from ferryman.domain.token import ANSWER_BYTES_MAX, TOKEN_CHARACTERS_MAX, TOKEN_CHARACTERS_MIN, used_s

_VISIBLE = re.compile(r"[\x21-\x7e]+", re.ASCII)
_OAUTH = Extract(token_path="$.access_token", expires_path="$.expires_in")  # noqa: S106 - where one stands
_EPOCH = 1_000_000_000
"""A lifetime of so many seconds is none: it is the moment, in Unix time, when the token expires."""


def read(auth: Auth, inbound: Inbound, credentials: Iterable[Credential], *, now_s: float) -> tuple[str, int]:
    """The token and for how many seconds it is used, or `Refused`. `credentials` are all that may have been sent.

    `now_s` is the time in Unix seconds.
    """
    if 300 <= inbound.status < 400:
        _refuse("the token endpoint answered with a redirect, which is not followed")
    if not 200 <= inbound.status < 300:
        _refuse(f"the token endpoint answered {inbound.status}")
    if inbound.cut:
        _refuse(f"the token endpoint's answer is longer than {ANSWER_BYTES_MAX} bytes")
    oauth = isinstance(auth, ClientCredentials)
    extract = _OAUTH if isinstance(auth, ClientCredentials) else auth.extract
    if extract.response_format == "text":
        document: Any = None
        token: Any = inbound.body.decode("latin-1").strip()
    else:
        document = _document(inbound.body)
        if oauth:
            _is_bearer(document)
        token = _found(extract.token_path or "$", document)
    told = _seconds(_found(extract.expires_path, document), now_s) if extract.expires_path and document is not None else None
    return _token(token, credentials), used_s(auth.cache_ttl, told)


def _found(path: str, document: Any) -> Any:
    try:
        return paths.find(path, document)
    except ValueError:
        _refuse("a path of the tool's declaration is no JSONPath")


def _document(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        _refuse("the token endpoint's answer is not JSON")


def _is_bearer(document: Any) -> None:
    """Refuse an error that was sent as a success (RFC 6749, 5.2), and a token of a type that cannot be applied (7.1)."""
    if not isinstance(document, dict):
        _refuse("the token endpoint's answer is not an object")
    if document.get("error"):
        _refuse("the token endpoint answered with an error")
    kind = document.get("token_type")
    if kind is not None and not (isinstance(kind, str) and "bearer" in kind.lower()):
        _refuse("the token is not of the type bearer")


def _token(token: Any, credentials: Iterable[Credential]) -> str:
    if token is None or token == "":
        _refuse("there is no token where the tool's declaration says it stands")
    if not isinstance(token, str) or not _VISIBLE.fullmatch(token):
        _refuse("the token must be a text of visible ASCII characters")
    if len(token) < TOKEN_CHARACTERS_MIN:
        _refuse(f"the token is shorter than {TOKEN_CHARACTERS_MIN} characters: a leak of it could not be told from chance")
    if len(token) > TOKEN_CHARACTERS_MAX:
        _refuse(f"the token is longer than {TOKEN_CHARACTERS_MAX} characters")
    values = (each.secret.reveal() for each in credentials)
    if any(value in token or token in value for value in values):
        _refuse("the token endpoint gave a credential back as the token")
    return token


def _seconds(value: Any, now_s: float) -> float | None:
    """A lifetime in seconds from a number, or from a text that is one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(found):
        return None
    return found - now_s if found >= _EPOCH else found


def _refuse(why: str) -> NoReturn:
    raise Refused(refusal.token_not_fetched(why))
