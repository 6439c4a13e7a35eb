"""The policy: what one execution may do, frozen at its start from task, agent, workspace, plan and integrations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ferryman.domain.approvals.rules import NO_RULES, ApprovalRules
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import Refusal
from ferryman.domain.credentials.integration import Integration
from ferryman.domain.http.host import is_covered
from ferryman.domain.owners.cap import Cap
from ferryman.domain.owners.plan import Plan
from ferryman.domain.stored import LEFT_OUT
from ferryman.domain.tools.settings import ToolSettings, find_settings
from ferryman.domain.workspaces.effective_policy import NO_LIMITS, SENTENCES, ToolLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceHeaders:
    """The header `names` that a model may set in calls of the hosts that the patterns `domains` cover, and of no others."""

    domains: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionPolicy:
    """Task x agent x workspace x plan x integrations.

    `tools` are the built-in tools that all of them allow. `domains` are the approved host patterns, in the order of the task's
    integrations. `caps` are those of its workspace, agent, person and task as they were then, beside that of the plan.
    `declared` are the fingerprints of the declared tools by name: a tool that was changed since is another tool. `former`
    tells that credentials of the task were replaced or deleted within the last day. `headers` are those of its integrations'
    services. `remote` are the fingerprints of the tools of the agent's MCP servers that a person has accepted, by name, and
    `server_urls` the URLs that a call of one may go to: its key holder sets them for that call, and nothing stores them.
    `limits` say who took a tool away, and hold for tools that are imported later, too; `settings` are the agent's of tools, by
    name. `approvals` are the rules that say which calls wait for a person.
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
    caps: tuple[Cap, ...] = field(default=(), metadata=LEFT_OUT)
    declared: Mapping[str, str] = field(default_factory=dict)
    remote: Mapping[str, str] = field(default_factory=dict, metadata=LEFT_OUT)
    server_urls: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)
    headers: tuple[ServiceHeaders, ...] = ()
    limits: ToolLimits = field(default=NO_LIMITS, metadata=LEFT_OUT)
    settings: Mapping[str, ToolSettings] = field(default_factory=dict, repr=False, metadata=LEFT_OUT)
    approvals: ApprovalRules = field(default=NO_RULES, metadata=LEFT_OUT)

    def settings_of(self, tool: str) -> ToolSettings:
        """Return the agent's settings of `tool`, under either form of its name (S4-95)."""
        return find_settings(self.settings, tool)

    def fingerprint_of(self, tool: str) -> str:
        """Return what a declared tool, or one of an MCP server, was at the start of the execution; "" for any other."""
        return self.declared.get(tool) or self.remote.get(tool, "")

    def refuse_tool(self, name: str) -> Refusal:
        """Return why the tool `name`, which is not enabled, may not be called: the innermost level that takes it away."""
        taken_by = self.limits.find_taking_levels(name)
        if taken_by:
            return refusal.refuse_tool_not_allowed(name, SENTENCES[taken_by[0]])
        return refusal.refuse_tool_not_enabled(name)

    def headers_of(self, host: str) -> tuple[str, ...]:
        """Return the headers that a model may set in a call of `host`, beside those that it may set in any call."""
        return tuple(name for headers in self.headers if is_covered(headers.domains, host) for name in headers.names)

    @property
    def enabled(self) -> tuple[str, ...]:
        """Every tool that the execution may use."""
        return (*self.tools, *self.declared, *self.remote)

    def admits(self, host: str) -> bool:
        """Tell whether an approved integration covers `host` (S0-77)."""
        return is_covered(self.domains, host)


def collect_service_headers(approved: Iterable[Integration]) -> tuple[ServiceHeaders, ...]:
    """Return the headers of those `approved` integrations that have any."""
    return tuple(ServiceHeaders(domains=entry.allowed_domains, names=entry.headers) for entry in approved if entry.headers)
