"""What an MCP server asks in the middle of a call: shown to a person, declined where no person is asked, never for the model.

The answer is a signed decision of a person. It is judged again here, and scanned, before it goes to the server.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ferryman import offload
from ferryman.domain.approvals.answers import find_answer_problems
from ferryman.domain.approvals.approval import FORM_BYTES_MAX, ApprovalState
from ferryman.domain.approvals.question import FORM, PAGE, QuestionForm, check_questions
from ferryman.domain.approvals.question_fields import UnaskableQuestionError, asks_for_secret, list_fields
from ferryman.domain.calls import refusal
from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.continuation import ROUNDS_MAX, Continuation, ServerQuestion, encode_continuation
from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.receipts.receipt import canonicalize
from ferryman.domain.remote_servers.pin import ToolPin
from ferryman.framing.escapes import replace_lookalikes
from ferryman.framing.marks import show_shape
from ferryman.ports.errors import NotSentError, UnavailableError
from ferryman.ports.tickets import ClaimedCall
from ferryman.tools.approving.authority import CallPlace, answers, denies
from ferryman.tools.approving.confirming import CallConfirmation
from ferryman.tools.approving.waiting import WaitingForPersonError
from ferryman.tools.execute_call import ToolDependencies
from ferryman.tools.mcp.contacting import ServerContact
from ferryman.tools.mcp.protocol.results import Elicitation

DECLINE: Mapping[str, Any] = {"action": "decline"}
CANCEL: Mapping[str, Any] = {"action": "cancel"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAnswers:
    """What goes to a server in answer to its questions, by key, and who has answered, None where nobody has.

    `unanswered` is as a ticket has it.
    """

    responses: Mapping[str, Mapping[str, Any]] = field(repr=False)
    answered: ApprovedSend | None = None
    unanswered: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questioner:
    """Asks a person what the server of one claimed call asks. `confirmation` knows the call as it is approved."""

    tools: ToolDependencies
    contact: ServerContact
    pin: ToolPin
    claimed_call: ClaimedCall
    confirmation: CallConfirmation

    async def ask(self, requests: Mapping[str, Elicitation], before: Continuation) -> None:
        """Raise `WaitingForPersonError` with the approval that asks a person, and with what goes on of the call then.

        `before` is what goes on without the questions. Raise `UnaskableQuestionError` where no person is asked, and
        `NotSentError` where the store does not answer.
        """
        questions = tuple(
            ServerQuestion(key=key, mode=item.mode, message=item.message, schema=item.schema, url=item.url)
            for key, item in requests.items()
        )
        if before.rounds >= ROUNDS_MAX:
            raise UnaskableQuestionError(f"it has asked {ROUNDS_MAX} times before")
        await self._judge(questions)
        await self._check_secrets([(item.key, item.message, item.schema, item.url) for item in questions])
        form = QuestionForm(
            server=self.contact.server.name,
            url=self.contact.server.url,
            tool=self.pin.tool,
            descriptor=self.pin.digest or "",
            questions=questions,
            state=_digest([before.state, before.work]),
        )
        try:
            approval = await self.confirmation.ask(form)
        except CallRefusedError as refused:
            raise UnaskableQuestionError(refused.refusal.message.removeprefix(refusal.ERROR)) from None
        continuation = replace(
            before, questions=questions, approval=approval.id, digest=approval.digest, rounds=before.rounds + 1
        )
        try:
            encode_continuation(continuation)
        except ValueError as error:
            raise UnaskableQuestionError(str(error)) from None
        raise WaitingForPersonError(approval, continuation)

    async def _judge(self, questions: Sequence[ServerQuestion]) -> None:
        """Raise `UnaskableQuestionError` for questions that no person is asked: all of it is a stranger's text."""
        try:
            problem = await offload.run(self.contact.server.owner, offload.TEXT, find_question_problem, questions)
        except (offload.OverBudgetError, offload.TooManyJobsError, offload.JobFailedError):
            problem = "it takes too long to read"
        if problem is not None:
            raise UnaskableQuestionError(problem)

    async def read_answers(self, continuation: Continuation) -> ServerAnswers:
        """Return what a person has answered to the questions of `continuation`.

        Who declined, or let the time pass, is told to the server. Raise `WaitingForPersonError` while a person may still
        answer, `CallRefusedError` for an answer that may not be sent, and `NotSentError` where the store does not answer.
        """
        deps, seq = self.tools.approving, self.claimed_call.ticket.seq
        if deps is None:
            raise CallRefusedError(refusal.refuse_unshowable("nobody can be asked here"))
        place = CallPlace.read(self.claimed_call)
        try:
            approval = await deps.approvals.get(continuation.approval)
        except UnavailableError as fault:
            raise NotSentError(str(fault)) from fault
        if approval is None:
            raise CallRefusedError(refuse_answer("it is not there any longer"))
        if approval.state is ApprovalState.PENDING and deps.clock.now() < approval.expires_at:
            raise WaitingForPersonError(approval, continuation)
        if denies(approval, seq=seq, place=place, verifier=deps.verifier):
            declined = {item.key: DECLINE for item in continuation.questions}
            return ServerAnswers(responses=declined, unanswered=refusal.DENIED)
        if approval.state in (ApprovalState.PENDING, ApprovalState.WITHDRAWN):
            is_expired = approval.state is ApprovalState.PENDING
            cancelled = {item.key: CANCEL for item in continuation.questions}
            return ServerAnswers(responses=cancelled, unanswered=refusal.EXPIRED if is_expired else "")
        text = answers(approval, seq=seq, digest=continuation.digest, place=place, verifier=deps.verifier)
        if text is None or approval.decided is None:
            raise CallRefusedError(refuse_answer("it was not signed as one to this question"))
        decision = approval.decided.decision
        sent = ApprovedSend(approval=approval.id, digest=approval.digest, by=decision.by, at=decision.at)
        return ServerAnswers(responses=await self._build_responses(continuation, text), answered=sent)

    async def _build_responses(self, continuation: Continuation, text: str) -> dict[str, Mapping[str, Any]]:
        answer = json.loads(text)
        problem = next(find_answer_problems(continuation.questions, answer), None)
        if problem is not None:
            raise CallRefusedError(refuse_answer(f"it does not fit the question: {problem.field}"))
        try:
            await self._check_secrets(answer)
        except UnaskableQuestionError:
            raise CallRefusedError(refuse_answer("it holds a credential")) from None
        return {
            item.key: {"action": "accept"} if item.mode == PAGE else {"action": "accept", "content": answer[item.key]}
            for item in continuation.questions
        }

    async def _check_secrets(self, value: Any) -> None:
        """Raise `UnaskableQuestionError` for a value that holds a credential, in any spelling that the scanner knows."""
        credentials = {**self.contact.others, **self.contact.credentials}
        text = json.dumps(value, ensure_ascii=False)
        try:
            clean = await self.tools.redact(self.contact.server.owner, credentials.values(), text)
        except CallRefusedError as refused:
            raise UnaskableQuestionError(refused.refusal.message.removeprefix(refusal.ERROR)) from None
        if clean != text:
            raise UnaskableQuestionError("it holds a credential")


def find_question_problem(questions: Sequence[ServerQuestion]) -> str | None:
    """Return why no person is asked these questions, None where one may be; a function for worker processes."""
    try:
        if len(json.dumps([asdict(question) for question in questions])) > FORM_BYTES_MAX:
            return f"it asks in more than {FORM_BYTES_MAX:,} bytes"
        check_questions(questions)
        check_shapes(questions)
    except UnaskableQuestionError as error:
        return str(error)
    return None


offload.preload(find_question_problem)


def check_shapes(questions: Sequence[ServerQuestion]) -> None:
    """Raise `UnaskableQuestionError` where a form asks for a secret in letters of other scripts that look like Latin ones."""
    for question in questions:
        if question.mode == FORM:
            if asks_for_secret(_show_shapes(question.message)):
                raise UnaskableQuestionError("a form may not ask for a secret, such as a password or a key")
            list_fields(_show_shapes(question.schema))


def _show_shapes(value: Any) -> Any:
    if isinstance(value, str):
        return replace_lookalikes(show_shape(value))
    if isinstance(value, Mapping):
        return {_show_shapes(name): _show_shapes(inner) for name, inner in value.items()}
    return [_show_shapes(inner) for inner in value] if isinstance(value, list) else value


def refuse_answer(why: str) -> Refusal:
    """Refuse to go on with a call by an answer that may not be sent. `why` is our own text."""
    return Refusal(reason="answer_not_sent", message=f"Error: the answer to the MCP server was not sent -- {why}")


def _digest(value: Any) -> str:
    return hashlib.sha256(canonicalize(value)).hexdigest()
