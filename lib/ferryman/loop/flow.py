"""The flow policy in the loop: whether untrusted text may have decided where a call goes, judged as its ticket is written.

Every execution is judged, whatever its rules say. What is judged by is in the journal, so that every delivery and every replay
judges the same. A call is judged by what people wrote first; only where that decides not all of it, by the results, too. Each
text is read once in a delivery, when a call needs it. The texts are strangers': more than a little is read in a worker process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar, TypeVarTuple

from ferryman import offload
from ferryman.catalog.tools import TOOLS
from ferryman.domain.calls.call import Ticket, ToolCall, list_parts
from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.calls.part import PartKind
from ferryman.domain.conversations.compaction import list_questions
from ferryman.domain.conversations.turns import cut_attachments
from ferryman.domain.executions.execution import Execution, ExecutionSetup
from ferryman.domain.flow.calls import FlowMemory, ReadResult, index_results, index_written, measure_arguments
from ferryman.domain.flow.derivation import derive_built_in, derive_declared, derive_remote, derive_signature, narrow_by_method
from ferryman.domain.flow.judging import judge_flow, trusts_result
from ferryman.domain.flow.passing import list_labels
from ferryman.domain.flow.signature import FlowSignature, apply_settings
from ferryman.domain.flow.verdict import FlowReason, FlowVerdict, list_lines
from ferryman.domain.labels.label import FlowLabel, Integrity
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.preamble import RULES

INLINE_CHARACTERS_MAX = 2_000
"""Texts of up to so many characters are read in this process."""

SEARCHED_CHARACTERS_MAX = 10_000_000
"""So many characters that were read before are looked at for the values of a call in this process: some milliseconds."""

BATCH_CHARACTERS_MAX = 50_000
"""A worker reads further results together up to so many characters, or one."""

Parameters = TypeVarTuple("Parameters")
Answer = TypeVar("Answer")

READS = CallFlow(asks=False, reason=FlowReason.READS.value)
UNTAINTED = CallFlow(asks=False, reason=FlowReason.UNTAINTED.value)

offload.preload(judge_flow)
offload.preload(index_results)


@dataclass(slots=True, kw_only=True)
class FlowState:
    """What the calls of one execution are judged by: what people wrote, and what the model has read, each with its source.

    `memory` is what was read of it so far, and `read` the calls whose results were not. `declassified` are the values that
    people declassified with calls that they approved, each with who did. `signatures` are those of tools that were needed so
    far, by their names, and `declared` those that the delivery which began has read.
    """

    written: tuple[tuple[str, str], ...] = field(repr=False)
    read: deque[Ticket] = field(default_factory=deque, repr=False)
    memory: FlowMemory | None = field(default=None, repr=False)
    declassified: dict[str, str] = field(default_factory=dict, repr=False)
    signatures: dict[str, FlowSignature] = field(default_factory=dict, repr=False)
    declared: Mapping[str, DeclaredTool] = field(default_factory=dict, repr=False)

    def note_results(self, tickets: Sequence[Ticket]) -> None:
        """Take in the results of a turn."""
        for ticket in tickets:
            if ticket.result is not None and not ticket.result.blocked:
                self.read.append(ticket)
            approved = ticket.approved
            if approved is not None and approved.declassified:
                source = f"a value that {approved.by} declassified with call {ticket.seq + 1}"
                self.declassified.setdefault(approved.declassified, source)


def _read_result(ticket: Ticket) -> ReadResult:
    """Return what the model has read, without its frame."""
    result = ticket.result
    assert result is not None, "a call without one is not noted"
    parts = [(part.kind, result.content[part.start : part.end]) for part in list_parts(result)]
    return ReadResult(
        tool=ticket.tool,
        call=ticket.seq,
        texts=tuple(text for _, text in parts),
        documents=tuple(text for kind, text in parts if kind is PartKind.JSON),
        arguments=ticket.display_arguments,
        label=ticket.label,
        ok=result.ok,
    )


def begin_flow(execution: Execution, opening: ExecutionSetup) -> FlowState:
    """Return what an execution is judged by at its start: what people wrote, and the settings of owner and operator."""
    return FlowState(written=tuple(_list_written(execution, opening)))


def _list_written(execution: Execution, opening: ExecutionSetup) -> Iterator[tuple[str, str]]:
    yield "the instructions", opening.system.removeprefix(RULES)
    if not opening.is_prompt_foreign:
        yield "the prompt", cut_attachments(opening.prompt)
    for question in list_questions(opening):
        yield "an earlier message", question
    policy = execution.policy
    if policy is not None and policy.webhook:
        yield "the webhook list", "\n".join(policy.webhook_urls)
    if policy is not None and policy.domains:
        yield "the approved domains", "\n".join(policy.domains)


async def judge_calls(
    deps: LoopDependencies, execution: Execution, state: FlowState, calls: Sequence[ToolCall], label: FlowLabel
) -> list[CallFlow]:
    """Return what decided where each call goes. Raise `UnavailableError`."""
    return [await _judge(deps, execution, state, call, label) for call in calls]


async def _judge(deps: LoopDependencies, execution: Execution, state: FlowState, call: ToolCall, label: FlowLabel) -> CallFlow:
    policy = execution.policy
    assert policy is not None, "an opened execution has a policy"
    if call.name in TOOLS and not TOOLS[call.name].policy.changes and policy.settings_of(call.name).flow is None:
        return READS
    if label.integrity is Integrity.TRUSTED and not any(list_labels(call.arguments)):
        return UNTAINTED
    signature, arguments = await _find_signature(deps, execution, state, call)
    if not signature.has_effect:
        return READS
    try:
        verdict = await _find_verdict(deps, execution, state, signature, arguments, label)
    except offload.OverBudgetError:
        return CallFlow(asks=True, reason=FlowReason.TOO_MANY.value)
    return CallFlow(asks=verdict.asks, reason=verdict.reason.value, lines=tuple(list_lines(verdict)))


async def _find_verdict(
    deps: LoopDependencies,
    execution: Execution,
    state: FlowState,
    signature: FlowSignature,
    arguments: Mapping[str, Any],
    label: FlowLabel,
) -> FlowVerdict:
    """Return the verdict by what people wrote, or, where that is not the last word, by all that the model has read."""
    owner, memory = execution.owner, state.memory
    if memory is None:
        size = sum(len(text) for _, text in state.written)
        written = await _read(owner, size, index_written, state.written)
        memory = state.memory = FlowMemory(written=written, declassified=state.declassified)
    size = measure_arguments(arguments)
    verdict = await _read(owner, size, judge_flow, signature, arguments, memory.build_first_context(label))
    if verdict.is_final or not (state.read or memory.read):
        return verdict
    while state.read:
        await _take_in(deps, execution, state, memory)
    values = sum(not origin.is_trusted for origin in verdict.origins)
    if memory.measure_search(values) > SEARCHED_CHARACTERS_MAX:
        size = max(size, INLINE_CHARACTERS_MAX + 1)
    return await _read(owner, size, judge_flow, signature, arguments, memory.build_context(label))


async def _take_in(deps: LoopDependencies, execution: Execution, state: FlowState, memory: FlowMemory) -> None:
    """Read the next results that were not read so far."""
    batch, size = list[ReadResult](), 0
    for result in map(_read_result, state.read):
        if batch and size + result.measure() > BATCH_CHARACTERS_MAX:
            break
        batch.append(result)
        size += result.measure()
    indexed = await _read(execution.owner, size, index_results, batch)
    for result, index in zip(batch, indexed, strict=True):
        reader = _find_reader(deps, execution, result)
        is_trusted = reader is not None and await _read(
            execution.owner,
            measure_arguments(result.arguments),
            trusts_result,
            reader,
            result.arguments,
            memory.build_context(result.label),
        )
        memory.add(index, is_trusted=is_trusted)
        state.read.popleft()


async def _read(owner: str, size: int, function: Callable[[*Parameters], Answer], *arguments: *Parameters) -> Answer:
    """Return `function(*arguments)`, which reads a text of `size` characters: of a long one, computed in a worker process."""
    if size <= INLINE_CHARACTERS_MAX:
        return function(*arguments)
    return await offload.run(owner, offload.TEXT, function, *arguments)


async def _find_signature(
    deps: LoopDependencies, execution: Execution, state: FlowState, call: ToolCall
) -> tuple[FlowSignature, Mapping[str, Any]]:
    """Return the signature of the tool that acts, and its arguments: a call of another tool has that one's."""
    name, arguments, policy = call.name, call.arguments, execution.policy
    assert policy is not None, "an opened execution has a policy"
    if name in TOOLS and TOOLS[name].calls_others:
        called, inner = arguments.get("toolName"), arguments.get("arguments", {})
        if not isinstance(called, str) or called in TOOLS or not isinstance(inner, Mapping):
            return FlowSignature(tool=name, changes=True), arguments  # it is refused
        name, arguments = called, policy.settings_of(called).fix_arguments(inner)
    signature = _find_own(deps, state, name)
    if signature is None:
        signature = state.signatures[name] = await _derive_declared(deps, execution, state, name)
    if name in TOOLS:
        signature = narrow_by_method(signature, TOOLS[name], arguments)
    settings = policy.settings_of(name)
    return apply_settings(signature, settings.flow, settings.arguments), arguments


def _find_reader(deps: LoopDependencies, execution: Execution, result: ReadResult) -> FlowSignature | None:
    """Return the signature of the tool that a result is of, where people alone wrote what that reads; else None.

    Of a tool that a stranger may have defined only the owner says so; whatever its arguments are, each has to be trusted.
    """
    policy = execution.policy
    assert policy is not None, "an opened execution has a policy"
    settings = policy.settings_of(result.tool)
    signature = _derive_own(deps, result.tool) or FlowSignature(tool=result.tool, changes=True)
    signature = apply_settings(signature, settings.flow, settings.arguments)
    return signature if result.ok and signature.reads_people else None


def _find_own(deps: LoopDependencies, state: FlowState, name: str) -> FlowSignature | None:
    """Return the signature of a tool that needs no document to be read, or was needed before; None of any other."""
    if name not in state.signatures and (signature := _derive_own(deps, name)) is not None:
        state.signatures[name] = signature
    return state.signatures.get(name)


def _derive_own(deps: LoopDependencies, name: str) -> FlowSignature | None:
    """Return the signature of a tool that is built in, or that the operator registered; None of any other."""
    if name in TOOLS:
        return _derive_from_catalog(name)
    if not deps.registry.has_tool(name):
        return None
    (definition,) = deps.registry.get_definitions([name])
    return derive_signature(name, definition["description"], definition["input_schema"], is_own=True)


@cache
def _derive_from_catalog(name: str) -> FlowSignature:
    return derive_built_in(TOOLS[name])


async def _derive_declared(deps: LoopDependencies, execution: Execution, state: FlowState, name: str) -> FlowSignature:
    """Return the signature of a declared tool; of one that the execution did not begin with, every argument decides."""
    policy = execution.policy
    assert policy is not None, "an opened execution has a policy"
    if name in policy.remote:
        return derive_remote(name)
    tool = state.declared.get(name)
    if tool is None and name in policy.declared:
        tool = await deps.clusters.find(execution.task, name)
    if tool is None or tool.fingerprint != policy.declared.get(name):
        return FlowSignature(tool=name, changes=True)
    return derive_declared(tool)
