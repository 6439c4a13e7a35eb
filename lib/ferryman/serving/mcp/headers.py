"""Headers that repeat members of the body: they must agree, or the request is refused with -32020."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from starlette.datastructures import Headers

from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.mcp_headers import BASE64_CLOSING, BASE64_OPENING, NAMED_BY, find_annotations, get_argument
from ferryman.domain.mcp_revisions import METHOD_HEADER, NAME_HEADER
from ferryman.serving.mcp.errors import McpError

_SAFE = re.compile(r"[\t\x20-\x7e]*")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def refuse_header(message: str) -> McpError:
    """Return the error of headers and body that disagree: -32020."""
    return McpError(ErrorCode.HEADER_MISMATCH, f"Header mismatch: {message}")


def get_header(headers: Headers, name: str) -> str | None:
    """Return the header's value, None where it is absent. Raise `McpError` with -32020 where it comes more than once."""
    values = headers.getlist(name)
    if len(values) > 1:
        raise refuse_header(f"the header {name} comes more than once")
    return values[0].strip(" \t") if values else None


def decode_value(name: str, value: str) -> str:
    """Return a header's value, decoded where it is Base64 with the sentinel. Raise `McpError` with -32020 for any other."""
    if not _SAFE.fullmatch(value):
        raise refuse_header(f"the header {name} has characters that a header may not have")
    if not (
        value.startswith(BASE64_OPENING)
        and value.endswith(BASE64_CLOSING)
        and len(value) >= len(BASE64_OPENING + BASE64_CLOSING)
    ):
        return value
    try:
        return base64.b64decode(value[len(BASE64_OPENING) : -len(BASE64_CLOSING)], validate=True).decode()
    except (binascii.Error, ValueError):
        raise refuse_header(f"the header {name} is not Base64 of UTF-8") from None


def check_method(headers: Headers, method: str) -> None:
    """Raise `McpError` with -32020 unless `Mcp-Method` is the body's method."""
    value = get_header(headers, METHOD_HEADER)
    if value is None:
        raise refuse_header("the header Mcp-Method is missing")
    if value != method:
        raise refuse_header("Mcp-Method is not the method of the body")


def check_name(headers: Headers, method: str, params: Mapping[str, Any]) -> None:
    """Raise `McpError` with -32020 unless `Mcp-Name` is the name, URI or task of the body, where the method has one.

    A body without it is refused by the method itself.
    """
    member = NAMED_BY.get(method)
    if member is None:
        return
    value, expected = get_header(headers, NAME_HEADER), params.get(member)
    if value is None:
        raise refuse_header("the header Mcp-Name is missing")
    if decode_value("Mcp-Name", value) != expected and isinstance(expected, str):
        raise refuse_header(f"Mcp-Name is not params.{member} of the body")


def check_parameters(headers: Headers, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Raise `McpError` with -32020 unless each `Mcp-Param-*` that `schema` annotates is the argument that it repeats."""
    for name, path in find_annotations(schema):
        label = f"Mcp-Param-{name}"
        value, argument = get_header(headers, label.lower()), get_argument(arguments, path)
        decoded = None if value is None else decode_value(label, value)
        if argument is None:
            if decoded is not None:
                raise refuse_header(f"{label} repeats an argument that is absent")
            continue
        if decoded is None:
            raise refuse_header(f"the header {label} is missing")
        if not _are_equal(decoded, argument):
            raise refuse_header(f"{label} is not the argument of the body")


def _are_equal(text: str, argument: Any) -> bool:
    if isinstance(argument, bool):
        return text == ("true" if argument else "false")
    if isinstance(argument, int | float):
        return len(text) <= 32 and _NUMBER.fullmatch(text) is not None and Decimal(text) == argument
    return bool(text == argument)
