"""Links to files: good for some minutes, for one version of one file, and for the API key that asked for them.

A link holds no right: it is presented together with the API key, under which it is authenticated (HMAC-SHA-256) with the
workspace and the file. So nobody else can use it or make one, and the API needs no key of its own for it and keeps nothing.
"""

from __future__ import annotations

import base64
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

LINK_LIFETIME = timedelta(minutes=15)
"""How long a link is good at most, and where nothing else is asked for."""

_MAC_BYTES = 32
_LINK = re.compile(r"[A-Za-z0-9_-]{46,700}", re.ASCII)
_PLACE = re.compile(r"([0-9]{1,12}):([!-~]{1,255})", re.ASCII)


class LinkInvalidError(Exception):
    """The link is none of this API key for this file, or its time is over. The text says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLink:
    """What a link is good for: a version of a file, until a moment in whole seconds."""

    workspace: str
    key: str
    version: str
    expires_at: datetime


def write_link(link: FileLink, api_key: str) -> str:
    """Return the link as a text for a URL, authenticated under `api_key`."""
    place = f"{int(link.expires_at.timestamp())}:{link.version}"
    return (
        base64.urlsafe_b64encode(_authenticate(link.workspace, link.key, place, api_key) + place.encode()).decode().rstrip("=")
    )


def read_link(text: str, api_key: str, *, workspace: str, key: str, now: datetime) -> FileLink:
    """Return what a link is good for. Raise `LinkInvalidError`."""
    content = _decode(text)
    place = content[_MAC_BYTES:].decode("ascii", "replace")
    match = _PLACE.fullmatch(place)
    if match is None or not hmac.compare_digest(content[:_MAC_BYTES], _authenticate(workspace, key, place, api_key)):
        raise LinkInvalidError("the link is none of this API key for this file in this workspace")
    expires_at = datetime.fromtimestamp(int(match[1]), UTC)
    if now >= expires_at:
        raise LinkInvalidError("the link's time is over; ask for another")
    return FileLink(workspace=workspace, key=key, version=match[2], expires_at=expires_at)


def _decode(text: str) -> bytes:
    if _LINK.fullmatch(text) is None:
        return b""
    try:
        content = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""
    # another spelling of the same bytes is another text, which was not given
    return content if base64.urlsafe_b64encode(content).decode().rstrip("=") == text else b""


def _authenticate(workspace: str, key: str, place: str, api_key: str) -> bytes:
    text = f"ferryman-file-link\0{workspace}\0{key}\0{place}"
    return hmac.digest(api_key.encode(), text.encode(), "sha256")
