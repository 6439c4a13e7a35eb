"""Webhook URLs at the door: each must resolve, and to public addresses alone, before a task may name it (S0-61)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ferryman.domain.address import ANSWERS_MAX, public
from ferryman.domain.http import RESOLVE_SECONDS
from ferryman.domain.problem import Problem
from ferryman.domain.url import parse
from ferryman.ports import Names


async def problems(urls: Sequence[str], names: Names) -> list[Problem]:
    """What is wrong with where `urls` (each of a valid grammar) lead; a name that does not answer is refused."""
    hosts = [parse(url).host for url in urls]
    reached = await asyncio.gather(*(_public(host, names) for host in hosts))
    return [
        Problem(field=f"webhook_urls.{index}", message="must resolve, and to public addresses only")
        for index, good in enumerate(reached)
        if not good
    ]


async def _public(host: str, names: Names) -> bool:
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            addresses = await names.resolve(host)
    except (OSError, TimeoutError):
        return False
    return 0 < len(addresses) <= ANSWERS_MAX and all(public(address) for address in addresses)
