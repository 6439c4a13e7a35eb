"""Tools that send one HTTP request, which the arguments of the call describe (S0-1): a file for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ferryman.domain.http.request import OutboundRequest
from ferryman.tools.own_files import load_own_files

PARSERS: Mapping[str, Callable[[Mapping[str, Any]], OutboundRequest]] = {
    name: module.parse for name, module in load_own_files("ferryman.tools.http").items()
}
"""Parsers of each tool's arguments into an `OutboundRequest`; they raise `CallRefusedError`."""
