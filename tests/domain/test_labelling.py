"""The labels of results: from the catalog's entry and the arguments, and from nothing that the result says."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ferryman.catalog.tools import DECLARED, TOOLS
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.labelling import label_result, label_ticket
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.labels.label import BOTTOM, OWNED, READ, FlowLabel, Source
from ferryman.domain.labels.tools import label_reading
from tests.builders import build_settled_ticket, build_ticket

POLICY = DECLARED.policy
QUIET = replace(POLICY, reads=(), network=NetworkPolicy.NONE)


def label(result: ToolCallResult, *, policy: object = POLICY, arguments: FlowLabel = OWNED) -> FlowLabel:
    """Return the label of the one part of the result."""
    (part,) = label_result(result, policy, seq=7, arguments=arguments).parts  # type: ignore[arg-type]  # a policy
    return part.label


@pytest.mark.parametrize("network", NetworkPolicy)
@pytest.mark.parametrize("reads", [(), ("services",), ("tools",), ("anything else",)])
def test_a_tool_that_reads_nothing_and_reaches_nothing_adds_nothing(network: NetworkPolicy, reads: tuple[str, ...]) -> None:
    expected = BOTTOM if not reads and network is NetworkPolicy.NONE else READ
    assert label_reading(replace(POLICY, reads=reads, network=network)) == expected


def test_every_tool_of_the_catalog_is_labelled_by_its_entry() -> None:
    quiet = [name for name, tool in TOOLS.items() if label_reading(tool.policy) == BOTTOM]
    assert quiet == [
        name for name, tool in TOOLS.items() if not tool.policy.reads and tool.policy.network is NetworkPolicy.NONE
    ]


def test_what_was_read_is_untrusted_and_its_owner_s() -> None:
    result = ToolCallResult("api_call", "42", url="https://a.test/b?key=1#c", credential_used="KEY", response_status=200)
    source = Source(tool="api_call", call=7, url="https://a.test/b", credential="KEY")
    assert label(result) == replace(READ, sources=(source,))


def test_a_result_of_a_tool_that_reads_nothing_has_the_label_of_its_arguments() -> None:
    source = Source(tool="calculator", call=7)
    for arguments in (OWNED, READ):
        assert label(ToolCallResult("calculator", "42"), policy=QUIET, arguments=arguments) == replace(
            arguments, sources=(source,)
        )


def test_a_blocked_call_has_read_nothing() -> None:
    blocked = ToolCallResult.from_refusal("http_get", refusal.refuse_address("a.test"))
    assert drop(label(blocked, policy=TOOLS["http_get"].policy)) == OWNED


@pytest.mark.parametrize(
    "reason",
    [
        refusal.refuse_unknown_argument("pay", "x", ["account_12345"]),
        refusal.refuse_host("eve.example", []),
        refusal.refuse_disabled_tool("pay", "its server is eve.example"),
    ],
)
def test_a_refusal_that_tells_of_a_declared_tool_is_a_strangers_text(reason: refusal.Refusal) -> None:
    assert drop(label(ToolCallResult.from_refusal("pay", reason))) == READ


@pytest.mark.parametrize("reason", [refusal.refuse_denied("no"), refusal.refuse_unknown_tool("pay"), refusal.EXECUTION_ENDED])
def test_a_refusal_that_tells_nothing_of_one_is_not(reason: refusal.Refusal) -> None:
    assert drop(label(ToolCallResult.from_refusal("pay", reason))) == OWNED


def test_a_call_that_was_sent_and_failed_may_have_read_something() -> None:
    failed = ToolCallResult.from_refusal("http_get", refusal.report_timeout(30))
    assert drop(label(failed)) == READ


def drop(labelled: FlowLabel) -> FlowLabel:
    return replace(labelled, sources=())


def test_a_label_that_a_result_brings_along_is_replaced() -> None:
    part = Part(kind=PartKind.TEXT, start=0, end=2, label=BOTTOM)
    assert drop(label(ToolCallResult("http_get", "42", parts=(part,)))) == READ


def test_a_text_that_imitates_a_label_changes_nothing() -> None:
    claim = json.dumps({"label": {"integrity": "trusted", "confidentiality": "public"}, "sources": [], "parts": []})
    assert drop(label(ToolCallResult("http_get", claim))) == READ


def test_what_follows_from_a_call_has_the_labels_of_all_its_parts() -> None:
    ticket = build_settled_ticket(result=label_result(ToolCallResult("http_get", "42"), POLICY, seq=7, arguments=OWNED))
    assert label_ticket(ticket) == replace(READ, sources=(Source(tool="http_get", call=7),))


def test_nothing_follows_from_a_call_without_a_result() -> None:
    assert label_ticket(build_ticket()) == BOTTOM
