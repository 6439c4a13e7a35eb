"""The turn under way, shown while the model writes it: to who watches this delivery, and about once a second to the store.

Without credentials in the policy it is shown as it comes. With them a key holder scans it in windows, and holds its end back;
what only the scan of the whole turn finds is replaced before the turn is stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from ferryman.catalog.tools import holds_secrets
from ferryman.domain.conversations.live import LiveBlock, LiveTurn, is_continued, locate_end
from ferryman.domain.conversations.window import WINDOW_CHARACTERS_MAX
from ferryman.domain.conversations.writing import WrittenTurn, render_blocks
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import STOPPED, Execution
from ferryman.domain.executions.message import Block, Prompt, Reply, ReplyDelta
from ferryman.domain.executions.usage import Usage
from ferryman.domain.stale import StaleError
from ferryman.loop.dependencies import LoopDependencies
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.live import Audience

BATCH_S = 0.1
"""How long what is written waits for more of it, in seconds, before both are shown together."""

STORE_S = 1.0
"""How often a turn that grows is stored, in seconds: one that takes less is not stored before its commit."""

STORED_CHARACTERS_MAX = 200_000
"""Of a turn that is not committed: one document holds them, whatever characters they are."""


UNREAD_TOKENS = 256
"""Tokens that the model may have written of a reply that was stopped and that had not come yet: some seconds of writing."""


class LiveWriter:
    """`ports.ReplyWatcher` of one reply: `turn` is what is shown of it."""

    def __init__(self, deps: LoopDependencies, execution: Execution, audience: Audience | None) -> None:
        self._deps, self._execution, self._audience = deps, execution, audience
        self._is_scanned = execution.policy is None or holds_secrets(execution.policy)
        self._written = WrittenTurn(is_scanned=self._is_scanned)
        self._has_grown = asyncio.Event()
        self._stored: LiveTurn | None = None
        self._usage, self._characters = Usage(), 0
        self.turn = LiveTurn(event=execution.events + 1)

    def add(self, delta: ReplyDelta) -> None:
        """Take what the model has just written."""
        self._written.add(delta)
        self._has_grown.set()

    def break_off(self, usage: Usage, characters: int) -> None:
        """Take how much there is of a reply that is broken off."""
        self._usage, self._characters = usage, characters

    def stop(self, prompt: Prompt, *, prompt_tokens: int) -> Reply:
        """Return the turn of a reply that a person stopped: its texts as far as they came, and no call.

        Its tokens are what the provider has counted, and what may have been written beyond that: a token has a character at
        least. Before the provider has counted any, the prompt's are the `prompt_tokens`.
        """
        counted = self._usage if self._usage != Usage() else Usage(input_tokens=prompt_tokens)
        output = max(counted.output_tokens, self._characters) + UNREAD_TOKENS
        content = tuple({"type": "text", "text": text} for text in self._written.list_texts())
        usage = replace(counted, output_tokens=min(prompt.max_tokens, output))
        return Reply(content=content, stop_reason=STOPPED, usage=usage)

    async def conclude(self, content: Sequence[Block], *, is_clean: bool) -> None:
        """Show the rest of the reply, of which the scan of the whole turn has left `content`: all of it where it `is_clean`.

        What was shown and is no beginning of it is replaced, and forgotten where it was stored. Raise `StaleError` or
        `UnavailableError`.
        """
        if is_clean:
            self._written.decide_all()
            self._show(self._written.read())
            return
        blocks = render_blocks(content)
        if not is_continued(blocks, locate_end(self.turn.blocks)):
            self._deps.log("turn.replaced", execution=self._execution.id, severity="WARNING")
            await self.forget()
        self._show(blocks)

    async def forget(self) -> None:
        """Delete what was stored, which no scan of the whole turn has passed. Raise `StaleError` or `UnavailableError`."""
        if self._stored is not None:
            await self._deps.executions.show(self._execution, None, now=self._deps.clock.now())
            self._stored = None

    async def show_batches(self) -> None:
        """Show what is written, in batches, until cancelled; or until it cannot be scanned, and is shown once committed."""
        while True:
            await self._has_grown.wait()
            self._has_grown.clear()
            if not await self._decide():
                return
            self._show(self._written.read())
            # where nobody watches this delivery, it is for the store alone
            await self._deps.pause(STORE_S if self._audience is None else BATCH_S)

    async def store_often(self) -> None:
        """Store what is shown, as often as `STORE_S` says, until cancelled."""
        while True:
            await self._deps.pause(STORE_S)
            turn = self.turn
            if turn is self._stored or sum(len(block.text) for block in turn.blocks) > STORED_CHARACTERS_MAX:
                continue
            storing = asyncio.ensure_future(self._store(turn))
            try:
                await asyncio.shield(storing)
            except asyncio.CancelledError:
                await storing  # not beside the commit that follows
                raise

    async def _store(self, turn: LiveTurn) -> None:
        self._stored = turn  # it may be there, however its storing ends
        try:
            await self._deps.executions.show(self._execution, turn, now=self._deps.clock.now())
        except StaleError:
            return  # the next commit tells
        except UnavailableError as error:
            self._deps.log("live.not_stored", execution=self._execution.id, reason=str(error), severity="WARNING")

    async def _decide(self) -> bool:
        """Decide what may be shown of what is written. Return whether more can be decided later."""
        if not self._is_scanned:
            self._written.decide_all()
            return True
        texts = self._written.list_undecided()
        if sum(map(len, texts)) > WINDOW_CHARACTERS_MAX:
            self._deps.log("window.too_long", execution=self._execution.id, severity="WARNING")
            return False
        try:
            self._written.decide(await self._deps.scanner.scan_window(self._execution, texts))
        except UnavailableError:
            self._has_grown.set()  # it is scanned again, with what has come since
        except (RejectedError, StaleError) as error:
            fault = type(error).__name__
            self._deps.log("window.not_scanned", execution=self._execution.id, reason=fault, severity="WARNING")
            return False
        return True

    def _show(self, blocks: tuple[LiveBlock, ...]) -> None:
        if blocks != self.turn.blocks:
            self.turn = replace(self.turn, blocks=blocks)
            if self._audience is not None:
                self._audience.show(self.turn)


@asynccontextmanager
async def write_live(
    deps: LoopDependencies, execution: Execution, audience: Audience | None, *, is_shown: bool = True
) -> AsyncIterator[LiveWriter | None]:
    """Yield what a reply is written to, while it is shown; None where nobody watches one: in no chat, and no stream.

    One that is not to be shown, which is no part of an answer, has none either.

    A reply that never becomes a turn is forgotten; where that fails, the next delivery does it.
    """
    if not is_shown or (audience is None and not execution.answer):
        yield None
        return
    writer = LiveWriter(deps, execution, audience)
    tasks = [asyncio.ensure_future(writer.show_batches()), asyncio.ensure_future(writer.store_often())]
    try:
        yield writer
    except Exception:
        with suppress(StaleError, UnavailableError):
            await writer.forget()
        raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
