"""The prompt cache of the scripted service: the provider's rules."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from emulator.messages.cache import LIFE, LOOK_BACK, CacheUse, PromptCache
from emulator.reading import InvalidRequestError
from tests.builders import START

MARK = {"cache_control": {"type": "ephemeral"}}
LONG = "a word " * 800
"""Some 1,400 tokens."""


def build_request(*texts: str, marked: set[int] = frozenset(), system: str = "", **more: Any) -> dict[str, Any]:  # type: ignore[assignment] # read only
    blocks = [{"type": "text", "text": text, **(MARK if number in marked else {})} for number, text in enumerate(texts)]
    return {"model": "m", "messages": [{"role": "user", "content": blocks}], "system": system, **more}


@pytest.fixture
def cache() -> PromptCache:
    return PromptCache()


def test_what_comes_up_to_a_breakpoint_is_written_then_read(cache: PromptCache):
    request = build_request(LONG, "and this", marked={0})
    first, again = cache.use(request, START), cache.use(request, START)
    assert (first.read, first.written, again.read, again.written) == (0, again.read, first.written, 0)
    assert again.read > 1_000
    assert first.rest == again.rest < 30


def test_without_a_breakpoint_nothing_is_stored(cache: PromptCache):
    cache.use(build_request(LONG), START)
    assert cache.use(build_request(LONG), START).read == 0


def test_the_breakpoint_of_the_request_is_at_its_last_block(cache: PromptCache):
    request = build_request(LONG, "end", **MARK)
    cache.use(request, START)
    assert cache.use(request, START).rest == 1


def test_a_short_prefix_is_not_stored(cache: PromptCache):
    request = build_request("a word", marked={0})
    assert cache.use(request, START).written == 0
    assert cache.use(request, START).read == 0


def test_a_changed_character_before_the_breakpoint_reads_nothing(cache: PromptCache):
    cache.use(build_request(LONG, marked={0}, system="Be brief."), START)
    assert cache.use(build_request(LONG, marked={0}, system="Be Brief."), START).read == 0


def test_another_model_reads_nothing(cache: PromptCache):
    cache.use(build_request(LONG, marked={0}), START)
    assert cache.use({**build_request(LONG, marked={0}), "model": "other"}, START).read == 0


@pytest.mark.parametrize(("after", "is_read"), [(LIFE - timedelta(seconds=1), True), (LIFE, False)])
def test_what_is_stored_is_kept_for_five_minutes(cache: PromptCache, after: timedelta, is_read: bool):
    cache.use(build_request(LONG, marked={0}), START)
    assert (cache.use(build_request(LONG, marked={0}), START + after).read > 0) == is_read


def test_a_use_keeps_it_for_another_five_minutes(cache: PromptCache):
    for minutes in (0, 4, 8, 12):
        use = cache.use(build_request(LONG, marked={0}), START + timedelta(minutes=minutes))
    assert use.read > 0


@pytest.mark.parametrize(("blocks", "is_read"), [(LOOK_BACK - 1, True), (LOOK_BACK, False)])
def test_a_stored_prefix_is_looked_for_twenty_blocks_back(cache: PromptCache, blocks: int, is_read: bool):
    cache.use(build_request(LONG, marked={0}), START)
    longer = build_request(LONG, *["more"] * blocks, marked={blocks})
    assert (cache.use(longer, START).read > 0) == is_read


def test_a_text_alone_is_a_block_of_text(cache: PromptCache):
    cache.use({**build_request(**MARK), "messages": [{"role": "user", "content": LONG}]}, START)
    assert cache.use(build_request(LONG, **MARK), START).read > 0


def test_a_request_has_four_breakpoints_at_most(cache: PromptCache):
    cache.use(build_request(*"abcd", marked={0, 1, 2, 3}), START)
    with pytest.raises(InvalidRequestError, match=r"maximum of 4 blocks .* Found 5"):
        cache.use(build_request(*"abcde", marked={0, 1, 2, 3, 4}), START)


def test_all_tokens_are_counted_once(cache: PromptCache):
    request = build_request(LONG, "and this", marked={0, 1})
    uses = [cache.use(request, START) for _ in range(2)]
    assert uses[0] == CacheUse(read=0, written=uses[1].read, rest=uses[1].rest)
