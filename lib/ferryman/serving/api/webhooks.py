"""SSRF protection of webhook URLs: each must resolve, and to public addresses alone, before a task may name it (S0-61)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ferryman.domain.http.address import ANSWERS_MAX, is_public
from ferryman.domain.http.request import RESOLVE_SECONDS
from ferryman.domain.http.url import parse_url
from ferryman.domain.problem import Problem
from ferryman.ports.gate import NameResolver


async def find_problems(urls: Sequence[str], names: NameResolver, *, owner: str) -> list[Problem]:
    """Return a problem for each of `urls` (of a valid grammar) whose host does not resolve to public addresses alone."""
    hosts = [parse_url(url).host for url in urls]
    reached = await asyncio.gather(*(_is_public(host, names, owner) for host in hosts))
    return [
        Problem(field=f"webhook_urls.{index}", message="must resolve, and to public addresses only")
        for index, good in enumerate(reached)
        if not good
    ]


async def _is_public(host: str, names: NameResolver, owner: str) -> bool:
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            addresses = await names.resolve(host, owner=owner)
    except (OSError, TimeoutError):
        return False
    return 0 < len(addresses) <= ANSWERS_MAX and all(is_public(address) for address in addresses)
