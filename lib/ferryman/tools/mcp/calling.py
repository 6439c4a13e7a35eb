"""A call of an MCP server's tool: confirmed, verified, sent once, and followed to its result, a question or long work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from ferryman.domain.approvals.form import EffectForm
from ferryman.domain.approvals.question_fields import UnaskableQuestionError
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.continuation import FAILURES_MAX, Continuation
from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.credentials.grant import describe_grant
from ferryman.domain.http.request import Method
from ferryman.domain.remote_servers.pin import ToolPin
from ferryman.ports.errors import NotSentError
from ferryman.tools.approving.waiting import CallGoesOnError, WaitingForPersonError
from ferryman.tools.mcp.asking import DECLINE, Questioner, ServerAnswers
from ferryman.tools.mcp.contacting import RemoteCallDependencies, ServerContact, get_host
from ferryman.tools.mcp.outcomes import OutcomePresenter
from ferryman.tools.mcp.progress import ProgressTeller
from ferryman.tools.mcp.protocol.client import McpClient
from ferryman.tools.mcp.protocol.descriptors import ToolDescriptor
from ferryman.tools.mcp.protocol.errors import HttpStatusError, McpClientError, ServerError
from ferryman.tools.mcp.protocol.results import CallOutcome, Completed, NeedsInput, RemoteTask, RemoteTaskStatus
from ferryman.tools.mcp.stepping_up import note_lacking_scopes
from ferryman.tools.mcp.verifying import forgetting_listing, verify_listing
from ferryman.tools.prepared_call import CallContext

POLL, POLL_MIN, POLL_MAX = timedelta(seconds=5), timedelta(seconds=2), timedelta(minutes=5)
"""How long a server is given before it is asked about its work again: where it does not say, at least, and at most."""

WORK_MAX = timedelta(hours=24)
"""How long work of a server is followed at most. An execution's own time limit ends it before that."""

DECLINED_MAX = 2
"""How often in one call what no person can be asked is declined, before the call is given up."""

ANSWERED_MAX = 64
"""How many questions of one work are answered or declined, before it is given up: their names are remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCall:
    """One call that is ready: `arguments` fit the accepted schema of `tool`. `continuation` is what goes on of it."""

    deps: RemoteCallDependencies
    context: CallContext
    contact: ServerContact
    pin: ToolPin
    tool: ToolDescriptor = field(repr=False)
    arguments: Mapping[str, Any] = field(repr=False)
    questioner: Questioner
    continuation: Continuation | None = None
    answers: ServerAnswers | None = None
    notices: list[str] = field(default_factory=list)

    async def go(self, within_s: float) -> ToolCallResult:
        """Send the call, or go on with it, and return its result; every failure is one.

        Raise `WaitingForPersonError` and `CallGoesOnError` where it goes on later, and `NotSentError` where nothing was sent.
        """
        presenter = self._build_presenter(within_s)
        try:
            async with asyncio.timeout(within_s):
                return await self._execute(presenter, within_s)
        except WaitingForPersonError:
            raise
        except NotSentError:
            if not self.context.sending.begun:
                raise
            return presenter.build_refusal(refusal.IN_DOUBT)  # what the server asks could not be stored
        except CallRefusedError as refused:
            return await self._present_refusal(presenter, refused.refusal)
        except ServerError as error:
            return await presenter.present_error(error, tuple(self.notices), begun=self._is_begun)
        except McpClientError as error:
            if isinstance(error, HttpStatusError):
                now = self.deps.tools.clock.now()
                await note_lacking_scopes(self.deps.servers, self.contact.server.id, error, now=now)
            return presenter.build_failure(error, begun=self._is_begun)
        except TimeoutError:
            return presenter.build_refusal(replace(refusal.report_timeout(within_s), blocked=not self._is_begun))

    @property
    def _is_begun(self) -> bool:
        return self.context.sending.begun or self.continuation is not None

    async def _execute(self, presenter: OutcomePresenter, within_s: float) -> ToolCallResult:
        work = "" if self.continuation is None else self.continuation.work
        teller = self._build_teller()
        client = self._build_client(within_s, teller)
        if work:
            async with forgetting_listing(self.deps, self.contact.server, client):
                return await self._ask_about_work(presenter, client, work)
        await self._confirm()
        await verify_listing(
            self.deps, self.contact, self.context.build_policy(within_s), name=self.context.claimed_call.ticket.tool
        )
        async with teller.telling(), forgetting_listing(self.deps, self.contact.server, client):
            outcome = await self._call(client, None if self.answers is None else self.answers.responses)
            return await self._follow(presenter, client, outcome)

    async def _confirm(self) -> None:
        """Ask for a person's approval of the call where its rules want one, before anything is dialled."""
        person, server = self.context.confirm, self.contact.server
        method, host = Method.POST.value, get_host(server)
        if person is None or not person.needs_form(host=host, method=method):
            return
        await self._refuse_leak()
        grants = [
            f"{name}={describe_grant(item)}" for name, item in sorted(self.contact.credentials.items()) if item.label.hosts
        ]
        about = [f"server {server.name}", f"tool {self.pin.tool}", f"descriptor {self.pin.digest}", *grants]
        form = EffectForm(arguments=self.arguments, target=server.url, version="; ".join(about))
        await person.confirm(form, host=host, method=method)

    async def _refuse_leak(self) -> None:
        """Raise `CallRefusedError` for arguments that hold a credential: no person is shown one. The gate scans all that leaves
        again."""
        credentials = {**self.contact.others, **self.contact.credentials}
        text = json.dumps(self.arguments, ensure_ascii=False)
        if await self.deps.tools.redact(self.contact.server.owner, credentials.values(), text) != text:
            raise CallRefusedError(refusal.LEAK_IN_ARGUMENTS)

    async def _call(self, client: McpClient, responses: Mapping[str, Any] | None) -> CallOutcome:
        state = None if self.continuation is None else self.continuation.state
        return await client.call_tool(self.tool, self.arguments, input_responses=responses, request_state=state)

    async def _follow(self, presenter: OutcomePresenter, client: McpClient, outcome: CallOutcome) -> ToolCallResult:
        """Return the result of an outcome. What no person can be asked is declined at once."""
        for _ in range(DECLINED_MAX + 1):
            if isinstance(outcome, Completed):
                return await presenter.present(outcome, tuple(self.notices))
            if not isinstance(outcome, NeedsInput):
                return await self._follow_work(presenter, client, outcome.task)
            state = outcome.state
            try:
                await self.questioner.ask(outcome.requests, replace(self._begin(), state=state))
            except UnaskableQuestionError as error:
                self.notices.append(_describe_declined(error))
            declined = dict.fromkeys(outcome.requests, DECLINE)
            outcome = await client.call_tool(self.tool, self.arguments, input_responses=declined, request_state=state)
        return presenter.build_refusal(_refuse_questions())

    async def _ask_about_work(self, presenter: OutcomePresenter, client: McpClient, work: str) -> ToolCallResult:
        before = self.continuation
        assert before is not None, "there is work"
        try:
            if self.answers is not None:
                await client.update_task(work, self.answers.responses)
            task = await client.get_task(work)
        except (McpClientError, CallRefusedError) as error:
            if before.failures + 1 >= FAILURES_MAX or _is_final(error):
                raise
            # the questions stay: what was not answered is asked about again, and an answer is sent again
            raise CallGoesOnError(replace(before, failures=before.failures + 1), until=self._limit(before, POLL)) from None
        return await self._follow_work(presenter, client, task)

    async def _follow_work(self, presenter: OutcomePresenter, client: McpClient, task: RemoteTask) -> ToolCallResult:
        if task.outcome is not None:
            return await presenter.present(task.outcome, tuple(self.notices))
        if task.error is not None:
            return await presenter.present_error(task.error, tuple(self.notices))
        if task.status.is_final:
            is_cancelled = task.status is RemoteTaskStatus.CANCELLED
            return presenter.build_refusal(_refuse_work("cancelled" if is_cancelled else "ended without a result"))
        going = self._note_answered(task)
        if going.until is not None and self._now >= going.until:
            return presenter.build_refusal(_refuse_work("not done in the time that it may take"))
        requests = {key: item for key, item in task.requests.items() if key not in going.answered}
        if len(going.answered) + len(requests) > ANSWERED_MAX:
            return presenter.build_refusal(_refuse_questions())
        if requests:
            try:
                await self.questioner.ask(requests, going)
            except UnaskableQuestionError as error:
                self.notices.append(_describe_declined(error))
            except WaitingForPersonError:
                raise
            except NotSentError:  # nobody could be asked now: the work goes on, and asks again
                raise CallGoesOnError(going, until=self._limit(going, POLL)) from None
            await client.update_task(task.id, dict.fromkeys(requests, DECLINE))
            going = replace(going, answered=(*going.answered, *requests))
        poll = POLL if task.poll_ms is None else timedelta(milliseconds=task.poll_ms)
        raise CallGoesOnError(going, until=self._limit(going, poll))

    def _note_answered(self, task: RemoteTask) -> Continuation:
        """Return what goes on of the work, with the questions noted that were answered just now."""
        before = self.continuation or self._begin()
        answered = before.answered
        if self.answers is not None and before.work:
            answered = (*answered, *self.answers.responses)
        keeps = WORK_MAX if task.ttl_ms is None else min(WORK_MAX, timedelta(milliseconds=task.ttl_ms))
        until = before.until or self._now + keeps
        return replace(
            before, work=task.id, state=None, questions=(), approval="", digest="", answered=answered, until=until, failures=0
        )

    def _begin(self) -> Continuation:
        server = self.contact.server
        rounds = 0 if self.continuation is None else self.continuation.rounds
        return Continuation(server=server.id, fingerprint=server.fingerprint_of(self.pin), rounds=rounds)

    def _limit(self, going: Continuation, poll: timedelta) -> datetime:
        at = self._now + max(POLL_MIN, min(poll, POLL_MAX))
        return at if going.until is None else min(at, max(going.until, self._now + POLL_MIN))

    @property
    def _now(self) -> datetime:
        return self.deps.tools.clock.now()

    def _build_teller(self) -> ProgressTeller:
        return ProgressTeller(
            tickets=self.deps.tools.tickets,
            claimed_call=self.context.claimed_call,
            redact=self.deps.tools.redact,
            credentials=[*self.contact.others.values(), *self.contact.credentials.values()],
            sleep=self.deps.sleep,
        )

    def _build_client(self, within_s: float, teller: ProgressTeller) -> McpClient:
        call = replace(self.context.build_policy(within_s), confirm=None)
        tool = self.context.claimed_call.ticket.tool
        return self.contact.build_client(self.deps, call, tool=tool, on_progress=teller.note)

    def _build_presenter(self, within_s: float) -> OutcomePresenter:
        return OutcomePresenter(
            gate=self.deps.gate,
            call=self.contact.build_policy(self.context.build_policy(within_s)),
            tool=self.context.claimed_call.ticket.tool,
            server=self.contact.server.name,
            url=self.contact.server.url,
            credential=self.contact.credential_used,
        )

    async def _present_refusal(self, presenter: OutcomePresenter, reason: Refusal) -> ToolCallResult:
        """Return the result of a refusal, whose message may quote the arguments."""
        credentials = {**self.contact.others, **self.contact.credentials}
        message = await self.deps.tools.redact(self.contact.server.owner, credentials.values(), reason.message)
        blocked = reason.blocked and not self._is_begun
        return presenter.build_refusal(replace(reason, message=message, blocked=blocked))


def _is_final(error: Exception) -> bool:
    """Tell whether asking about work again would be no use: the server does not know it, or wants another credential."""
    if isinstance(error, HttpStatusError):
        return 400 <= error.status < 500 and error.status not in (408, 429)
    return isinstance(error, ServerError)


def _describe_declined(error: UnaskableQuestionError) -> str:
    return f"The MCP server asked a person something that nobody is asked: {error}. It was declined."


def _refuse_questions() -> Refusal:
    return Refusal(
        reason="questions_declined",
        message="Error: the MCP server goes on to ask what no person is asked. The call was given up.",
        blocked=False,
    )


def _refuse_work(what: str) -> Refusal:
    return Refusal(reason="work_ended", message=f"Error: the work of the MCP server was {what}.", blocked=False)
