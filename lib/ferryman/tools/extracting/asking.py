"""The quarantined model: asked for a value, at most twice, within the credits that are left, and stopped by a stop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.executions.execution import Execution, ExecutionSetup
from ferryman.domain.executions.message import Prompt, Reply
from ferryman.domain.extraction.answer import ExtractionAnswerError, ValueNotFoundError, read_answer
from ferryman.domain.extraction.prompt import ExtractionSource, ask_again, build_messages
from ferryman.halting import HaltWatch
from ferryman.ports.errors import HaltedError, RejectedError
from ferryman.ports.model import Model
from ferryman.ports.price import TokenPrice
from ferryman.tools.extracting.spending import ExtractionSpending

ATTEMPTS_MAX = 2
"""How often the quarantined model is asked for one value: a wrong answer is asked for again once."""

QUOTED_CHARACTERS_MAX = 2_000
"""How much of a wrong answer is shown to who is asked for another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionRequest:
    """What is looked for in a text, of which schema, and within how many seconds."""

    question: str
    schema: Mapping[str, Any]
    source: ExtractionSource
    within_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedModel:
    """Asks the model of an execution about a text. `halt_watch` breaks it off where a switch or a cancel stops the execution;
    without it an answer is waited for."""

    model: Model
    halt_watch: HaltWatch | None = None

    async def ask(
        self, execution: Execution, opening: ExecutionSetup, price: TokenPrice, request: ExtractionRequest
    ) -> KeylessAnswer:
        """Return the value as JSON, or why there is none, with what it has used.

        Raise `UnavailableError` where the model cannot answer now: nothing is charged then.
        """
        available = execution.credits_reserved - execution.credits_used
        spending = ExtractionSpending(available=available, price=price, source=request.source)
        try:
            async with asyncio.timeout(request.within_s):
                return await self._ask(execution, opening, request, spending)
        except TimeoutError:
            return spending.refuse(refusal.report_timeout(request.within_s), is_lost=True)
        except HaltedError as halted:
            return spending.refuse(refusal.HALTED, is_lost=halted.lost)
        except RejectedError as rejected:
            return spending.refuse(refusal.NOT_EXTRACTED, is_lost=rejected.lost)

    async def _ask(
        self, execution: Execution, opening: ExecutionSetup, request: ExtractionRequest, spending: ExtractionSpending
    ) -> KeylessAnswer:
        messages = build_messages(request.question, request.schema, request.source)
        for _ in range(ATTEMPTS_MAX):
            prompt = spending.limit_prompt(opening, messages)
            if prompt is None:
                return spending.refuse(refusal.NO_CREDITS)
            reply = await self._reply(execution, prompt)
            spending.charge(reply.usage)
            text = reply.text if reply.stop_reason == "end_turn" else ""
            try:
                value = read_answer(text, request.schema)
            except ValueNotFoundError:
                return spending.refuse(refusal.VALUE_NOT_FOUND)
            except ExtractionAnswerError as wrong:
                messages = ask_again(messages, text[:QUOTED_CHARACTERS_MAX], str(wrong))
                continue
            return KeylessAnswer(json.dumps(value, ensure_ascii=False), is_json=True, model_use=spending.to_use())
        return spending.refuse(refusal.NOT_EXTRACTED)

    async def _reply(self, execution: Execution, prompt: Prompt) -> Reply:
        asking = self.model.reply(prompt)
        if self.halt_watch is None:
            return await asking
        return await self.halt_watch.run(asking, execution.owner, created=execution.created_at, cancellable=execution.id)
