"""Digests of tools and policies: the same for the same, whichever store it was read from, and another for any other."""

from __future__ import annotations

from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

import pytest

from ferryman.catalog.tools import TOOLS
from ferryman.domain.approvals.rules import AmountLimit, ApprovalRule, ApprovalRules, ConfirmationMode
from ferryman.domain.executions.policy import ExecutionPolicy, ServiceHeaders
from ferryman.domain.owners.cap import Cap, CapKind
from ferryman.domain.owners.plan import GURU
from ferryman.domain.tools.settings import ToolSettings
from ferryman.domain.workspaces.effective_policy import ToolLimits
from ferryman.gcp import documents
from ferryman.tools.approving.digests import digest_policy, digest_tools
from tests.builders import build_policy

RULE = ApprovalRule(mode=ConfirmationMode.ALWAYS, amount=AmountLimit(argument="body.amount", above=Decimal("10.50")))
POLICY = build_policy(
    tools=("api_call",),
    domains=("a.test",),
    declared={"look": "0f"},
    settings={"look": ToolSettings(timeout_s=3.0, arguments={"n": 1, "deep": {"x": [1.5, None, True]}})},
    approvals=ApprovalRules(task=(RULE,)),
)
CHANGES: dict[str, Any] = {
    "owner": "x",
    "task": "x",
    "plan": GURU,
    "tools": ("http_get",),
    "integrations": ("x",),
    "domains": ("b.test",),
    "webhook": True,
    "webhook_urls": ("https://a.test/x",),
    "webhook_match": "url",
    "credentials": ("K",),
    "former": True,
    "caps": (Cap(kind=CapKind.AGENT, id="a", credits=Decimal(1)),),
    "declared": {"look": "1f"},
    "remote": {"desk__echo": "2f"},
    "server_urls": ("https://tools.example.com/mcp",),
    "headers": (ServiceHeaders(domains=("a.test",), names=("x-a",)),),
    "limits": ToolLimits(agent=("x",)),
    "settings": {"look": ToolSettings(timeout_s=4.0)},
    "approvals": ApprovalRules(agent=(RULE,)),
}


def test_a_policy_that_was_stored_and_read_has_the_same_digest() -> None:
    read = documents.read(ExecutionPolicy, documents.write(POLICY))
    assert digest_policy(read) == digest_policy(POLICY)


@pytest.mark.parametrize("name", [field.name for field in fields(ExecutionPolicy)])
def test_every_field_of_a_policy_counts(name: str) -> None:
    assert digest_policy(replace(POLICY, **{name: CHANGES[name]})) != digest_policy(POLICY)


def test_a_tool_is_its_definition_its_policy_and_its_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest_tools(("api_call",), fingerprint="")
    assert digest_tools(("api_call", "api_call"), fingerprint="") == before
    assert digest_tools(("http_get",), fingerprint="") != before
    assert digest_tools(("look",), fingerprint="aa") != digest_tools(("look",), fingerprint="ab")
    tool = TOOLS["api_call"]
    monkeypatch.setitem(TOOLS, "api_call", replace(tool, description=f"{tool.description} "))
    assert digest_tools(("api_call",), fingerprint="") != before
    monkeypatch.setitem(TOOLS, "api_call", replace(tool, policy=replace(tool.policy, counts=not tool.policy.counts)))
    assert digest_tools(("api_call",), fingerprint="") != before
