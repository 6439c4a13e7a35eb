"""Long texts of others as Markdown: off the event loop, and shown all the same where that takes too long."""

from __future__ import annotations

import os

import pytest

from ferryman.serving.console import conversation_view
from ferryman.serving.console.conversation_view import render_texts

TABLE = "|".join("a" * 200) + "\n" + "|".join("-" * 200) + "\n" + "a\n" * 60
"""Every line of it has 200 cells."""


def render_process(texts: list[str]) -> list[str]:
    return [str(os.getpid()) for _ in texts]


def exceed_budget(_: list[str]) -> list[str]:
    raise MemoryError


def fail(_: list[str]) -> list[str]:
    raise ValueError


@pytest.mark.parametrize(("text", "is_here"), [("short", True), ("x" * 2_000, False), (TABLE, False)])
async def test_what_may_take_long_is_rendered_in_another_process(
    text: str, is_here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation_view, "render_all", render_process)
    assert (await render_texts("ann", [text]) == [str(os.getpid())]) == is_here


@pytest.mark.parametrize("failure", [exceed_budget, fail])
async def test_what_cannot_be_rendered_is_shown_as_it_is(failure: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation_view, "render_all", failure)
    (markup,) = await render_texts("ann", ["<b>\u202e" + "x" * 2_000])
    assert markup.startswith("<pre>&lt;b&gt;⟨U+202E⟩xxx")
