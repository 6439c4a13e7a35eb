"""The turn under way is shown while the model writes it: scanned where there is a secret, and replaced where need be."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.conversations.live import LiveBlock, LiveTurn, is_continued, locate_end
from ferryman.domain.conversations.window import WINDOW_CHARACTERS_MAX
from ferryman.domain.executions.message import Prompt, Reply
from ferryman.inmemory.model import ScriptedModel, write_word_by_word
from ferryman.loop.live import STORE_S
from ferryman.loop.run import deliver
from ferryman.ports.errors import UnavailableError
from ferryman.ports.model import ReplyWatcher
from tests.contracts.values import build_sealed
from tests.loop.conftest import KEY, Stage, fetches, redacted, says

TURNS = 20
"""How many turns of the event loop a word takes: more than its way to the audience and to the store."""

LONG = "word " * 100


class Typist(ScriptedModel):
    """A model that writes a word at a time, and breaks off where its script has an error behind a reply."""

    async def reply(self, prompt: Prompt, *, watcher: ReplyWatcher | None = None) -> Reply:
        reply = await super().reply(prompt)
        for delta in write_word_by_word(reply.content) if watcher is not None else ():
            watcher.add(delta)
            for _ in range(TURNS):
                await asyncio.sleep(0)
        if self._script and isinstance(self._script[0], Exception):
            raise self._script.pop(0)
        return reply


class Crowd:
    """`ports.Audience`: what it was shown, and the store at that time."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.views: list[LiveTurn] = []
        self.stored: list[LiveTurn | None] = []
        self.commits: list[int] = []
        self.has_left = False

    def show(self, turn: LiveTurn) -> None:
        self.views.append(turn)
        self.stored.append(self._stage.memory.live.get("e"))

    def note_commit(self, event: int) -> None:
        self.commits.append(event)

    @property
    def texts(self) -> list[str]:
        return [turn.blocks[-1].text for turn in self.views]


@pytest.fixture
def crowd(stage: Stage) -> Crowd:
    stage.pause = lambda _: asyncio.sleep(0)
    return Crowd(stage)


def guard(stage: Stage) -> None:
    """Give the task a credential."""
    stage.task(integrations=("github",))
    stage.memory.credentials["t"] = {"KEY": build_sealed("KEY")}


async def watch(stage: Stage, crowd: Crowd | None, *script: Reply | Exception) -> None:
    stage.model = Typist(script)
    await deliver(stage.deps(), "e", slice=stage.execution.slice, holder="h", audience=crowd)


async def test_a_text_is_shown_as_it_grows_and_then_committed(stage: Stage, crowd: Crowd) -> None:
    await watch(stage, crowd, says("In Harwich today."))
    assert crowd.texts == ["", "In ", "In Harwich ", "In Harwich today."]
    (step,) = stage.memory.steps["e"].values()
    assert ({turn.event for turn in crowd.views}, crowd.commits) == ({step.event}, [step.event - 1, step.event])


async def test_the_arguments_of_a_call_are_shown_as_they_form(stage: Stage, crowd: Crowd) -> None:
    await watch(stage, crowd, fetches(1), says("Done."))
    assert crowd.views[2].blocks == (LiveBlock('{"url": "https://api.coingecko.com/0"}', "toolu_0", "http_get"),)
    assert crowd.views[-1].event == crowd.commits[-1] > crowd.views[0].event


async def test_nobody_is_told_of_a_task_that_nobody_watches(stage: Stage) -> None:
    stage.model = Typist([says("In Harwich.")])
    await deliver(stage.deps(), "e", slice=0, holder="h")
    assert stage.memory.live == {}


async def test_it_is_stored_while_it_grows(stage: Stage, crowd: Crowd) -> None:
    await watch(stage, crowd, says("In Harwich today."))
    stored = [turn for turn in crowd.stored if turn is not None]
    assert stored
    assert all(is_continued(crowd.views[-1].blocks, locate_end(turn.blocks)) for turn in stored)


async def test_what_is_stored_is_old_once_it_is_committed(stage: Stage, crowd: Crowd) -> None:
    await watch(stage, crowd, says("In Harwich today."))
    assert stage.memory.live["e"].event <= stage.execution.events


async def test_with_a_secret_in_the_policy_the_end_is_held_back(stage: Stage, crowd: Crowd) -> None:
    guard(stage)
    await watch(stage, crowd, says(LONG))
    assert crowd.texts[-2] == LONG[: -4 * len(KEY)]
    assert crowd.texts[-1] == LONG


async def test_no_part_of_a_key_is_shown(stage: Stage, crowd: Crowd) -> None:
    guard(stage)
    stage.on_scan = redacted
    spread = " ".join(KEY[start : start + 6] for start in range(0, len(KEY), 6))
    await watch(stage, crowd, says(f"{LONG} {KEY} {LONG}"))
    assert not [text for text in crowd.texts if any(part in text for part in spread.split())]
    assert crowd.texts[-1] == f"{LONG} [redacted:KEY] {LONG}"


async def test_what_only_the_whole_scan_finds_is_replaced_before_it_is_stored(stage: Stage, crowd: Crowd) -> None:
    guard(stage)

    def redact_at_the_end(content: Sequence[Any]) -> Sequence[Any]:
        return [{"type": "text", "text": "[redacted:KEY]"}] if "the end" in str(content) else content

    stage.on_scan = redact_at_the_end
    await watch(stage, crowd, says(f"{LONG}the end"))
    assert crowd.texts[-2].startswith("word word")
    assert crowd.texts[-1] == "[redacted:KEY]"
    assert stage.memory.live == {}


async def test_a_turn_that_cannot_be_scanned_is_shown_once_it_is_committed(stage: Stage, crowd: Crowd) -> None:
    guard(stage)
    text = f"{'w' * WINDOW_CHARACTERS_MAX} and {LONG}"
    await watch(stage, crowd, says(text))
    assert crowd.texts == ["", text]
    assert "window.too_long" in str(stage.log.lines)


async def test_for_the_store_alone_it_is_scanned_as_often_as_it_is_stored(stage: Stage) -> None:
    guard(stage)
    await watch(stage, None, UnavailableError("away"))
    stage.memory.executions["e"] = replace(stage.execution, conversation="c", answer=2)
    pauses: Counter[float] = Counter()

    async def pause(seconds: float) -> None:
        pauses[seconds] += 1
        await asyncio.sleep(0)

    stage.pause = pause
    await watch(stage, None, says("In Harwich today."))
    assert set(pauses) == {STORE_S}


async def test_what_is_lost_is_not_kept(stage: Stage, crowd: Crowd) -> None:
    await watch(stage, crowd, says("In Harwich today."), UnavailableError("broke off", lost=True))
    assert any(crowd.stored)
    assert stage.memory.live == {}


async def test_what_a_delivery_that_died_has_left_is_forgotten(stage: Stage) -> None:
    await watch(stage, None, UnavailableError("away"))
    stage.memory.executions["e"] = replace(stage.execution, conversation="c", answer=2)
    stage.memory.live["e"] = LiveTurn(event=2, blocks=(LiveBlock(KEY),))
    await watch(stage, None, UnavailableError("away"))
    assert stage.memory.live == {}


async def test_once_the_audience_has_left_the_next_slice_goes_on(stage: Stage, crowd: Crowd) -> None:
    crowd.has_left = True
    await watch(stage, crowd, says("In Harwich."))
    assert [(item.execution, item.slice, item.after.total_seconds()) for item in stage.queue.waiting] == [("e", 1, 0)]
    assert stage.execution.lease is not None
    assert stage.execution.lease.expires_at <= stage.clock.now()


async def test_it_leaves_amid_a_turn_which_is_committed_first(stage: Stage, crowd: Crowd) -> None:
    crowd.note_commit = lambda event: setattr(crowd, "has_left", event > 1)  # type: ignore[method-assign]
    await watch(stage, crowd, fetches(1), says("never asked"))
    assert (len(stage.memory.steps["e"]), stage.model.remaining, stage.execution.slice) == (1, 1, 1)
