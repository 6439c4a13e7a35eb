"""The prompt cache: what of a request the service has read before, by the provider's rules.

A request is a sequence of blocks: tools, system, messages. Up to four of them are breakpoints (`cache_control`; the one of the
request itself makes its last block one). What comes up to a breakpoint is stored for five minutes, where it is long enough. A
request reads the longest prefix that ends at a breakpoint of its own, or at most 19 blocks before one, and was stored.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from emulator.messages.rules import list_blocks
from emulator.reading import InvalidRequestError

BREAKPOINTS_MAX = 4
LOOK_BACK = 20
"""At how many places before a breakpoint, its own included, a stored prefix is looked for."""

TOKENS_MIN = 1_024
"""A shorter prefix is not stored, and nothing says so."""

LIFE = timedelta(minutes=5)
ENTRIES_MAX = 10_000
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class CacheUse:
    """The tokens of a prompt: read from the cache, written to it, and those behind the last breakpoint."""

    read: int
    written: int
    rest: int


@dataclass(frozen=True, slots=True)
class _Prefix:
    """A request up to and with one of its blocks: its digest, its tokens, and whether it ends at a breakpoint."""

    digest: str
    tokens: int
    is_marked: bool


class PromptCache:
    """The prefixes that were stored, each until its time is over."""

    def __init__(self) -> None:
        self._ends: OrderedDict[str, datetime] = OrderedDict()

    def use(self, body: Mapping[str, Any], now: datetime) -> CacheUse:
        """Return how a request uses the cache, and store what it adds. Raise InvalidRequestError for too many breakpoints."""
        prefixes = list(_iterate_prefixes(body))
        marked = [number for number, prefix in enumerate(prefixes) if prefix.is_marked]
        if len(marked) > BREAKPOINTS_MAX:
            raise InvalidRequestError(
                f"A maximum of {BREAKPOINTS_MAX} blocks with cache_control may be provided. Found {len(marked)}."
            )
        read = self._find_longest(prefixes, marked, now)
        stored = [prefixes[number] for number in marked if prefixes[number].tokens >= TOKENS_MIN]
        for prefix in [*stored, *([read] if read else [])]:
            self._ends[prefix.digest] = now + LIFE
            self._ends.move_to_end(prefix.digest)
        while len(self._ends) > ENTRIES_MAX:
            self._ends.popitem(last=False)
        of_read = read.tokens if read else 0
        cached = max(of_read, stored[-1].tokens if stored else 0)
        return CacheUse(read=of_read, written=cached - of_read, rest=max(1, prefixes[-1].tokens - cached))

    def _find_longest(self, prefixes: Sequence[_Prefix], marked: Sequence[int], now: datetime) -> _Prefix | None:
        for number in reversed(marked):
            for prefix in reversed(prefixes[max(0, number - LOOK_BACK + 1) : number + 1]):
                if self._ends.get(prefix.digest, now) > now:
                    return prefix
        return None


def _iterate_prefixes(body: Mapping[str, Any]) -> Iterator[_Prefix]:
    hashed, characters = sha256(str(body["model"]).encode()), 0
    blocks = list(_iterate_blocks(body))
    for number, (place, block) in enumerate(blocks, 1):
        content = {name: value for name, value in block.items() if name != "cache_control"}
        text = json.dumps([place, content], sort_keys=True, ensure_ascii=False)
        hashed.update(text.encode("utf-8", "surrogatepass"))
        characters += len(text)
        is_last = number == len(blocks) and "cache_control" in body
        yield _Prefix(hashed.hexdigest(), characters // CHARACTERS_PER_TOKEN, is_last or "cache_control" in block)


def _iterate_blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the blocks with what they are part of; a text alone is a block of text."""
    for tool in body.get("tools", ()):
        yield "tool", tool
    system = body.get("system", ())
    for block in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        yield "system", block
    for number, message in enumerate(body["messages"]):
        for block in list_blocks(message):
            yield f"{message['role']} {number}", block
