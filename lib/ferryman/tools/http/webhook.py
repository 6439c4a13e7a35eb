"""webhook: posts to the URLs that the task registered, and to nothing else (S0-54 … S0-64)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.catalog.tools import TOOLS
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.tools.arguments import build_request

TOOL = TOOLS["webhook"]


def parse(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`."""
    return build_request(TOOL, Method.POST, arguments)
