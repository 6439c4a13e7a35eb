"""Exactly-once effects: claim a call's ticket, open its arguments and keys, send it through the gate, settle the ticket.

A call whose outcome is unknown is sent again only where that has no second effect: its method is safe, or its service
recognises repetitions by an idempotency key.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ferryman.catalog.tools import TOOLS, find_tool, may_fetch_tokens
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import (
    CALL_ATTEMPTS_MAX,
    SETTLING_TIME,
    Ticket,
    TicketState,
    ToolCallResult,
    is_outcome_unknown,
    truncate_names,
)
from ferryman.domain.calls.continuation import Continuation
from ferryman.domain.calls.labelling import label_result
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.conversations.window import WindowPart, decide, measure_end
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.message import Block
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.tool import Repeatable
from ferryman.expiring import ExpiringCache
from ferryman.halting import HaltWatch
from ferryman.ports.connections import Connections
from ferryman.ports.credentials import Credentials
from ferryman.ports.errors import HaltedError, NotSentError, UnavailableError
from ferryman.ports.gate import PieceTally
from ferryman.ports.halts import Halts
from ferryman.ports.remote_servers import RemoteServers
from ferryman.ports.tickets import CallRequest, ClaimedCall, Tickets
from ferryman.ports.tokens import Tokens
from ferryman.tools.approving.confirming import ApprovingDependencies, CallConfirmation, begin_confirmation
from ferryman.tools.approving.waiting import CallGoesOnError, WaitingForPersonError
from ferryman.tools.known_secrets import make_scan_only, open_former, open_known_tokens
from ferryman.tools.overflow import read_overflow
from ferryman.tools.own_arguments import clamp_arguments, read_own_arguments
from ferryman.tools.prepared_call import CallContext, CallPreparer, PreparedCall, Redactor, narrow_credential
from ferryman.tools.server_secrets import may_hold_server_secrets, open_server_secrets
from ferryman.tools.tokens.dependencies import GrantDependencies
from ferryman.tools.tokens.renewal import renew_expiring

COUNT_ATTEMPTS_MAX = 8
"""How often pieces of secrets are added while other calls of the execution add to the same coverage."""

OPENED_S, OPENED_MAX = 300.0, 256
"""For how many seconds after they were read, and of how many tasks, opened credentials stay in a tool function's memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedCredentials:
    """A task's open credentials and former values, as they were while its credentials had these `versions`.

    Whatever is stored, renewed or deleted changes a version, and every claim returns the present ones.
    """

    versions: Mapping[str, int]
    credentials: Mapping[str, Credential] = field(repr=False)


def build_opened_cache(life_s: float = OPENED_S) -> ExpiringCache[str, OpenedCredentials]:
    """Return a cache of opened credentials by task."""
    return ExpiringCache(most=OPENED_MAX, life_s=life_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDependencies(GrantDependencies):
    """Everything that a tool function uses.

    `redact` takes an owner, open credentials and a text, `redact_blocks` an owner, open credentials and the model's output;
    both return it with every credential, in any spelling, replaced by its name. They raise `CallRefusedError` over budget.
    `server_credentials` and `server_connections` are those of the MCP servers `remote_servers`, in the place of a task's.
    `approving` is what people's decisions are read with; without it a call that needs one is refused. `opened` and `halt_watch`
    are this process's own; the latter reads `halts` every `poll_interval`.
    """

    tickets: Tickets
    tokens: Tokens
    prepare: CallPreparer
    redact: Redactor
    redact_blocks: Callable[[str, Iterable[Credential], Sequence[Block]], Awaitable[Sequence[Block]]]
    halts: Halts
    server_credentials: Credentials | None = None
    server_connections: Connections | None = None
    remote_servers: RemoteServers | None = None
    approving: ApprovingDependencies | None = None
    opened: ExpiringCache[str, OpenedCredentials] = field(default_factory=build_opened_cache, repr=False)
    halt_watch: HaltWatch = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "halt_watch", HaltWatch(self.halts, self.tracer, every=self.poll_interval))


async def execute_call(deps: ToolDependencies, tool: str, call_request: CallRequest) -> Ticket:
    """Execute a call and return its ticket, settled, with its answer, waiting for a person, or going on at its host; one with
    a result is returned as it is.

    Raise `StaleError` or `UnavailableError`; then nothing was sent.
    """
    claimed_call = await deps.tickets.claim(call_request, tool=tool, now=deps.clock.now())
    ticket = claimed_call.ticket
    if ticket.result is not None:
        return ticket
    about, unsent = {"execution": call_request.execution, "seq": call_request.seq}, False
    prepared_call: PreparedCall | None = None
    confirmation: CallConfirmation | None = None
    try:
        prepared_call, confirmation = await _prepare(deps, claimed_call, about)
    except UnavailableError:
        if not claimed_call.again:
            await deps.tickets.release(claimed_call)
        raise
    except CallRefusedError as refused:
        deps.tracer.line("call.refused", tool=tool, reason=refused.refusal.reason, **about)
        # what goes on at its host was sent before
        result = _refuse(ticket, replace(refused.refusal, blocked=refused.refusal.blocked and not ticket.goes_on))
    except Exception as fault:  # noqa: BLE001 - the ticket is claimed: every outcome has to be stored
        deps.tracer.line("call.fault", kind=type(fault).__name__, severity="ERROR", **about)
        result = _refuse(ticket, replace(refusal.INTERNAL_ERROR, blocked=not ticket.goes_on))
    else:
        try:
            result = await _send(deps, claimed_call, prepared_call, about)
            unsent = _is_unsent(prepared_call) and not claimed_call.again and not ticket.goes_on
        except WaitingForPersonError as waiting:
            if not claimed_call.again or prepared_call.safe or prepared_call.resumes:
                goes_on = b"" if waiting.continuation is None else await _seal(deps, claimed_call, waiting.continuation)
                return await deps.tickets.ask(claimed_call, waiting.approval, now=deps.clock.now(), continuation=goes_on)
            result = _refuse(ticket, refusal.IN_DOUBT)  # it may have been sent before, under what holds no longer
        except CallGoesOnError as going:
            sealed = await _seal(deps, claimed_call, going.continuation)
            noted = replace(claimed_call, ticket=_note_person(ticket, confirmation, prepared_call))
            return await deps.tickets.postpone(noted, sealed, until=going.until)
        except NotSentError:
            if not claimed_call.again:
                await deps.tickets.release(claimed_call)
            raise
    if claimed_call.again and result.blocked and _is_unknown(doubted := _refuse(ticket, refusal.IN_DOUBT)):
        result = doubted  # it was not sent now, but it may have been before
    result, in_doubt = truncate_names(result), _is_unknown(result) and not unsent
    result = label_result(result, find_tool(ticket.tool).policy, seq=ticket.seq, arguments=ticket.label)
    ticket = _note_person(ticket, None if result.blocked else confirmation, prepared_call)
    claimed_call = replace(claimed_call, ticket=ticket)
    if in_doubt:
        deps.tracer.line("call.in_doubt", tool=tool, severity="WARNING", **about)
    elif prepared_call is not None:
        result, overflow = await read_overflow(claimed_call, prepared_call.long, result, now=deps.clock.now())
        if overflow is not None:
            await deps.tickets.answer(claimed_call, result, overflow)
            return replace(ticket, result=result)
    now = deps.clock.now()
    await deps.tickets.settle(claimed_call, result, now=now, in_doubt=in_doubt)
    return replace(ticket, state=TicketState.SETTLED, settled_at=now, result=result, in_doubt=in_doubt)


async def _send(
    deps: ToolDependencies, claimed_call: ClaimedCall, prepared_call: PreparedCall, about: Mapping[str, Any]
) -> ToolCallResult:
    """Send the call and return its result. Raise `StaleError` when no time is left to send it in."""
    ticket = claimed_call.ticket
    policy = find_tool(ticket.tool).policy
    repeatable = prepared_call.repeatable and policy.repeatable is not Repeatable.NEVER
    repeats = prepared_call.resumes or (repeatable and ticket.sends <= CALL_ATTEMPTS_MAX)
    if claimed_call.again and not repeats:
        return _refuse(ticket, refusal.IN_DOUBT)
    assert ticket.deadline is not None, "a claimed ticket has a deadline"
    within_s = (ticket.deadline - SETTLING_TIME - deps.clock.now()).total_seconds()
    if within_s <= 0:
        raise StaleError("the call's deadline passed while this instance was suspended: it is another's to send")
    if policy.timeout_s is not None:
        within_s = min(within_s, policy.timeout_s)
    for name in ticket.names:
        within_s = claimed_call.policy.settings_of(name).limit_time(within_s)
    owner, created = claimed_call.call_request.owner, claimed_call.created
    try:
        # what changes something is waited for: a person who stops an execution is told what became of it
        cancellable = claimed_call.call_request.execution if prepared_call.safe else ""
        return await deps.halt_watch.run(prepared_call.go(within_s), owner, created=created, cancellable=cancellable)
    except HaltedError:
        deps.tracer.line("call.halted", tool=ticket.tool, severity="WARNING", **about)
        reason = refusal.HALTED if prepared_call.safe else refusal.IN_DOUBT
        if _is_unsent(prepared_call):
            reason = refusal.HALTED_UNSENT  # it has ended, so that nothing is sent any more
        return _refuse(ticket, reason, method=prepared_call.method)


async def _seal(deps: ToolDependencies, claimed_call: ClaimedCall, continuation: Continuation) -> bytes:
    ticket, execution = claimed_call.ticket, claimed_call.call_request.execution
    return await deps.vault.seal_continuation(continuation, execution=execution, seq=ticket.seq, like=ticket.arguments)


def _note_person(ticket: Ticket, confirmation: CallConfirmation | None, prepared_call: PreparedCall | None) -> Ticket:
    """Return the ticket with who has approved it, or answered its host, or with what became of a question that nobody has
    answered. Of a call that goes on this is what was noted last."""
    approved = None if confirmation is None else confirmation.approved
    unanswered = ""
    if prepared_call is not None:
        approved, unanswered = approved or prepared_call.answered, prepared_call.unanswered
    if approved is None and not unanswered and ticket.goes_on:
        return ticket
    return replace(ticket, approved=approved, unanswered=unanswered)


def _is_unsent(prepared_call: PreparedCall) -> bool:
    """Tell whether no byte of the request left, as where its connection was refused: such a call is not in doubt."""
    return prepared_call.sending is not None and not prepared_call.sending.begun


def _is_unknown(result: ToolCallResult) -> bool:
    return is_outcome_unknown(result, find_tool(result.tool).policy.repeatable)


async def scan_output(
    deps: ToolDependencies, *, execution: str, task: str, epoch: int, content: Sequence[Block]
) -> list[Block]:
    """Return the model's output with every credential redacted, as it may be stored.

    Raise `CallRefusedError` when a credential does not open, `StaleError` or `UnavailableError`.
    """
    owner, credentials = await _open_scope(deps, execution, task=task, epoch=epoch)
    return list(await deps.redact_blocks(owner, credentials, content))


async def scan_window(
    deps: ToolDependencies, *, execution: str, task: str, epoch: int, texts: Sequence[str]
) -> list[WindowPart]:
    """Return what of the texts that the model is still writing may be shown, at most `WINDOW_CHARACTERS_MAX` of them together.

    Raise as `scan_output` does.
    """
    owner, credentials = await _open_scope(deps, execution, task=task, epoch=epoch)
    blocks = [{"type": "text", "text": text} for text in texts]
    clean = await deps.redact_blocks(owner, credentials, blocks)
    longest = max((len(secret.reveal()) for item in credentials for secret in item.secrets), default=0)
    return decide(texts, [str(block["text"]) for block in clean], held_back=measure_end(texts, longest))


async def _open_scope(deps: ToolDependencies, execution: str, *, task: str, epoch: int) -> tuple[str, Collection[Credential]]:
    """Return the owner of an execution that runs, and every open credential that its texts may hold."""
    current, versions = await deps.tickets.scope(execution, task=task, epoch=epoch, now=deps.clock.now())
    credentials = await open_all(deps, deps.credentials, current.task, versions)
    if current.policy is None or may_fetch_tokens(current.policy):  # before the execution is set up, this is not known yet
        credentials |= await open_known_tokens(deps.tokens, deps.vault, owner=current.owner, task=current.task)
    if may_hold_server_secrets(current.policy):
        credentials |= await _open_servers(deps, current.owner, current.workspace, current.agent)
    return current.owner, credentials.values()


async def _open_servers(deps: ToolDependencies, owner: str, workspace: str, agent: str) -> dict[str, Credential]:
    """Return the values of an agent's MCP servers, to be scanned for."""
    if deps.remote_servers is None or deps.server_credentials is None:
        return {}
    open_server = partial(open_all, deps, deps.server_credentials)
    return await open_server_secrets(deps.remote_servers, open_server, owner=owner, workspace=workspace, agent=agent)


async def _prepare(
    deps: ToolDependencies, claimed_call: ClaimedCall, about: Mapping[str, Any]
) -> tuple[PreparedCall, CallConfirmation | None]:
    ticket, policy = claimed_call.ticket, claimed_call.policy
    if ticket.tool not in policy.enabled:
        # the process that talks to the model is not trusted
        raise CallRefusedError(policy.refuse_tool(ticket.tool))
    credentials = await open_all(deps, deps.credentials, policy.task, claimed_call.versions)
    if may_fetch_tokens(policy):
        credentials |= await open_known_tokens(deps.tokens, deps.vault, owner=policy.owner, task=policy.task)
    if may_hold_server_secrets(policy):
        context = claimed_call.context
        credentials |= await _open_servers(deps, policy.owner, context.workspace, context.agent)
    opened = await deps.vault.open_arguments(ticket.arguments, execution=claimed_call.call_request.execution, seq=ticket.seq)
    # put in again, as the loop has put them in: the process that talks to the model is not trusted
    read = read_own_arguments if ticket.tool in TOOLS else clamp_arguments
    arguments = read(find_tool(ticket.tool).policy, policy.settings_of(ticket.tool).fix_arguments(opened))

    async def renew(names: Collection[str]) -> dict[str, Credential]:
        after = await renew_expiring(deps, credentials, names=names, services=policy.integrations)
        for name in names:
            if name in after and after[name] is not credentials[name]:
                after |= make_scan_only(credentials[name])  # its service may return the old one in its next answer
        return {name: narrow_credential(credential, policy, deps.integrations) for name, credential in after.items()}

    usable = {name: narrow_credential(credential, policy, deps.integrations) for name, credential in credentials.items()}
    confirmation = begin_confirmation(deps.approving, claimed_call, arguments)
    call_context = CallContext(
        claimed_call=claimed_call,
        arguments=arguments,
        credentials=usable,
        renew=renew,
        about=about,
        count=partial(count_pieces, deps, claimed_call),
        confirm=confirmation,
    )
    try:
        return await deps.prepare(call_context), confirmation
    except CallRefusedError as refused:
        # the message may quote the arguments
        message = await deps.redact(policy.owner, credentials.values(), refused.refusal.message)
        raise CallRefusedError(replace(refused.refusal, message=message)) from None


async def count_pieces(deps: ToolDependencies, claimed_call: ClaimedCall, pieces: PieceTally) -> str | None:
    """Add `pieces` to those that the execution has sent (its leak budget), and store the sum before the call is sent.

    Return the credential of which that is too much (nothing is stored then), or None. Pieces that were sent before are not
    stored again, so that a call that is delivered twice counts once. Raise `NotSentError` where new pieces could not be stored,
    or another delivery has taken the execution over: the call must not be sent then.
    """
    execution, stored = claimed_call.call_request.execution, claimed_call.coverage
    try:
        for _ in range(COUNT_ATTEMPTS_MAX):
            before = await deps.vault.open_coverage(stored, execution=execution)
            name, after = pieces.add_to(before)
            if name is not None or after == before:
                return name
            sealed = await deps.vault.seal_coverage(after, execution=execution, like=claimed_call.ticket.arguments)
            current = await deps.tickets.cover(claimed_call, stored, sealed, now=deps.clock.now())
            if current == sealed:
                return None
            stored = current
    except (UnavailableError, StaleError) as fault:
        raise NotSentError(str(fault)) from fault
    raise NotSentError("what the execution has sent of its credentials changes all the time")


async def open_all(deps: ToolDependencies, store: Credentials, task: str, versions: Mapping[str, int]) -> dict[str, Credential]:
    """Return the open credentials and former values that `store` has of a task, or of an MCP server of that id.

    Those that this process opened before are not read again while their versions are the present ones. Raise
    `CallRefusedError` for a credential that does not open, and `UnavailableError`.
    """
    before = deps.opened.get(task)
    if before is not None and before.versions == versions:
        return dict(before.credentials)
    stored, former = await store.read_all(task)
    opened = await open_former(deps.vault, former, task=task, now=deps.clock.now(), log=deps.tracer)
    for sealed in stored:
        name, expected = sealed.label.name, versions.get(sealed.label.name, 0)
        if sealed.label.version > expected and sealed.label.version != await store.next_version(task, name) - 1:
            raise UnavailableError("a credential was stored while this was read")
        if sealed.label.task != task or sealed.label.version < expected:
            raise CallRefusedError(refusal.refuse_unreadable_credential(name))  # moved or rolled back
        opened[name] = await deps.vault.open_credential(sealed)
    deps.opened.put(task, OpenedCredentials(versions=dict(versions), credentials=dict(opened)))
    return opened


def _refuse(ticket: Ticket, reason: refusal.Refusal, *, method: str | None = None) -> ToolCallResult:
    texts = {name: value for name, value in ticket.display_arguments.items() if isinstance(value, str)}
    method, credential = method or texts.get("method"), texts.get("credential")
    return ToolCallResult.from_refusal(ticket.tool, reason, url=texts.get("url"), method=method, credential=credential)
