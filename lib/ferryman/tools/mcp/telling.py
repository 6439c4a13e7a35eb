"""Listings that tell a credential of their server: such a tool is refused, and its descriptor is not stored."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ferryman.domain.credentials.credential import Credential
from ferryman.tools.mcp.judging import Descriptor, Refusal
from ferryman.tools.mcp.listing import ServerListing
from ferryman.tools.prepared_call import Redactor

TELLS = "its descriptor holds a credential of the server"
GROUP_CHARACTERS = 60_000
"""So much of a listing is scanned at once: what has no credential, which is nearly all, takes few scans."""


async def remove_credentials(
    redact: Redactor, owner: str, credentials: Collection[Credential], listing: ServerListing
) -> ServerListing:
    """Return the listing without what holds one of `credentials` in any spelling that the scanner knows.

    A tool whose descriptor does is refused, and left out altogether where its name does; other texts are redacted. Raise
    `CallRefusedError` where a scan takes more than its budget.
    """
    if not credentials:
        return listing

    async def clean(text: str) -> str:
        return await redact(owner, credentials, text)

    tools: list[Descriptor] = []
    refused: list[Refusal] = []
    for group in _group(listing.tools):
        text = _write([raw for _, raw in group])
        if await clean(text) == text:
            tools += group
            continue
        for name, raw in group:
            text = _write(raw)
            if await clean(text) == text:
                tools.append((name, raw))
            elif await clean(name) == name:
                refused.append((name, TELLS))
    names = _write([name for name, _ in listing.refused])
    if await clean(names) == names:
        refused += listing.refused
    info = listing.info
    if info is not None:
        name, title, version = [await clean(text) for text in (info.name, info.title, info.version)]
        info = replace(info, name=name, title=title, version=version)
    return replace(listing, tools=tools, refused=refused, info=info, instructions=await clean(listing.instructions))


def _group(tools: Sequence[Descriptor]) -> Iterator[list[Descriptor]]:
    group: list[Descriptor] = []
    size = 0
    for name, raw in tools:
        length = len(_write(raw))
        if group and size + length > GROUP_CHARACTERS:
            yield group
            group, size = [], 0
        group.append((name, raw))
        size += length
    if group:
        yield group


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
