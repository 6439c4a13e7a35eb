"""The remit: what one execution may do, frozen at its start from task, plan and integrations."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ferryman.domain.host import covered
from ferryman.domain.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Remit:
    """Task x plan x integrations. `domains` are the approved host patterns, in the order of the task's integrations.

    `credits_per_month` is the task's own cap, under the plan's.
    """

    owner: str
    task: str
    plan: Plan
    tools: tuple[str, ...]
    integrations: tuple[str, ...]
    domains: tuple[str, ...]
    webhook: bool = False
    webhook_urls: tuple[str, ...] = ()
    webhook_match: str = "host"
    credentials: tuple[str, ...] = ()
    credits_per_month: Decimal | None = None

    def admits(self, host: str) -> bool:
        """Whether an approved integration covers `host` (S0-77)."""
        return covered(self.domains, host)
