"""Budget: how much of what a text unfolds into is looked at. Counted in steps, which are the same on a busy machine."""

from __future__ import annotations

STEPS = 5_500_000
"""For any text: as many as one compressed stream takes that is as long as may be skimmed. A step takes some 7 ns of CPU."""

SMALL = 8_192
"""Texts up to this length are also looked at backwards and without their separators, and decoded anew after every change."""

STEPS_PER_CHARACTER, STEPS_PER_CHARACTER_OF_SMALL = 48, 1_080
"""For each time that a text is looked through: an honest small one is decoded some eighty times over."""

STEPS_OF_TEXT, STEPS_OF_BYTES = 3_000, 300
"""For each view, however short."""

STEPS_OF_CHARACTER, STEPS_OF_BYTE = 12, 1
"""A character is decoded further, a byte is only searched."""


class NestingLimitError(Exception):
    """The text unfolds into more than may be looked through; it is treated as if it held a secret."""


class StepBudget:
    """What may still be spent on a text of `length` characters that is looked through `passes` times, whole or in parts.

    `within`: what is spent counts there too, and may not be more than is left there.
    """

    def __init__(self, length: int, *, passes: int = 1, within: StepBudget | None = None) -> None:
        each = STEPS_PER_CHARACTER_OF_SMALL if length <= SMALL else STEPS_PER_CHARACTER
        self.left = STEPS + each * length * passes
        self._within = within

    def spend(self, view: str | bytes, *, further: bool = True) -> None:
        """Pay for looking through `view`, and decoding it `further` where it is text. Raise `NestingLimitError`."""
        if further and isinstance(view, str):
            self._spend(STEPS_OF_TEXT + STEPS_OF_CHARACTER * len(view))
        else:
            self._spend(STEPS_OF_BYTES + STEPS_OF_BYTE * len(view))

    def _spend(self, steps: int) -> None:
        self.left -= steps
        if self._within is not None:
            self._within._spend(steps)
        if self.left < 0:
            raise NestingLimitError
