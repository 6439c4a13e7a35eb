"""A call of a function without keys: claimed, scanned and settled by the process that asks for it.

Such a function has no store and knows no credential. So it is given the arguments as they were scanned, and its result is
scanned by a key holder before it is stored; content of others is framed after that. Where the scan took a credential out of
the arguments, a tool that has a network is not called: it would send another text than was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from ferryman.catalog.tools import find_tool, holds_secrets
from ferryman.domain.approvals.form import EffectForm
from ferryman.domain.calls import refusal
from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.call import (
    CALL_ATTEMPTS_MAX,
    RESULT_CHARACTERS_MAX,
    Ticket,
    TicketState,
    ToolCallResult,
)
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.calls.labelling import label_result
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.files.writes import ClosedWrite
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.labels.label import FlowLabel
from ferryman.domain.owners.user_changes import UserChanges, UserChangesError
from ferryman.domain.tools.settings import TIMEOUT_LIMIT_S
from ferryman.domain.tools.tool import Repeatable, ToolPolicy
from ferryman.halting import HaltWatch
from ferryman.ports.clock import Clock
from ferryman.ports.errors import HaltedError, RejectedError, UnavailableError
from ferryman.ports.keyless import AskFunction
from ferryman.ports.local_functions import build_user_id
from ferryman.ports.model import ReplyScanner
from ferryman.ports.tickets import CallRequest, ClaimedCall, Tickets
from ferryman.tools.approving.confirming import ApprovingDependencies, begin_confirmation
from ferryman.tools.approving.waiting import WaitingForPersonError
from ferryman.tools.keyless.framing import strip_content
from ferryman.tools.keyless.hook import NOTHING, CallHook
from ferryman.tools.keyless.keeping import ResultFiles
from ferryman.tools.keyless.results import build_refusal, build_result

SCANNED_CHARACTERS_MAX = 4 * RESULT_CHARACTERS_MAX
"""How much of a result is scanned, and kept before it is cut: a cut could hide half of a key from the scan."""

CONFLICTS_MAX = 3
"""How often a tool is run where what it read of the user's documents was changed before its result was stored."""


@dataclass(frozen=True, slots=True)
class KeylessOutcome:
    """What came of a call, and what is stored in the same commit as its result."""

    result: ToolCallResult
    approved: ApprovedSend | None = None
    changes: UserChanges = field(default_factory=UserChanges)
    write: ClosedWrite | None = None
    read: FlowLabel | None = None
    """The label of what the function has read, where its hook knows that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeylessCalls:
    """Executes the calls of the tools whose functions hold no key; `hooks` by kind of tool.

    `results` keeps what is longer than a model is shown; without it such a result is cut. `halt_watch` breaks off a call that
    only reads, where a switch or a cancel stops its execution; without it the call is waited for. `approving` is what
    people's decisions are read with; without it a call that needs one is refused.
    """

    tickets: Tickets
    scanner: ReplyScanner
    clock: Clock
    ask: AskFunction
    hooks: Mapping[str, CallHook] = field(default_factory=dict)
    results: ResultFiles | None = None
    halt_watch: HaltWatch | None = None
    approving: ApprovingDependencies | None = None

    async def execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        """Return the ticket as it settled or waits for a person, or with the refusal that is yet to be stored.

        Raise `StaleError` or `UnavailableError`; then the call may be made again.
        """
        tool = find_tool(ticket.tool)
        if ticket.redacted and tool.policy.network is not NetworkPolicy.NONE:
            return replace(ticket, result=ToolCallResult.from_refusal(ticket.tool, refusal.LEAK_IN_ARGUMENTS))
        call_request = CallRequest(
            execution=execution.id, seq=ticket.seq, epoch=execution.epoch, task=execution.task, owner=execution.owner
        )
        claimed = await self.tickets.claim(call_request, tool=tool.function, now=self.clock.now())
        if claimed.ticket.result is not None:
            return claimed.ticket
        for _ in range(CONFLICTS_MAX):
            try:
                outcome = await self._run(claimed, execution)
            except WaitingForPersonError as waiting:
                if not claimed.again or tool.policy.repeatable is Repeatable.SAFE:
                    return await self.tickets.ask(claimed, waiting.approval, now=self.clock.now())
                outcome = KeylessOutcome(build_refusal(ticket, refusal.IN_DOUBT))  # it may have been made before
            except UnavailableError:
                if not claimed.again:
                    await self.tickets.release(claimed)
                raise
            result = label_result(outcome.result, tool.policy, seq=ticket.seq, arguments=ticket.label, read=outcome.read)
            now = self.clock.now()
            approved = None if result.blocked else outcome.approved
            settling = replace(claimed, ticket=replace(claimed.ticket, approved=approved))
            if await self._settle(settling, execution, replace(outcome, result=result), now):
                return replace(settling.ticket, state=TicketState.SETTLED, settled_at=now, result=result)
        # nothing was stored: the call may be made again
        await self.tickets.release(claimed)
        raise UnavailableError("the user's documents are being changed by others")

    async def _settle(self, claimed: ClaimedCall, execution: Execution, outcome: KeylessOutcome, now: datetime) -> bool:
        """Store the result, with what the tool has changed; return False where that rests on what is no longer so."""
        result, changes, context = outcome.result, outcome.changes, execution.context
        if changes.writes:
            return await self.tickets.settle_changes(claimed, result, changes, context=context, now=now)
        if outcome.write is not None:
            await self.tickets.settle_write(claimed, result, outcome.write, workspace=context.workspace, now=now)
        else:
            await self.tickets.settle(claimed, result, now=now)
        return True

    async def _run(self, claimed: ClaimedCall, execution: Execution) -> KeylessOutcome:
        ticket, policy = claimed.ticket, find_tool(claimed.ticket.tool).policy
        hook = self.hooks.get(find_tool(ticket.tool).kind)
        # of one that the function makes once by its name, it is not known whether it was made
        fault = build_refusal(ticket, refusal.IN_DOUBT if policy.repeatable is Repeatable.KEYED else refusal.INTERNAL_ERROR)
        if ticket.sends > CALL_ATTEMPTS_MAX:
            return KeylessOutcome(fault, write=None if hook is None else await hook.conclude(claimed, execution, None))
        try:
            approved = await self._confirm(claimed, execution, hook)
            added = {} if hook is None else await hook.prepare(claimed, execution)
        except CallRefusedError as refused:
            return KeylessOutcome(build_refusal(ticket, refused.refusal))
        body = {
            **added,
            "call": ticket.call,
            "tool": ticket.tool,
            "arguments": dict(ticket.display_arguments),
            "user": build_user_id(execution.context),
            "within_s": limit_time(ticket, claimed.policy),
        }
        asked_at, answer, write = self.clock.now(), None, None
        try:
            asking = self.ask(find_tool(ticket.tool).function, body)
            if self.halt_watch is not None and policy.repeatable is Repeatable.SAFE:
                created = execution.created_at
                asking = self.halt_watch.run(asking, execution.owner, created=created, cancellable=execution.id)
            answer = await asking
            latency_ms = (self.clock.now() - asked_at).total_seconds() * 1_000
            check_collections(policy, answer.changes)
            if hook is not None:
                write = await hook.conclude(claimed, execution, answer)
            readable = replace(answer, content=strip_content(answer.content)) if policy.wrapped else answer
            scanned, changes = await self._scan(execution, readable)
            result = await build_result(ticket, execution.owner, answer, scanned)
            if self.results is not None and self.results.takes(ticket.tool, claimed.policy, answer):
                result, write = await self.results.keep(claimed, execution, result, answer, scanned.content)
        except HaltedError:
            write = None if hook is None else await hook.conclude(claimed, execution, None)
            return KeylessOutcome(build_refusal(ticket, refusal.HALTED), approved, write=write)
        except RejectedError:  # no answer, or a credential of the task does not open: nobody can say what the text holds
            if hook is not None and answer is None:
                write = await hook.conclude(claimed, execution, None)
            return KeylessOutcome(fault, approved, write=write)
        changed = changes if result.code is None else UserChanges()
        read = None if hook is None else hook.label_answer(answer)
        return KeylessOutcome(replace(result, latency_ms=latency_ms), approved, changed, write, read)

    async def _confirm(self, claimed: ClaimedCall, execution: Execution, hook: CallHook | None) -> ApprovedSend | None:
        """Return who approved the call; None where nobody has to. Raise `CallRefusedError`, or `NotSentError` until then."""
        arguments = dict(claimed.ticket.display_arguments)
        confirmation = begin_confirmation(self.approving, claimed, arguments)
        if confirmation is None:
            return None
        target = NOTHING if hook is None else await hook.find_target(claimed, execution)
        if target.is_done or not confirmation.needs_form(host=target.host, method=target.method):
            return None
        form = EffectForm(arguments=arguments, target=target.name, version=target.version)
        try:
            await confirmation.confirm(form, host=target.host, method=target.method)
        except CallRefusedError as refused:  # a person may have written anything
            scanned, _ = await self._scan(execution, KeylessAnswer(refused.refusal.message))
            raise CallRefusedError(replace(refused.refusal, message=scanned.content)) from None
        return confirmation.approved

    async def _scan(self, execution: Execution, answer: KeylessAnswer) -> tuple[KeylessAnswer, UserChanges]:
        """Return the answer and its changes as they may be stored: with every credential of the task redacted.

        Raise `RejectedError` where one is in a path, or where the documents cannot be written without it.
        """
        content, changes, policy = answer.content[:SCANNED_CHARACTERS_MAX], answer.changes, execution.policy
        if policy is not None and not holds_secrets(policy):
            return replace(answer, content=content), changes  # there is no secret that they could contain
        written = [
            {"type": "tool_use", "id": str(number), "name": "write", "input": {"path": path, "document": document}}
            for number, (path, document) in enumerate(changes.writes.items())
        ]
        texts = [{"type": "text", "text": text} for text in (content, *(() if answer.url is None else (answer.url,)))]
        redacted = await self.scanner.scan(execution, [*texts, *written])
        inputs = [block["input"] for block in redacted[len(texts) :]]
        if [row.get("path") for row in inputs] != list(changes.writes) or any("document" not in row for row in inputs):
            raise RejectedError("a document cannot be written without a credential that it holds")
        clean = [str(block["text"]) for block in redacted[: len(texts)]]
        scanned = replace(answer, content=clean[0], url=clean[1] if len(clean) > 1 else None)
        try:
            return scanned, UserChanges(changes.reads, {row["path"]: row["document"] for row in inputs})
        except UserChangesError as error:  # a document is longer without its credentials
            raise RejectedError(str(error)) from None


def limit_time(ticket: Ticket, policy: ExecutionPolicy) -> float:
    """Return the seconds that a call may take, by its tool and the agent's settings of it."""
    timeout_s = find_tool(ticket.tool).policy.timeout_s
    return float(policy.settings_of(ticket.tool).limit_time(TIMEOUT_LIMIT_S if timeout_s is None else timeout_s))


def check_collections(policy: ToolPolicy, changes: UserChanges) -> None:
    """Raise `RejectedError` where a tool reads or writes other collections of its user than its policy names."""
    for paths, admitted in ((changes.reads, policy.reads), (changes.writes, policy.changes)):
        if any(path.partition("/")[0] not in admitted for path in paths):
            raise RejectedError("the tool has left the collections that it may use")
