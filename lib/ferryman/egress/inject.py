"""Inject: what was asked for becomes bytes for the wire, the credential set last and alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote_plus

from ferryman.domain import refusal
from ferryman.domain.credential import PARAM_DEFAULT, AuthType, Credential
from ferryman.domain.http import Outbound, Prepared
from ferryman.domain.refusal import Refused
from ferryman.domain.url import URL

TARGET_CHARACTERS_MAX = 16_384
"""Path and query with what `query_params` appended."""

BODY_BYTES_MAX = 1_048_576
JSON = "application/json"
USER_AGENT = "ferryman"


def prepare(outbound: Outbound, url: URL, headers: Iterable[tuple[str, str]], credential: Credential | None) -> Prepared:
    """The request as it goes out, or `Refused` when a part of it cannot be written. `headers` are the model's, checked."""
    kept = {"accept": "*/*", **dict(headers), "accept-encoding": "gzip", "user-agent": USER_AGENT}
    body = None
    if outbound.method.carries_body and outbound.body is not None:
        body = _json(outbound)
        kept["content-type"] = JSON
    else:
        kept.pop("content-type", None)
    query = _joined(url.query, _pairs(outbound))
    if outbound.idempotency is not None:
        name, value = outbound.idempotency
        kept[name.lower()] = value
    if credential is not None:
        query = _injected(kept, query, credential)
    final = URL(host=url.host, path=url.path, query=query)
    if len(final.target) > TARGET_CHARACTERS_MAX:
        raise Refused(refusal.malformed_url(f"the URL with its parameters is longer than {TARGET_CHARACTERS_MAX} characters"))
    return Prepared(method=outbound.method, url=final, headers=tuple(kept.items()), body=body)


def _injected(headers: dict[str, str], query: str | None, credential: Credential) -> str | None:
    """The query with the credential; a credential for a header is put into `headers` instead."""
    label, value = credential.label, credential.secret.reveal()
    if label.auth_type is AuthType.BEARER:
        headers["authorization"] = f"Bearer {value}"
    elif label.auth_type is AuthType.HEADER:
        if label.auth_header_name is None:
            raise Refused(refusal.credential_unreadable(label.name))
        headers[label.auth_header_name.lower()] = value
    else:
        name = label.auth_param_name or PARAM_DEFAULT
        if name.lower() in _names(query):
            raise Refused(refusal.header_forbidden("the credential's own query parameter is set by the executor only"))
        return _joined(query, [(name, value)])
    return query


def _names(query: str | None) -> set[str]:
    # Both separators, decoded, in lower case: whichever way the other end reads it, the credential's parameter stands alone.
    parts = (query or "").replace(";", "&").split("&")
    return {unquote_plus(part.partition("=")[0]).strip().lower().partition("[")[0] for part in parts}


def _joined(query: str | None, pairs: Iterable[tuple[str, str]]) -> str | None:
    added = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs)
    return "&".join(part for part in (query, added) if part) if added else query


def _pairs(outbound: Outbound) -> list[tuple[str, str]]:
    """Scalars as strings, lists repeat their name, null is left out (S0-18)."""
    pairs = []
    for name, value in outbound.query_params.items():
        several = value if isinstance(value, list | tuple) else (value,)
        texts = [_scalar(outbound, each) for each in several if each is not None]
        pairs += [(_encodable(outbound, name), _encodable(outbound, text)) for text in texts]
    return pairs


def _scalar(outbound: Outbound, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        try:
            return json.dumps(value, allow_nan=False)
        except ValueError:
            pass
    raise Refused(refusal.wrong_argument(outbound.tool, "query_params", "an object of texts, numbers and lists of them"))


def _encodable(outbound: Outbound, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refused(refusal.wrong_argument(outbound.tool, "query_params", "valid Unicode")) from None
    return text


def _json(outbound: Outbound) -> bytes:
    try:
        body = json.dumps(_plain(outbound.body), allow_nan=False, separators=(",", ":")).encode("ascii")
    except (ValueError, TypeError, RecursionError):
        raise Refused(refusal.wrong_argument(outbound.tool, "body", "an object that can be written as JSON")) from None
    if len(body) > BODY_BYTES_MAX:
        raise Refused(refusal.wrong_argument(outbound.tool, "body", f"at most {BODY_BYTES_MAX} bytes of JSON"))
    return body


def _plain(body: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if body is None else dict(body)
