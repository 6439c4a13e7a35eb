"""Values of records: what the API answers of an execution, read back into the domain's values, part by part."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from ferryman.domain.approvals.rules import NO_RULES, ApprovalRules
from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.calls.model_use import ModelUse
from ferryman.domain.calls.part import Part
from ferryman.domain.credits.ledger import LedgerEntry, Posting, digest_conversation
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Step, SummaryPlan
from ferryman.domain.executions.policy import ExecutionPolicy, ServiceHeaders
from ferryman.domain.executions.usage import Usage
from ferryman.domain.labels.label import OWNED, FlowLabel, Source
from ferryman.domain.owners.cap import Cap
from ferryman.domain.owners.plan import Plan
from ferryman.domain.records.record import Record
from ferryman.domain.tools.correction import FlowCorrection
from ferryman.domain.tools.settings import ToolSettings
from ferryman.domain.workspaces.effective_policy import NO_LIMITS, ToolLimits
from ferryman.serving.api.shapes import call
from ferryman.serving.api.shapes import record as shapes
from ferryman.serving.api.shapes.rule import ApprovalRulesResponse, build_rules
from ferryman.serving.api.shapes.shape import ResponseShape

Value = TypeVar("Value")


def build_record(response: shapes.RecordResponse) -> Record:
    """Return the record that is told. It has the owner of its policy, and "" where it has none."""
    policy = None if response.policy is None else build_policy(response.policy)
    owner = "" if policy is None else policy.owner
    execution = build_execution(response.execution, owner=owner, policy=policy)
    return Record(
        execution=execution,
        opening=None if response.opening is None else build_setup(response.opening),
        steps=tuple(map(build_step, response.steps)),
        tickets=tuple(map(build_ticket, response.calls)),
        entries=tuple(build_entry(part, execution) for part in response.ledger),
    )


def build_execution(response: shapes.RecordedExecution, *, owner: str, policy: ExecutionPolicy | None) -> Execution:
    """Return the execution that is told."""
    return _same(
        Execution,
        response,
        id=response.execution_id,
        task=response.task_id,
        owner=owner,
        workspace=response.workspace_id,
        agent=response.agent_id,
        person=response.person_id or "",
        conversation=response.conversation_id or "",
        cancelled_by=response.cancelled_by or "",
        answer=response.answer or 0,
        question=response.question or 0,
        waiting_for="",
        waited_s=response.waited_s or 0.0,
        titled_answer=response.titled_answer or 0,
        called_tool=response.called_tool or "",
        usage=_same(Usage, response.usage),
        tool_calls=tuple(_same(ToolCallResult, part) for part in response.tool_calls),
        policy=policy,
    )


def build_setup(response: shapes.OpeningResponse) -> ExecutionSetup:
    """Return the setup that is told."""
    return _same(
        ExecutionSetup,
        response,
        label=OWNED if response.label is None else _label(response.label),
        summary=None if response.summary is None else _same(SummaryPlan, response.summary),
    )


def build_policy(response: shapes.PolicyResponse) -> ExecutionPolicy:
    """Return the policy that is told."""
    headers = tuple(_same(ServiceHeaders, header) for header in response.headers)
    settings = {name: _build_settings(part) for name, part in response.settings.items()}
    return _same(
        ExecutionPolicy,
        response,
        plan=_same(Plan, response.plan),
        caps=tuple(_same(Cap, cap) for cap in response.caps),
        headers=headers,
        limits=NO_LIMITS if response.limits is None else _same(ToolLimits, response.limits),
        settings=settings,
        approvals=NO_RULES if response.approvals is None else _build_rules(response.approvals),
    )


def _build_settings(response: shapes.ToolSettingsResponse) -> ToolSettings:
    return _same(ToolSettings, response, flow=None if response.flow is None else _same(FlowCorrection, response.flow))


def _build_rules(response: ApprovalRulesResponse) -> ApprovalRules:
    dumped = response.model_dump()
    return ApprovalRules(**{level: build_rules(rules) for level, rules in dumped.items()})


def build_step(response: shapes.StepResponse) -> Step:
    """Return the turn that is told."""
    return _same(Step, response, usage=_same(Usage, response.usage))


def build_ticket(response: call.CallResponse) -> Ticket:
    """Return the call that is told, without its sealed arguments and its epoch."""
    return _same(
        Ticket,
        response,
        step=response.iteration,
        call=response.id,
        arguments=b"",
        display_arguments=response.arguments,
        label=_label(response.label),
        epoch=0,
        approval=response.approval or "",
        form_digest=response.form_digest or "",
        approved=None if response.approved is None else _same(ApprovedSend, response.approved),
        flow=None if response.flow is None else _same(CallFlow, response.flow),
        result=None if response.result is None else _result(response.result),
    )


def build_entry(response: shapes.EntryResponse, execution: Execution) -> LedgerEntry:
    """Return the movement of credits that is told of `execution`."""
    about = {"execution": execution.id, "owner": execution.owner, "task": execution.task}
    about |= {"workspace": execution.workspace, "agent": execution.agent, "person": execution.person}
    about |= {"conversation": digest_conversation(execution)}
    return _same(LedgerEntry, response, postings=tuple(_same(Posting, posting) for posting in response.postings), **about)


def _result(response: call.Result) -> ToolCallResult:
    parts = tuple(_same(Part, part, label=_label(part.label)) for part in response.parts)
    use = None if response.model_use is None else _same(ModelUse, response.model_use)
    return _same(ToolCallResult, response, parts=parts, model_use=use)


def _label(response: call.FlowLabelResponse) -> FlowLabel:
    return _same(FlowLabel, response, sources=tuple(_same(Source, source) for source in response.sources))


def _same(kind: type[Value], shape: ResponseShape, **others: Any) -> Value:
    """Return a `kind` with the fields that `shape` has under the same names, and `others`."""
    names = {field.name for field in fields(kind)} & set(type(shape).model_fields) - set(others)  # type: ignore[arg-type] # kinds are dataclasses
    return kind(**{name: getattr(shape, name) for name in names}, **others)
