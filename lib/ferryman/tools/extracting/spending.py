"""What the model calls of one extraction cost: each within the credits that are left, and a reply that is lost at its worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal

from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.calls.model_use import ModelUse
from ferryman.domain.calls.refusal import Refusal
from ferryman.domain.executions.execution import ExecutionSetup
from ferryman.domain.executions.message import Message, Prompt, canonicalize_prompt
from ferryman.domain.executions.usage import Usage
from ferryman.domain.extraction.prompt import SYSTEM, ExtractionSource
from ferryman.ports.price import TokenPrice

OUTPUT_TOKENS_MAX = 8_000
OUTPUT_TOKENS_MIN = 256
NOTHING = Decimal(0)


@dataclass(slots=True, kw_only=True)
class ExtractionSpending:
    """What the model calls have cost so far, of the credits `available` before them; `worst` is what a call under way may."""

    available: Decimal
    price: TokenPrice
    source: ExtractionSource
    calls: int = 0
    credits: Decimal = NOTHING
    worst: Decimal = NOTHING
    usage: Usage = field(default_factory=Usage)

    def limit_prompt(self, opening: ExecutionSetup, messages: Sequence[Message]) -> Prompt | None:
        """Return the prompt, with as many tokens for its answer as can be paid for; None where too few can."""
        remaining = self.available - self.credits
        size = len(canonicalize_prompt(SYSTEM, (), messages))
        tokens = min(OUTPUT_TOKENS_MAX, self.price.count_affordable_tokens(remaining, prompt_bytes=size))
        if tokens < OUTPUT_TOKENS_MIN:
            return None
        self.calls += 1
        self.worst = min(remaining, self.price.compute_worst_case(prompt_bytes=size, output_tokens=tokens))
        return Prompt(model=opening.model, system=SYSTEM, messages=messages, max_tokens=tokens, temperature=opening.temperature)

    def charge(self, usage: Usage) -> None:
        """Take the cost of a reply: never more than is left."""
        self.usage += usage
        self.credits += min(self.price.compute_credits(usage), self.available - self.credits)
        self.worst = NOTHING

    def refuse(self, reason: Refusal, *, is_lost: bool = False) -> KeylessAnswer:
        """Return why there is no value; a reply that was lost may have cost its worst case, which is charged."""
        if is_lost:
            self.credits += self.worst
        return KeylessAnswer(reason.message, reason.reason, model_use=self.to_use())

    def to_use(self) -> ModelUse | None:
        """Return what was used; None where no model was asked."""
        if not self.calls:
            return None
        read, characters = len(self.source.text), self.source.characters
        return ModelUse(calls=self.calls, credits=self.credits, characters=characters, read=read, **asdict(self.usage))
