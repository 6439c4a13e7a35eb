"""Strict reading of JSON from strangers (RFC 8259, I-JSON): one meaning for a text, in linear time, within bounds."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""A string, or the rest of a text that ends within one: another search from each of its quotes would take quadratic time."""

_SIGNS = (b"[", b"{", b",")
_ROUND = bytes.maketrans(b"[]{}", b"()()")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class NotStrictJsonError(ValueError):
    """A text that is no JSON, or has no single meaning; the text of the error is our own."""


class TooManyValuesError(ValueError):
    """A JSON text with more values than are read."""


def parse_json(text: bytes, *, depth_max: int, values_max: int) -> Any:
    """Return the value of a JSON text in UTF-8.

    Raise `TooManyValuesError` before anything is read, `NotStrictJsonError` for what is no JSON: also names that come twice in
    one object, numbers that are none or too large for it, lone surrogates, and nesting beyond `depth_max`.
    """
    if has_more_values(text, values_max):
        raise TooManyValuesError
    try:
        value = json.loads(
            text.decode(), object_pairs_hook=_join_pairs, parse_constant=_refuse_constant, parse_float=_parse_float
        )
        if b"\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # fails where half of a character is alone
    except RecursionError:
        raise NotStrictJsonError(f"the body is nested more than {depth_max} deep") from None
    except NotStrictJsonError:
        raise
    except ValueError:
        raise NotStrictJsonError("the body is not JSON") from None
    if text.count(b"[") + text.count(b"{") > depth_max and is_nested_deeper(text, depth_max):
        raise NotStrictJsonError(f"the body is nested more than {depth_max} deep")
    return value


def has_more_values(text: bytes, most: int) -> bool:
    """Say whether a JSON text has more than `most` values: each of them follows one of three signs outside of every string."""
    if sum(map(text.count, _SIGNS)) < most:
        return False
    bare = _STRING.sub(b"", text)
    return 1 + sum(map(bare.count, _SIGNS)) > most


def is_nested_deeper(text: bytes, depth: int) -> bool:
    """Say whether the values of a JSON text are nested more than `depth` deep. Hostile texts take milliseconds."""
    brackets = _STRING.sub(b"", text).translate(_ROUND, _NO_BRACKETS)
    for _ in range(depth):
        if not brackets:
            return False
        brackets = brackets.replace(b"()", b"")  # the innermost level of all
    return bool(brackets)


def _join_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    joined = dict(pairs)
    if len(joined) != len(pairs):
        raise NotStrictJsonError("the body has a name twice in one object")
    return joined


def _refuse_constant(_: str) -> NoReturn:
    raise NotStrictJsonError("the body has a number that JSON does not have")


def _parse_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise NotStrictJsonError("the body has a number that is too large")
    return value
