"""Inject: what was asked for becomes bytes for the wire, the credentials set last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote_plus, urlencode

from ferryman.domain import refusal
from ferryman.domain.credential import PARAM_DEFAULT, AuthType, Credential
from ferryman.domain.http import BodyType, Outbound, Prepared
from ferryman.domain.refusal import Refused
from ferryman.domain.url import URL
from ferryman.egress import holes

TARGET_CHARACTERS_MAX = 16_384
"""Path and query with what `query_params` appended."""

BODY_BYTES_MAX = 1_048_576
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
USER_AGENT = "ferryman"
NONE: Mapping[str, Credential] = {}


def prepare(
    outbound: Outbound,
    url: URL,
    headers: Iterable[tuple[str, str]],
    credential: Credential | None,
    credentials: Mapping[str, Credential] = NONE,
) -> Prepared:
    """The request as it goes out, or `Refused` when a part of it cannot be written. `headers` are the model's, checked.

    `credential` is injected as its label says; `credentials` fill the holes of a declared tool's request.
    """
    fixed = {name.lower(): holes.text(value, credentials) for name, value in outbound.fixed_headers.items()}
    kept = {"accept": "*/*", "user-agent": USER_AGENT, **dict(headers), **fixed, "accept-encoding": "gzip"}
    body, parameters = None, _pairs(outbound, "query_params", holes.filled(outbound.query_params, credentials))
    if outbound.body is not None and outbound.body_type is BodyType.QUERY:
        parameters += _pairs(outbound, "body", holes.filled(outbound.body, credentials))
    elif outbound.body is not None and outbound.method.carries_body:
        body, kind = _body(outbound, holes.filled(outbound.body, credentials))
        kept["content-type"] = fixed.get("content-type", kind)
    if body is None:
        kept.pop("content-type", None)
    query = _joined(url.query, parameters)
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


def _pairs(outbound: Outbound, field: str, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Scalars as strings, lists repeat their name, null is left out (S0-18)."""
    if not isinstance(values, Mapping):
        raise Refused(refusal.wrong_argument(outbound.tool, field, "an object"))
    pairs = []
    for name, value in values.items():
        several = value if isinstance(value, list | tuple) else (value,)
        texts = [_scalar(outbound, field, each) for each in several if each is not None]
        pairs += [(_encodable(outbound, field, name), _encodable(outbound, field, text)) for text in texts]
    return pairs


def _scalar(outbound: Outbound, field: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        try:
            return json.dumps(value, allow_nan=False)
        except ValueError:
            pass
    raise Refused(refusal.wrong_argument(outbound.tool, field, "an object of texts, numbers and lists of them"))


def _encodable(outbound: Outbound, field: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refused(refusal.wrong_argument(outbound.tool, field, "valid Unicode")) from None
    return text


def _body(outbound: Outbound, body: Any) -> tuple[bytes, str]:
    """The body as bytes, and its media type."""
    if outbound.body_type is BodyType.FORM:
        written, kind = urlencode(_pairs(outbound, "body", body)).encode("ascii"), FORM
    else:
        written, kind = _json(outbound, body), JSON
    if len(written) > BODY_BYTES_MAX:
        form = "JSON" if kind == JSON else "a form"
        raise Refused(refusal.wrong_argument(outbound.tool, "body", f"at most {BODY_BYTES_MAX} bytes of {form}"))
    return written, kind


def _json(outbound: Outbound, body: Any) -> bytes:
    plain = dict(body) if isinstance(body, Mapping) else body
    try:
        return json.dumps(plain, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (ValueError, TypeError, RecursionError):
        raise Refused(refusal.wrong_argument(outbound.tool, "body", "an object that can be written as JSON")) from None
