"""The remit: what one execution may do, frozen at its start from task, plan and integrations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from ferryman.domain.host import covered
from ferryman.domain.plan import Plan
from ferryman.domain.tool import HTTP_TOOL, function_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Remit:
    """Task x plan x integrations. `domains` are the approved host patterns, in the order of the task's integrations.

    `credits_per_month` is the task's own cap, under the plan's. `declared` are the declared tools by name, each with the
    fingerprint it had: one that was changed since is another tool.
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
    declared: Mapping[str, str] = field(default_factory=dict)

    @property
    def enabled(self) -> tuple[str, ...]:
        """Every tool it may use."""
        return (*self.tools, *self.declared)

    @property
    def fetches(self) -> bool:
        """Whether tokens may be fetched for it: by the function of declared tools, and no other."""
        return any(function_of(each) == HTTP_TOOL for each in self.enabled)

    def admits(self, host: str) -> bool:
        """Whether an approved integration covers `host` (S0-77)."""
        return covered(self.domains, host)
