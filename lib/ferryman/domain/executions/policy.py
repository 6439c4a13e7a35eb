"""The policy: what one execution may do, frozen at its start from task, plan and integrations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ferryman.domain.credentials.integration import Integration
from ferryman.domain.http.host import is_covered
from ferryman.domain.owners.cap import Cap
from ferryman.domain.owners.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceHeaders:
    """The header `names` that a model may set in calls of the hosts that the patterns `domains` cover, and of no others."""

    domains: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionPolicy:
    """Task x plan x integrations. `domains` are the approved host patterns, in the order of the task's integrations.

    `caps` are those of its workspace, agent, person and task as they were then, beside that of the plan. `declared` are the
    fingerprints of the declared tools by name: a tool that was changed since is another tool. `former` tells that credentials
    of the task were replaced or deleted within the last day. `headers` are those of its integrations' services.
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
    former: bool = False
    caps: tuple[Cap, ...] = ()
    declared: Mapping[str, str] = field(default_factory=dict)
    headers: tuple[ServiceHeaders, ...] = ()

    def headers_of(self, host: str) -> tuple[str, ...]:
        """Return the headers that a model may set in a call of `host`, beside those that it may set in any call."""
        return tuple(name for headers in self.headers if is_covered(headers.domains, host) for name in headers.names)

    @property
    def enabled(self) -> tuple[str, ...]:
        """Every tool that the execution may use."""
        return (*self.tools, *self.declared)

    def admits(self, host: str) -> bool:
        """Tell whether an approved integration covers `host` (S0-77)."""
        return is_covered(self.domains, host)


def collect_service_headers(approved: Iterable[Integration]) -> tuple[ServiceHeaders, ...]:
    """Return the headers of those `approved` integrations that have any."""
    return tuple(ServiceHeaders(domains=entry.allowed_domains, names=entry.headers) for entry in approved if entry.headers)
