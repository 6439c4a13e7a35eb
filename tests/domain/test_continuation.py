"""Continuations: written, read again, and bounded."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ferryman.domain.calls.continuation import (
    BYTES_MAX,
    STATE_CHARACTERS_MAX,
    WORK_ID_CHARACTERS_MAX,
    Continuation,
    ServerQuestion,
    decode_continuation,
    encode_continuation,
)

QUESTION = ServerQuestion(key="k", mode="form", message="Which one?", schema={"type": "object", "properties": {}})
WHOLE = Continuation(
    server="mcp_1",
    fingerprint="f",
    work="task-1",
    state="s",
    questions=(QUESTION, ServerQuestion(key="u", mode="url", message="Open it", url="https://a.example/")),
    approval="appr_1",
    digest="d",
    answered=("x",),
    until=datetime(2026, 11, 29, tzinfo=UTC),
    failures=1,
    rounds=2,
)
LONG = ServerQuestion(key="k", mode="form", message="x" * BYTES_MAX)


@pytest.mark.parametrize("continuation", [WHOLE, Continuation(server="mcp_1", fingerprint="f")])
def test_what_was_written_is_read_again(continuation: Continuation) -> None:
    assert decode_continuation(encode_continuation(continuation)) == continuation


@pytest.mark.parametrize(
    "continuation",
    [
        Continuation(server="s", fingerprint="f", state="x" * (STATE_CHARACTERS_MAX + 1)),
        Continuation(server="s", fingerprint="f", work="x" * (WORK_ID_CHARACTERS_MAX + 1)),
        Continuation(server="s", fingerprint="f", questions=(LONG,)),
    ],
)
def test_what_is_too_long_is_not_kept(continuation: Continuation) -> None:
    with pytest.raises(ValueError, match=r"too long|takes more"):
        encode_continuation(continuation)


@pytest.mark.parametrize("encoded", [b"", b"[]", b"{}", b'{"server": "s"}', b"\xff", b"[" * 100_000])
def test_anything_else_is_no_continuation(encoded: bytes) -> None:
    with pytest.raises(ValueError):
        decode_continuation(encoded)
