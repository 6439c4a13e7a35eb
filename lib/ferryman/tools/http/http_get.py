"""http_get: public data from approved domains, without any credential (S0-37 … S0-43)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.catalog.tools import TOOLS
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.tools.arguments import build_request

TOOL = TOOLS["http_get"]


def parse(arguments: Mapping[str, Any]) -> OutboundRequest:
    """Return the request of a call. Raise `CallRefusedError`."""
    return build_request(TOOL, Method.GET, arguments)
