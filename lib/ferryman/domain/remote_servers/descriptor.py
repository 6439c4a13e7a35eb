"""The descriptor of a tool: all that an MCP server sent of it, as canonical JSON, and the digest by which it is pinned."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ferryman.domain.receipts.receipt import canonicalize

DESCRIPTOR_BYTES_MAX = 65_536
"""One descriptor, as canonical JSON."""

LISTING_BYTES_MAX = 2_097_152
"""All descriptors of a server."""

TOOLS_PER_SERVER_MAX = 256


def write_descriptor(raw: Mapping[str, Any]) -> str:
    """Return all that a server sent of a tool as canonical JSON: its members sorted, without spaces, in ASCII.

    Nothing is left out, also not what no revision of the protocol knows. Raise ValueError for a number that is not finite,
    RecursionError for what is nested too deep.
    """
    return canonicalize(raw).decode("ascii")


def digest_descriptor(raw: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the descriptor as `write_descriptor` writes it, in hexadecimal digits."""
    return digest_text(write_descriptor(raw))


def digest_text(text: str) -> str:
    """Return the digest of a descriptor that `write_descriptor` has written."""
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def read_descriptor(text: str) -> dict[str, Any]:
    """Return the descriptor that `write_descriptor` has written."""
    descriptor: dict[str, Any] = json.loads(text)
    return descriptor
