"""The flow policy in the loop: whether untrusted text may have decided where a call goes, judged as its ticket is written.

Only executions with a rule `when_untrusted` are judged. What is judged by is in the journal, so that every delivery and every
replay judges the same. The texts are strangers': more than a little of them is read in a worker process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from ferryman import offload
from ferryman.catalog.tools import TOOLS
from ferryman.domain.approvals.rules import ConfirmationMode
from ferryman.domain.calls.call import Ticket, ToolCall, ToolCallResult, describe_parts
from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.calls.part import PartKind
from ferryman.domain.conversations.compaction import list_questions
from ferryman.domain.conversations.turns import cut_attachments
from ferryman.domain.executions.execution import Execution, ExecutionSetup
from ferryman.domain.flow.calls import CallToJudge, ReadResult, judge_call
from ferryman.domain.flow.derivation import derive_built_in, derive_declared, derive_signature
from ferryman.domain.flow.signature import FlowSignature
from ferryman.domain.flow.verdict import FlowReason
from ferryman.domain.labels.label import FlowLabel, Integrity
from ferryman.loop.dependencies import LoopDependencies

INLINE_CHARACTERS_MAX = 2_000
"""Texts of up to so many characters are judged in this process."""

offload.preload(judge_call)


@dataclass(slots=True, kw_only=True)
class FlowState:
    """What the calls of one execution are judged by: what people wrote, and what the model has read, each with its source."""

    written: tuple[tuple[str, str], ...] = field(repr=False)
    read: list[ReadResult] = field(default_factory=list, repr=False)
    signatures: dict[str, FlowSignature] = field(default_factory=dict, repr=False)

    def note_results(self, tickets: Sequence[Ticket]) -> None:
        """Take in the results of a turn."""
        for ticket in tickets:
            result = ticket.result
            if result is not None and not result.blocked:
                self.read.append(_read_result(ticket, describe_parts(result)))


def _read_result(ticket: Ticket, result: ToolCallResult) -> ReadResult:
    """Return what the model has read, without its frame."""
    parts = [(part.kind, result.content[part.start : part.end]) for part in result.parts]
    return ReadResult(
        tool=ticket.tool,
        call=ticket.seq,
        texts=tuple(text for _, text in parts),
        documents=tuple(text for kind, text in parts if kind is PartKind.JSON),
        arguments=ticket.display_arguments,
        label=ticket.label,
        ok=result.ok,
    )


def begin_flow(execution: Execution, opening: ExecutionSetup) -> FlowState | None:
    """Return what an execution is judged by at its start; None where no rule asks for it."""
    rules = execution.policy.approvals if execution.policy is not None else None
    levels = () if rules is None else (*rules.task, *rules.agent, *rules.workspace)
    if all(rule.mode is not ConfirmationMode.WHEN_UNTRUSTED for rule in levels):
        return None
    questions = (("an earlier message", text) for text in list_questions(opening))
    prompt = cut_attachments(opening.prompt)
    return FlowState(written=(("the instructions", opening.system), ("the prompt", prompt), *questions))


async def judge_calls(
    deps: LoopDependencies, execution: Execution, state: FlowState | None, calls: Sequence[ToolCall], label: FlowLabel
) -> list[CallFlow | None]:
    """Return what decided where each call goes; None for all where no rule asks for it. Raise `UnavailableError`."""
    if state is None:
        return [None] * len(calls)
    await _load_signatures(deps, execution, state, {*(call.name for call in calls), *(result.tool for result in state.read)})
    return [await _judge(execution.owner, state, call, label) for call in calls]


async def _judge(owner: str, state: FlowState, call: ToolCall, label: FlowLabel) -> CallFlow:
    signature = state.signatures[call.name]
    if not signature.has_effect:
        return CallFlow(asks=False, reason=FlowReason.READS.value)
    if label.integrity is Integrity.TRUSTED:
        return CallFlow(asks=False, reason=FlowReason.UNTAINTED.value)
    job = CallToJudge(
        signature=signature,
        arguments=dict(call.arguments),
        label=label,
        written=state.written,
        read=tuple(state.read),
        readers={name: reader for name, reader in state.signatures.items() if reader.reads_people},
    )
    if job.measure() <= INLINE_CHARACTERS_MAX:
        return judge_call(job)
    try:
        return await offload.run(owner, offload.TEXT, judge_call, job)
    except offload.OverBudgetError:
        return CallFlow(asks=True, reason=FlowReason.TOO_MANY.value)


async def _load_signatures(deps: LoopDependencies, execution: Execution, state: FlowState, names: AbstractSet[str]) -> None:
    """Derive the signatures of tools: of what is called, and of what was read.

    Of a tool that is in no catalog but registered here the operator wrote the definition; of one that is not there, every
    argument decides.
    """
    unknown = names - state.signatures.keys()
    state.signatures.update((name, derive_built_in(TOOLS[name])) for name in unknown & TOOLS.keys())
    unknown -= TOOLS.keys()
    for definition in deps.registry.get_definitions([name for name in unknown if deps.registry.has_tool(name)]):
        name = definition["name"]
        state.signatures[name] = derive_signature(name, definition["description"], definition["input_schema"], is_own=True)
    unknown -= state.signatures.keys()
    if not unknown:
        return
    frozen: Mapping[str, Any] = execution.policy.declared if execution.policy is not None else {}
    declared = {tool.name: tool for tool in await deps.clusters.tools(execution.task)}
    for name in unknown:
        tool = declared.get(name)
        is_frozen = tool is not None and tool.fingerprint == frozen.get(name)
        state.signatures[name] = (
            derive_declared(tool) if tool is not None and is_frozen else FlowSignature(tool=name, changes=True)
        )
