"""api_call: the model names the credential, the gate injects it (S0-9 … S0-19)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.catalog.tools import TOOLS
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.tools.arguments import build_request, parse_method

TOOL = TOOLS["api_call"]
METHODS = (Method.GET, Method.POST, Method.PUT, Method.DELETE)


def parse(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`; a missing credential is reported before other faults (S0-27)."""
    if arguments.get("credential") in (None, ""):
        raise CallRefusedError(refusal.MISSING_CREDENTIAL)
    method = parse_method(TOOL, arguments, METHODS)
    return build_request(TOOL, method, {**arguments, "method": method.value})
