"""Credential injection: a checked request becomes bytes for the wire, its placeholders filled, and credentials set last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote_plus, urlencode

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import PARAM_DEFAULT, AuthType, Credential
from ferryman.domain.credentials.value import encode_pair
from ferryman.domain.http.request import (
    BodyType,
    OutboundRequest,
    PreparedRequest,
    SecretPlaceholder,
    Template,
    Text,
    list_placeholder_names,
)
from ferryman.domain.http.url import URL
from ferryman.domain.json_tree import map_leaves
from ferryman.egress import multipart
from ferryman.egress.body import ACCEPT_ENCODING
from ferryman.egress.multipart import ChooseBoundary

TARGET_CHARACTERS_MAX = 16_384  # characters of path and query, with those of `query_params`
BODY_BYTES_MAX = 1_048_576
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
USER_AGENT = "ferryman"
NONE: Mapping[str, Credential] = {}
_BASIC = "Basic "


def build_request(
    outbound: OutboundRequest,
    url: URL,
    headers: Iterable[tuple[str, str]],
    credential: Credential | None,
    credentials: Mapping[str, Credential] = NONE,
    *,
    choose: ChooseBoundary | None = None,
) -> PreparedRequest:
    """Return the request as it is sent. Raise `CallRefusedError` when a part of it cannot be written.

    `headers` are the model's, checked. `credential` is injected as its label says; `credentials` fill the placeholders of a
    declared tool's request. `choose` chooses the boundary of a multipart body, `multipart.choose_boundary` where it is None.
    """
    fixed = {name.lower(): _fill_header(name, value, credentials) for name, value in outbound.fixed_headers.items()}
    sent = {"accept": "*/*", "user-agent": USER_AGENT, **dict(headers), **fixed, "accept-encoding": ACCEPT_ENCODING}
    body, parameters = None, _list_pairs(outbound, "query_params", fill(outbound.query_params, credentials))
    if outbound.body is not None and outbound.body_type is BodyType.QUERY:
        parameters += _list_pairs(outbound, "body", fill(outbound.body, credentials))
    elif outbound.body is not None and outbound.method.has_body:
        body, kind = _encode_body(outbound, fill(outbound.body, credentials), choose)
        sent["content-type"] = kind if outbound.body_type is BodyType.MULTIPART else fixed.get("content-type", kind)
    if body is None:
        sent.pop("content-type", None)
    query = _join_query(url.query, parameters)
    if outbound.idempotency is not None:
        name, value = outbound.idempotency
        sent[name.lower()] = value
    if credential is not None:
        query = _inject(sent, query, credential)
    final = URL(host=url.host, path=url.path, query=query)
    if len(final.target) > TARGET_CHARACTERS_MAX:
        raise CallRefusedError(
            refusal.refuse_malformed_url(f"the URL with its parameters is longer than {TARGET_CHARACTERS_MAX} characters")
        )
    return PreparedRequest(method=outbound.method, url=final, headers=tuple(sent.items()), body=body)


def _inject(headers: dict[str, str], query: str | None, credential: Credential) -> str | None:
    """Return the query with the credential; a credential for a header is put into `headers` instead."""
    label, value = credential.label, credential.secret.reveal()
    if label.auth_type is AuthType.BEARER:
        headers["authorization"] = f"Bearer {value}"
    elif label.auth_type is AuthType.BASIC:
        headers["authorization"] = f"{_BASIC}{encode_pair(value)}"
    elif label.auth_type is AuthType.HEADER:
        if label.auth_header_name is None:
            raise CallRefusedError(refusal.refuse_unreadable_credential(label.name))
        headers[label.auth_header_name.lower()] = value
    else:
        name = label.auth_param_name or PARAM_DEFAULT
        if name.lower() in _list_parameter_names(query):
            raise CallRefusedError(refusal.refuse_header("the credential's own query parameter is set by the executor only"))
        return _join_query(query, [(name, value)])
    return query


def _list_parameter_names(query: str | None) -> set[str]:
    # Both separators, decoded, in lower case: however the peer parses the query, no other parameter has that name.
    parts = (query or "").replace(";", "&").split("&")
    return {unquote_plus(part.partition("=")[0]).strip().lower().partition("[")[0] for part in parts}


def _join_query(query: str | None, pairs: Iterable[tuple[str, str]]) -> str | None:
    added = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs)
    return "&".join(part for part in (query, added) if part) if added else query


def _list_pairs(outbound: OutboundRequest, field: str, values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and values: scalars as strings, lists repeat their name, null is left out (S0-18)."""
    if not isinstance(values, Mapping):
        raise CallRefusedError(refusal.refuse_wrong_argument(outbound.tool, field, "an object"))
    pairs = []
    for name, value in values.items():
        items = value if isinstance(value, list | tuple) else (value,)
        texts = [_format_scalar(outbound, field, item) for item in items if item is not None]
        pairs += [(_check_encodable(outbound, field, name), _check_encodable(outbound, field, text)) for text in texts]
    return pairs


def _format_scalar(outbound: OutboundRequest, field: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        try:
            return json.dumps(value, allow_nan=False)
        except ValueError:
            pass
    raise CallRefusedError(refusal.refuse_wrong_argument(outbound.tool, field, "an object of texts, numbers and lists of them"))


def _check_encodable(outbound: OutboundRequest, field: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise CallRefusedError(refusal.refuse_wrong_argument(outbound.tool, field, "valid Unicode")) from None
    return text


def _encode_body(outbound: OutboundRequest, body: Any, choose: ChooseBoundary | None) -> tuple[bytes, str]:
    """Return the body as bytes, and its media type."""
    form = "a form"
    if outbound.body_type is BodyType.FORM:
        written, kind = urlencode(_list_pairs(outbound, "body", body)).encode(), FORM
    elif outbound.body_type is BodyType.MULTIPART:
        written, kind = _encode_parts(outbound, body, choose)
    else:
        written, kind, form = _encode_json(outbound, body), JSON, "JSON"
    if len(written) > BODY_BYTES_MAX:
        raise CallRefusedError(
            refusal.refuse_wrong_argument(outbound.tool, "body", f"at most {BODY_BYTES_MAX} bytes of {form}")
        )
    return written, kind


def _encode_parts(outbound: OutboundRequest, body: Any, choose: ChooseBoundary | None) -> tuple[bytes, str]:
    try:
        return multipart.encode_parts(body, choose)
    except multipart.UnwritablePartError:
        expected = f"at most {multipart.PARTS_MAX} parts, whose names and media types can be written safely"
        raise CallRefusedError(refusal.refuse_wrong_argument(outbound.tool, "body", expected)) from None


def _encode_json(outbound: OutboundRequest, body: Any) -> bytes:
    plain = dict(body) if isinstance(body, Mapping) else body
    try:
        return json.dumps(plain, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, TypeError, RecursionError):
        raise CallRefusedError(
            refusal.refuse_wrong_argument(outbound.tool, "body", "an object that can be written as JSON")
        ) from None


def list_request_placeholders(outbound: OutboundRequest) -> list[str]:
    """Return the names of the credentials that `outbound` has placeholders for, each once, in order."""
    return list_placeholder_names([outbound.fixed_headers, outbound.query_params, outbound.body])


def to_display_form(value: Any) -> Any:
    """Return `value` in display form: each placeholder is the name of its credential."""
    return map_leaves(value, lambda leaf: str(leaf) if isinstance(leaf, Template) else leaf)


def fill(value: Any, credentials: Mapping[str, Credential]) -> Any:
    """Return `value` with every placeholder filled. `credentials` has all of them, as checked by `find_bound_credential`."""
    return map_leaves(value, lambda leaf: fill_text(leaf, credentials) if isinstance(leaf, Template) else leaf)


def fill_text(value: Text, credentials: Mapping[str, Credential]) -> str:
    """Return one text with its placeholders filled."""
    if isinstance(value, str):
        return value
    return "".join(_open(credentials[piece.name]) if isinstance(piece, SecretPlaceholder) else piece for piece in value.pieces)


def _open(credential: Credential) -> str:
    if credential.label.auth_type is AuthType.BASIC:
        raise CallRefusedError(refusal.refuse_misplaced_pair(credential.name))
    return credential.secret.reveal()


def _fill_header(name: str, value: Text, credentials: Mapping[str, Credential]) -> str:
    """Return a header's value with its placeholders filled: a pair in base64, where the scheme `Basic` has it."""
    match value:
        case Template(pieces=(str(scheme), SecretPlaceholder(name=pair))) if (
            f"{name}: {scheme}".lower() == f"authorization: {_BASIC}".lower()
            and credentials[pair].label.auth_type is AuthType.BASIC
        ):
            return f"{_BASIC}{encode_pair(credentials[pair].secret.reveal())}"
    return fill_text(value, credentials)
