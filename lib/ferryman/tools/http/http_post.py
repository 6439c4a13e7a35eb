"""http_post: to an approved domain, for endpoints whose secret is their URL (S0-46 … S0-52)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.catalog.tools import TOOLS
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.tools.arguments import build_request

TOOL = TOOLS["http_post"]


def parse(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`."""
    return build_request(TOOL, Method.POST, arguments)
