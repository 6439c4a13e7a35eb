"""Operator models: served by the operator, at any address that speaks the Messages API, at prices of the operator's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlsplit

from ferryman.domain.problem import InvalidInputError, Problem

MODELS_MAX = 100
URL_CHARACTERS_MAX = 2_000
PRICE_MAX = Decimal(1_000_000)
KEY_PREFIX = "MODEL_KEY_"
"""How the secrets that hold keys of operator models are called: no other variable of a function begins so."""

PRICES = ("input", "output", "cache_write", "cache_read")

_NAME = re.compile(r"[a-z0-9.@-]{1,64}", re.ASCII)
_SERVED = re.compile(r"[!-~]{1,200}", re.ASCII)
_KEY = re.compile(f"{KEY_PREFIX}[A-Z0-9_]{{1,40}}", re.ASCII)
_KEY_EXPECTED = f"must be the name of a secret, never the key itself: {KEY_PREFIX} and 1 to 40 of A-Z, 0-9 and _"
_RESERVED = "scripted"
_URL_EXPECTED = f"must be an http or https URL of at most {URL_CHARACTERS_MAX} characters, without user, ? and #"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorModel:
    """A model by the `name` that tasks use; its server, at the base `url`, knows it as `served_as`.

    `price` has USD per million tokens, by kind of token; 0 is a price. `key` is the name of the secret, and of the variable,
    that holds the key which the server asks for, or None where it asks for none.
    """

    name: str
    url: str
    served_as: str
    price: Mapping[str, Decimal]
    key: str | None = None


def parse_operator_models(rows: Mapping[str, Any]) -> Mapping[str, OperatorModel]:
    """Return the models in `rows`, by name. Raise `InvalidInputError` with every problem, by field."""
    problems = [problem for name, row in rows.items() for problem in _find_problems(name, row)]
    if len(rows) > MODELS_MAX:
        problems.append(Problem("models", f"must be at most {MODELS_MAX}, are {len(rows)}"))
    if problems:
        raise InvalidInputError(problems)
    return {name: _build(name, row) for name, row in rows.items()}


def _build(name: str, row: Mapping[str, Any]) -> OperatorModel:
    price = {kind: Decimal(str(row[kind])) for kind in PRICES if kind in row}
    return OperatorModel(
        name=name, url=row["url"].rstrip("/"), served_as=row.get("model", name), price=price, key=row.get("key")
    )


def _find_problems(name: str, row: Any) -> Iterator[Problem]:
    if _NAME.fullmatch(name) is None or name == _RESERVED:
        yield Problem(name[:64], f"must have a name of at most 64 of a-z, 0-9, . @ and -, other than {_RESERVED}")
    if not isinstance(row, Mapping):
        yield Problem(name[:64], "must be an object with url, input and output")
        return
    for unknown in sorted(set(row) - {"url", "model", "key", *PRICES}):
        yield Problem(f"{name}.{unknown[:64]}", f"is not known; known are: url, model, key, {', '.join(PRICES)}")
    if not _is_base(row.get("url")):
        yield Problem(f"{name}.url", _URL_EXPECTED)
    served_as = row.get("model", name)
    if not isinstance(served_as, str) or _SERVED.fullmatch(served_as) is None:
        yield Problem(f"{name}.model", "must be the name that the server knows it by, of at most 200 visible ASCII characters")
    key = row.get("key")
    if key is not None and (not isinstance(key, str) or _KEY.fullmatch(key) is None):
        yield Problem(f"{name}.key", _KEY_EXPECTED)
    for kind in PRICES:
        if kind not in row and kind in ("input", "output"):
            yield Problem(f"{name}.{kind}", "is missing; it is USD per million tokens, and 0 is allowed")
        elif kind in row and not _is_price(row[kind]):
            yield Problem(f"{name}.{kind}", f"must be a number from 0 to {PRICE_MAX}, in USD per million tokens")


def _is_base(url: Any) -> bool:
    if not isinstance(url, str) or len(url) > URL_CHARACTERS_MAX or re.search(r"[^!-~]|\\", url):
        return False
    try:
        parts, port = urlsplit(url), urlsplit(url).port
    except ValueError:
        return False
    is_plain = parts.username is None and "?" not in url and "#" not in url and port != 0
    return parts.scheme in ("http", "https") and bool(parts.hostname) and is_plain


def _is_price(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return False
    try:
        price = Decimal(value)
    except InvalidOperation:
        return False
    return price.is_finite() and 0 <= price <= PRICE_MAX
