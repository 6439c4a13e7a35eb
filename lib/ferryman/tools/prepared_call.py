"""Prepared calls: a call with its arguments parsed, ready to be sent, and the parts that all kinds of tools share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ferryman import offload
from ferryman.catalog.tools import find_tool
from ferryman.domain.approvals.form import EffectForm, HttpForm
from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.credentials.integration import Integration
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.host import is_covered
from ferryman.domain.http.request import OutboundRequest
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.ports.gate import CallPolicy, Confirmation, LongAnswer, PieceCounter, Sender, SendingState
from ferryman.ports.tickets import ClaimedCall
from ferryman.tools.arguments import parse_builtin
from ferryman.tools.http import PARSERS

for parser in PARSERS.values():
    offload.preload(parser)


Redactor = Callable[[str, Iterable[Credential], str], Awaitable[str]]
"""Takes an owner, open credentials and a text; returns the text with each credential in it replaced by its name."""


class ToolConfirmation(Confirmation, Protocol):
    """What confirms a call, and is told of the declared tool that the call turns out to be one of."""

    def know_tool(self, name: str, arguments: Mapping[str, Any], fingerprint: str) -> None: ...
    def needs_form(self, *, host: str | None = None, method: str | None = None) -> bool: ...
    async def confirm(self, form: HttpForm | EffectForm, *, host: str | None = None, method: str | None = None) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """A call ready to be sent: `go` takes the seconds that it may take, and raises `NotSentError` where nothing was sent.

    `repeatable` means that sending it again has no further effect, `safe` that sending it has none at all. `sending` is the
    state of its request; None where it is not known whether anything was sent. `long` has the whole answer once it was sent.
    `resumes` tells that it only asks about what goes on at its host since an earlier attempt, however often that is, and
    `answered` who has answered what its host asked before; `unanswered` is as a ticket has it.
    """

    go: Callable[[float], Awaitable[ToolCallResult]] = field(repr=False)
    method: str | None
    safe: bool
    repeatable: bool
    sending: SendingState | None = None
    long: LongAnswer = field(default_factory=LongAnswer)
    resumes: bool = False
    answered: ApprovedSend | None = None
    unanswered: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """The input of a preparer: the claimed call, its opened arguments, and the task's credentials, narrowed to their hosts.

    `renew` takes names of credentials and returns all credentials, with these renewed where they are about to expire; it
    raises `CallRefusedError`. `count` adds up pieces of secrets over the calls of the execution; None counts no pieces.
    `reuses_connections` tells that calls of the same execution may share a connection to a host. `confirm` is asked before the
    call leaves; None: nobody is. `login` names the credentials that its token is fetched with.
    """

    claimed_call: ClaimedCall
    arguments: Mapping[str, Any] = field(repr=False)
    credentials: Mapping[str, Credential] = field(repr=False)
    renew: Callable[[Collection[str]], Awaitable[Mapping[str, Credential]]] = field(repr=False)
    about: Mapping[str, Any]
    count: PieceCounter | None = field(default=None, repr=False)
    reuses_connections: bool = True
    confirm: ToolConfirmation | None = field(default=None, repr=False)
    login: Collection[str] = ()
    sending: SendingState = field(default_factory=SendingState)
    long: LongAnswer = field(default_factory=LongAnswer)

    def build_policy(self, within_s: float) -> CallPolicy:
        """Return what the call may do at the gate, in `within_s` seconds."""
        return CallPolicy(
            execution=self.claimed_call.policy,
            credentials=self.credentials,
            about=self.about,
            execution_id=self.claimed_call.call_request.execution if self.reuses_connections else None,
            within_s=within_s,
            body_max=self._limit_body(),
            count=self.count,
            confirm=self.confirm,
            login=self.login,
            sending=self.sending,
            long=self.long,
        )

    def _limit_body(self) -> int | None:
        most = find_tool(self.claimed_call.ticket.tool).policy.response_bytes_max
        return None if most is None else min(most, self.claimed_call.policy.plan.response_bytes)

    async def renew_credentials(self, names: Collection[str]) -> CallContext:
        """Return the context with the credentials of these names renewed where they are about to expire."""
        return replace(self, credentials=await self.renew(names)) if names else self


CallPreparer = Callable[[CallContext], Awaitable[PreparedCall]]
"""Prepares the calls of a tool function; raises `CallRefusedError`."""


def make_builtin_preparer(gate: Sender, integrations: Mapping[str, Integration]) -> CallPreparer:
    """Return the preparer of the built-in tools, each of which is a function of its own."""

    async def prepare(context: CallContext) -> PreparedCall:
        tool, owner = context.claimed_call.ticket.tool, context.claimed_call.policy.owner
        outbound = await parse_builtin(owner, tool, PARSERS[tool], context.arguments)
        context = await context.renew_credentials([outbound.credential] if outbound.credential is not None else [])
        return prepare_request(gate, add_idempotency_key(outbound, context.claimed_call, integrations), context)

    return prepare


def prepare_request(gate: Sender, outbound: OutboundRequest, context: CallContext) -> PreparedCall:
    """Return the prepared call of one request."""

    async def go(within_s: float) -> ToolCallResult:
        return await gate.send(outbound, context.build_policy(within_s))

    return PreparedCall(
        go=go,
        method=outbound.method.value,
        safe=outbound.method.safe,
        repeatable=outbound.repeatable,
        sending=context.sending,
        long=context.long,
    )


def add_idempotency_key(
    outbound: OutboundRequest, claimed_call: ClaimedCall, integrations: Mapping[str, Integration]
) -> OutboundRequest:
    """Return `outbound` with an idempotency key, where its service declares a header for one.

    The key depends on execution and call alone, so that every attempt has the same.
    """
    if outbound.method.safe:
        return outbound
    try:
        host = parse_url(outbound.url).host
    except InvalidUrlError:
        return outbound  # the gate refuses it with the reason
    approved = (integrations[name] for name in claimed_call.policy.integrations if name in integrations)
    header = next((service.idempotency_header for service in approved if is_covered(service.allowed_domains, host)), None)
    key = f"{claimed_call.call_request.execution}-{claimed_call.ticket.seq}"
    return outbound if header is None else replace(outbound, idempotency=(header, key))


def narrow_credential(credential: Credential, policy: ExecutionPolicy, integrations: Mapping[str, Integration]) -> Credential:
    """Return `credential` with the hosts that its seal, the present catalog and the execution's policy all admit: itself, where
    these are all of its hosts."""
    label = credential.label
    current = integrations.get(label.service)
    admitted = label.name in policy.credentials and label.service in policy.integrations and current is not None
    hosts = tuple(host for host in label.hosts if current and host in current.allowed_domains) if admitted else ()
    return credential if hosts == label.hosts else replace(credential, label=replace(label, hosts=hosts))
