"""Request state: what a server remembers between an `input_required` and the retry, signed, in the client's hands.

It is bound to the caller, the method and its parameters, and expires. It may be sent more than once: what must happen only once
is held to that by a store.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from ferryman.serving.mcp.errors import refuse_params
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.signing import InvalidSignatureError, sign, verify

PURPOSE = "ferryman mcp request state 1"
LIFETIME = timedelta(hours=1)
_OF_THE_RETRY = frozenset(("_meta", "inputResponses", "requestState"))


def sign_state(
    exchange: McpExchange, value: Mapping[str, Any], *, keys: Sequence[bytes], now: datetime, lifetime: timedelta = LIFETIME
) -> str:
    """Return the state of `exchange`, for `InputRequired`: `value` can be read by the client and changed by nobody.

    Raise ValueError where it would be longer than `signing.BYTES_MAX`.
    """
    return sign(keys, PURPOSE, value, _bind(exchange), until=now + lifetime)


def verify_state(exchange: McpExchange, *, keys: Sequence[bytes], now: datetime) -> dict[str, Any] | None:
    """Return the value of the state that the client sent back, None where it sent none.

    Raise `McpError` with -32602 for a state that was not signed for this caller and this request, or is too old.
    """
    if exchange.request_state is None:
        return None
    try:
        return verify(keys, PURPOSE, exchange.request_state, _bind(exchange), now=now)
    except InvalidSignatureError:
        raise refuse_params("requestState is not one of this request, or has expired: send the request without it") from None


def _bind(exchange: McpExchange) -> tuple[str, str, str]:
    salient = {name: value for name, value in exchange.params.items() if name not in _OF_THE_RETRY}
    digest = hashlib.sha256(json.dumps(salient, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    return exchange.principal, exchange.method, digest
