"""Confirming a call: the last question before it leaves, whether a person has approved exactly this.

The form is computed from what is about to leave, each time. Where nobody has approved it a person is asked, and nothing leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from ferryman.catalog.tool_entries import UNASKED_KINDS
from ferryman.catalog.tools import find_tool
from ferryman.domain.approvals.approval import (
    FORM_BYTES_MAX,
    LIFETIME,
    Approval,
    ApprovalDecidedError,
    ApprovalState,
    derive_approval_id,
)
from ferryman.domain.approvals.form import CallForm, EffectForm, HttpForm, UnwritableFormError, build_form, digest_form
from ferryman.domain.approvals.host import find_host
from ferryman.domain.approvals.question import QuestionForm, is_question
from ferryman.domain.approvals.rules import NO_RULES, CallFacts, needs_approval
from ferryman.domain.calls import refusal
from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.labels.label import Integrity
from ferryman.domain.stale import StaleError
from ferryman.ports.approvals import Approvals, DecisionVerifier
from ferryman.ports.clock import Clock
from ferryman.ports.errors import NotSentError, UnavailableError
from ferryman.ports.tickets import ClaimedCall
from ferryman.tools.approving.authority import CallPlace, admits, admits_beforehand, denies
from ferryman.tools.approving.digests import digest_policy, digest_tools
from ferryman.tools.approving.waiting import WaitingForPersonError


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovingDependencies:
    """What confirming calls needs. `verifier` knows the published keys of the api, from the environment alone."""

    approvals: Approvals
    verifier: DecisionVerifier
    clock: Clock


@dataclass(slots=True, kw_only=True)
class CallConfirmation:
    """`ports.gate.Confirmation` of one claimed call. `approved` is who approved it, once somebody has.

    `names` are those of the tools that it is one of, the last one being the tool that acts; `fingerprint` is that of a declared
    one. Without `deps` nobody can be asked, and what needs a person is refused.
    """

    deps: ApprovingDependencies | None
    claimed: ClaimedCall
    names: tuple[str, ...]
    arguments: Mapping[str, Any] = field(repr=False)
    fingerprint: str = ""
    approved: ApprovedSend | None = None
    outer: Mapping[str, Any] | None = field(default=None, repr=False)
    """The arguments of the tool that called the one that acts."""

    def know_tool(self, name: str, arguments: Mapping[str, Any], fingerprint: str) -> None:
        """Take note of the declared tool that the call turns out to be one of, and of the arguments that this one has."""
        if name not in self.names:
            self.outer = self.arguments
        self.names = (*(known for known in self.names if known != name), name)
        self.arguments, self.fingerprint = arguments, fingerprint

    def needs_form(self, *, host: str | None = None, method: str | None = None) -> bool:
        """Tell whether a person has to have approved the call, by its tools, its arguments, its host and its method."""
        facts = self._describe(host, method)
        views = (facts,) if self.outer is None else (facts, replace(facts, arguments=self.outer))
        rules, is_always = self.claimed.policy.approvals, self._is_always_asked
        return any(needs_approval(rules, view, needs_confirmation=is_always) for view in views)

    async def confirm(self, form: HttpForm | EffectForm, *, host: str | None = None, method: str | None = None) -> None:
        """Return where a person has approved `form`, and take one send of that approval; `approved` says by whom.

        Raise `CallRefusedError`, `WaitingForPersonError`, or `NotSentError` where the store does not answer.
        """
        if self.deps is None:
            raise CallRefusedError(refusal.refuse_unshowable("nobody can be asked here"))
        try:
            self.approved = await self._find_authority(self.deps, form, self._describe(host, method))
        except (UnavailableError, StaleError) as fault:
            if isinstance(fault, NotSentError):
                raise
            raise NotSentError(str(fault)) from fault

    async def ask(self, question: QuestionForm) -> Approval:
        """Return the approval by which a person answers what an MCP server asks about the call. Nothing is stored here.

        Raise `CallRefusedError` where nobody can be asked, and `NotSentError` where the store does not answer.
        """
        if self.deps is None:
            raise CallRefusedError(refusal.refuse_unshowable("nobody can be asked here"))
        try:
            return await self._ask(self.deps, None, self._build(question), self.deps.clock.now())
        except UnavailableError as fault:
            raise NotSentError(str(fault)) from fault

    @property
    def _is_always_asked(self) -> bool:
        return any(find_tool(name).policy.needs_confirmation for name in self.names)

    @property
    def _may_be_standing(self) -> bool:
        """Whether an approval from beforehand counts: not for a tool of which each call is asked about, nor for a declared one
        that is not the one that the execution began with."""
        known = self.claimed.policy.fingerprint_of(self.names[-1])
        return not self._is_always_asked and self.fingerprint == known

    def _describe(self, host: str | None, method: str | None) -> CallFacts:
        is_untrusted = is_decided_by_others(self.claimed.ticket)
        return CallFacts(tools=self.names, host=host, method=method, arguments=self.arguments, is_untrusted=is_untrusted)

    async def _find_authority(self, deps: ApprovingDependencies, what: HttpForm | EffectForm, facts: CallFacts) -> ApprovedSend:
        ticket, now, form = self.claimed.ticket, deps.clock.now(), self._build(what)
        place = CallPlace.read(self.claimed)
        current = await deps.approvals.get(ticket.approval) if ticket.approval else None
        if current is not None and is_question(current.form):
            current = None  # what came of that is the server's to hear: it decides nothing about the call
        if current is not None:
            if (sent := await self._use(deps, current, form, now)) is not None:
                return sent
            if denies(current, seq=ticket.seq, place=place, verifier=deps.verifier):
                assert current.decided is not None, "who denies has decided"
                raise CallRefusedError(refusal.refuse_denied(current.decided.decision.reason))
            if current.state is ApprovalState.PENDING and now >= current.expires_at:
                raise CallRefusedError(refusal.APPROVAL_EXPIRED)
        for other in await deps.approvals.list_of(place.execution):
            is_other = current is None or other.id != current.id
            if is_other and (sent := await self._use(deps, other, form, now)) is not None:
                return sent
        if self._may_be_standing and (sent := await self._use_standing(deps, form, facts, now)) is not None:
            return sent
        raise WaitingForPersonError(await self._ask(deps, current, form, now))

    async def _use(self, deps: ApprovingDependencies, approval: Approval, form: CallForm, now: datetime) -> ApprovedSend | None:
        """Return who approved `form` by this approval, with a send taken; None where nobody did, or none is left."""
        if approval.state is not ApprovalState.APPROVED:
            return None
        digest, seq = digest_form(_write(form, approval.expires_at)), self.claimed.ticket.seq
        if not admits(approval, seq=seq, digest=digest, place=CallPlace.read(self.claimed), verifier=deps.verifier, now=now):
            return None
        try:
            used = await deps.approvals.use(approval.id, seq=seq, now=now)
        except (ApprovalDecidedError, KeyError):
            return None
        assert approval.decided is not None, "who approves has decided"
        decision = approval.decided.decision
        if seq not in used.sent or len(set(used.sent)) > decision.sends_max:
            return None
        return ApprovedSend(
            approval=approval.id,
            digest=digest,
            by=decision.by,
            at=decision.at,
            sends_max=decision.sends_max,
            declassified=decision.declassified,
        )

    async def _use_standing(
        self, deps: ApprovingDependencies, form: CallForm, facts: CallFacts, now: datetime
    ) -> ApprovedSend | None:
        place, seq = CallPlace.read(self.claimed), self.claimed.ticket.seq
        for standing in await deps.approvals.list_standing(place.workspace):
            if not admits_beforehand(
                standing, facts, fingerprint=self.fingerprint, place=place, verifier=deps.verifier, now=now
            ):
                continue
            try:
                used = await deps.approvals.take_standing(standing.id, execution=place.execution, seq=seq)
            except (ApprovalDecidedError, KeyError):
                continue
            if f"{place.execution}/{seq}" in used.used and len(set(used.used)) <= standing.uses_max:
                digest = digest_form(_write(form, standing.expires_at))
                return ApprovedSend(
                    approval=standing.id,
                    digest=digest,
                    by=standing.by,
                    at=standing.created_at,
                    is_standing=True,
                    sends_max=standing.uses_max,
                )
        return None

    async def _ask(self, deps: ApprovingDependencies, current: Approval | None, form: CallForm, now: datetime) -> Approval:
        """Return the approval that a person has to decide about: the call's own, as long as it is about the same form."""
        ticket, context, place = self.claimed.ticket, self.claimed.context, CallPlace.read(self.claimed)
        if current is not None and current.state is ApprovalState.PENDING:
            text = _write(form, current.expires_at)
            if current.id == derive_approval_id(place.execution, ticket.seq, digest_form(text)) and current.form == text:
                return current
        expires_at = now + LIFETIME
        while True:
            text = _write(form, expires_at)
            digest = digest_form(text)
            name = derive_approval_id(place.execution, ticket.seq, digest)
            if await deps.approvals.get(name) is None:
                break
            expires_at += timedelta(seconds=1)  # somebody has decided about that one, in the same moment
        before = await deps.approvals.find_last(place.workspace, form.tool)
        return Approval(
            id=name,
            owner=place.owner,
            workspace=place.workspace,
            agent=context.agent,
            task=place.task,
            conversation=context.conversation,
            execution=place.execution,
            seq=ticket.seq,
            tool=form.tool,
            host=find_host(text) or "",
            form=text,
            digest=digest,
            label=ticket.label,
            before="" if before is None else before.id,
            created_at=now,
            expires_at=expires_at,
        )

    def _build(self, what: HttpForm | EffectForm | QuestionForm) -> CallForm:
        claimed, place = self.claimed, CallPlace.read(self.claimed)
        return CallForm(
            tool=self.names[-1],
            tool_digest=digest_tools(self.names, fingerprint=self.fingerprint),
            what=what,
            label=claimed.ticket.label,
            flow=claimed.ticket.flow,
            policy_digest=digest_policy(claimed.policy),
            place={
                "owner": place.owner,
                "workspace": place.workspace,
                "agent": claimed.context.agent,
                "task": place.task,
                "execution": place.execution,
            },
        )


def begin_confirmation(
    deps: ApprovingDependencies | None, claimed: ClaimedCall, arguments: Mapping[str, Any]
) -> CallConfirmation | None:
    """Return what confirms a call; None where nothing asks for a person: no rule, no tool of it, and not where it goes."""
    ticket = claimed.ticket
    names = tuple(dict.fromkeys(reversed(ticket.names)))
    confirmation = CallConfirmation(deps=deps, claimed=claimed, names=names, arguments=arguments)
    has_rules, is_untrusted = claimed.policy.approvals != NO_RULES, is_decided_by_others(ticket)
    may_need = has_rules or is_untrusted or any(find_tool(name).policy.needs_confirmation for name in names)
    return confirmation if may_need and find_tool(ticket.tool).kind not in UNASKED_KINDS else None


def is_decided_by_others(ticket: Ticket) -> bool:
    """Tell whether untrusted text may have decided where a call goes; one that was never judged counts by its label."""
    return ticket.label.integrity is not Integrity.TRUSTED if ticket.flow is None else ticket.flow.asks


def _write(form: CallForm, expires_at: datetime) -> str:
    """Return the canonical form. Raise `CallRefusedError` for one that a person could not be asked about."""
    try:
        text = build_form(form, expires_at=expires_at)
    except UnwritableFormError as error:
        raise CallRefusedError(refusal.refuse_unshowable(str(error))) from None
    if len(text.encode()) > FORM_BYTES_MAX:
        raise CallRefusedError(refusal.refuse_unshowable(f"what it sends is longer than {FORM_BYTES_MAX} bytes"))
    return text
