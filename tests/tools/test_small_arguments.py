"""Which arguments are parsed on the event loop: so few and so short ones that parsing them cannot stop another owner's call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman import offload
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.json_tree import walk
from ferryman.tools.arguments import SMALL_CHARACTERS, SMALL_VALUES, is_small, parse_builtin
from ferryman.tools.http import PARSERS

CALL = {"method": "POST", "url": "https://a.test/", "credential": "KEY"}
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("x" * (SMALL_CHARACTERS // 2))
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
MANY = st.integers(0, 2 * SMALL_VALUES).map(lambda count: [0] * count)


def nest(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = {"a": value}
    return value


@given(st.dictionaries(st.text(), VALUES | MANY))
def test_small_arguments_have_few_values_and_few_characters(arguments):
    values = list(walk(arguments))
    characters = sum(len(part) for path, value in values for part in (value, *path[-1:]) if isinstance(part, str))
    assert is_small(arguments) == (
        len(values) <= SMALL_VALUES + 1
        and characters <= SMALL_CHARACTERS
        and all(not isinstance(value, int) or abs(value) < 2**64 for _, value in values)
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"a": [0] * (SMALL_VALUES + 1)}, id="values"),
        pytest.param({"a": "x" * (SMALL_CHARACTERS + 1)}, id="characters of a value"),
        pytest.param({"x" * (SMALL_CHARACTERS + 1): 1}, id="characters of a name"),
        pytest.param({"a": 1 << 64}, id="digits"),
        pytest.param(nest(SMALL_VALUES + 1), id="depth"),
    ],
)
def test_arguments_with_too_many_are_not_small(body):
    assert not is_small({**CALL, "body": body})


def test_an_ordinary_call_has_small_arguments():
    assert is_small({**CALL, "body": {"note": "x" * 900, "items": list(range(20))}})


async def test_large_arguments_wait_for_a_worker_and_small_ones_do_not(monkeypatch: pytest.MonkeyPatch):
    busy = offload.Budget(cpu_s=1.0, wall_s=0.0, memory_bytes=offload.TEXT.memory_bytes)
    monkeypatch.setattr(offload, "TEXT", busy)  # no worker has any time
    assert (await parse_builtin("o", "api_call", PARSERS["api_call"], CALL)).url == "https://a.test/"
    with pytest.raises(CallRefusedError, match="simple enough to be read"):
        await parse_builtin("o", "api_call", PARSERS["api_call"], {**CALL, "body": {"a": [0] * 300}})


async def test_a_fault_in_small_arguments_is_refused_as_in_large_ones():
    for body in ([1], [1] * 300):
        with pytest.raises(CallRefusedError) as refused:
            await asyncio.wait_for(parse_builtin("o", "api_call", PARSERS["api_call"], {**CALL, "body": body}), 30)
        assert refused.value.refusal.message == "Error: 'body' for api_call must be an object"
