"""What a soak did and found, in figures, and as an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx

from ferryman.client import ApiError
from tests.campaigns.isolation.live import LiveResults

BREAKS = (ApiError, httpx.TransportError, TimeoutError, AssertionError)
"""What a stack does that does not work: it refuses, does not answer in time, or ends an execution otherwise than well."""


CROSSED, BROKEN, SLOW = 1, 2, 3
"""Exit codes."""


@dataclass(kw_only=True)
class Soaked:
    """What was done and found: `crossed` came from an owner to another, `broken` is why it broke off, `slow` what took long."""

    executions: int = 0
    owners: int = 0
    attempts: LiveResults = field(default_factory=LiveResults)
    crossed: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)

    @property
    def has_ended(self) -> bool:
        """Whether there is no use in going on."""
        return bool(self.crossed or self.attempts.succeeded or self.attempts.disclosures or self.broken)

    def note_break(self, what: str, error: BaseException) -> None:
        """Note that something broke off."""
        self.broken += [f"{what} broke off: {type(inner).__name__}: {inner}" for inner in list_errors(error)]

    @property
    def code(self) -> int:
        """The exit code."""
        if self.crossed or self.attempts.succeeded or self.attempts.disclosures:
            return CROSSED
        if self.broken or not self.executions or not self.attempts.judged:
            return BROKEN
        return SLOW if self.slow else 0

    def describe(self) -> str:
        """Return the figures."""
        successes, disclosures = len(self.attempts.succeeded), len(self.attempts.disclosures)
        attempted = f"{self.attempts.judged} attempts at what is another's: {successes} succeeded, {disclosures} told"
        rest = f"{self.attempts.put_off} put off; what crossed: {len(self.crossed)}"
        return f"{self.executions} executions of {self.owners} owners, {attempted}, {rest}"


def list_errors(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors of a group, also of groups in it, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from list_errors(inner)
    else:
        yield error
