"""Step budgets for decoding (protects against decompression bombs); counted in steps, which do not depend on the load."""

from __future__ import annotations

STEPS = 5_500_000  # For any text: enough for one compressed stream of the greatest length. A step takes some 7 ns of CPU.
SMALL = 8_192
"""Texts up to this length are also read backwards and without separators, and decoded again after every change."""

STEPS_PER_CHARACTER, STEPS_PER_CHARACTER_OF_SMALL = 48, 1_080
"""For each scan of a text: an honest small text has some eighty decoded views."""

STEPS_OF_TEXT, STEPS_OF_BYTES = 3_000, 300  # for each view, however short
STEPS_OF_CHARACTER, STEPS_OF_BYTE = 12, 1  # a character is decoded further, a byte is only searched


class NestingLimitError(Exception):
    """The text decodes to more than the budget allows; it is treated as if it held a secret."""


class StepBudget:
    """The steps for a text of `length` characters that is scanned `passes` times, whole or in parts.

    Steps are spent from `within` as well, where it is given.
    """

    def __init__(self, length: int, *, passes: int = 1, within: StepBudget | None = None) -> None:
        rate = STEPS_PER_CHARACTER_OF_SMALL if length <= SMALL else STEPS_PER_CHARACTER
        self.remaining = STEPS + rate * length * passes
        self._within = within

    def spend(self, view: str | bytes, *, further: bool = True) -> None:
        """Spend the steps of scanning `view`, and of decoding it `further` where it is text. Raise `NestingLimitError`."""
        if further and isinstance(view, str):
            self._spend(STEPS_OF_TEXT + STEPS_OF_CHARACTER * len(view))
        else:
            self._spend(STEPS_OF_BYTES + STEPS_OF_BYTE * len(view))

    def _spend(self, steps: int) -> None:
        self.remaining -= steps
        if self._within is not None:
            self._within._spend(steps)
        if self.remaining < 0:
            raise NestingLimitError
