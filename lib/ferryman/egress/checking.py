"""The checks of texts for the event loop: small ones here, others in a worker process, within a budget."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from ferryman import offload
from ferryman.catalog.tools import find_tool
from ferryman.domain.approvals.form import HttpForm
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX, ToolCallResult, limit_result
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.message import Block
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import InboundResponse, OutboundRequest, PreparedRequest
from ferryman.egress import body, checks, on_loop
from ferryman.egress.body import ResponseBody
from ferryman.egress.leaks import SecretPieces
from ferryman.framing.windows import NotDividedError, scan_windows
from ferryman.ports.gate import ScannedText

Answer = TypeVar("Answer")

offload.preload(checks.prepare_request)

TURN = replace(offload.TEXT, wall_s=20.0)
"""The model's output may wait longer: nothing else waits for it, and a repeated request costs the owner a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallChecker:
    """The checks of one call: the request as it was made, with all open credentials of the task by name."""

    policy: ExecutionPolicy
    outbound: OutboundRequest
    credentials: Mapping[str, Credential] = field(repr=False)
    budget: offload.Budget = offload.TEXT
    _packed: list[Any] = field(init=False, repr=False, default_factory=list)

    async def prepare_request(self) -> tuple[PreparedRequest, str, SecretPieces]:
        """Return what `checks.prepare_request` does. Raise `CallRefusedError`, also when it takes more than its budget."""
        policy = replace(self.policy, declared={})  # some thousand names, of which the gate needs none
        try:
            return await self._run(on_loop.is_small(*self._list_written()), checks.prepare_request, policy)
        except (offload.OverBudgetError, offload.TooManyJobsError) as error:
            raise CallRefusedError(refusal.refuse_unchecked("request", str(error))) from None

    async def build_form(self, login: Collection[str]) -> HttpForm:
        """Return what `checks.build_form` does. Raise `CallRefusedError`, also when it takes more than its budget."""
        policy = replace(self.policy, declared={})
        try:
            return await self._run(on_loop.is_small(*self._list_written()), checks.build_form, policy, tuple(login))
        except (offload.OverBudgetError, offload.TooManyJobsError) as error:
            raise CallRefusedError(refusal.refuse_unchecked("request", str(error))) from None

    async def build_result(self, inbound: InboundResponse, nonce: str) -> ToolCallResult:
        """Return the result of `checks.build_result`; over budget the status alone, since the request was sent."""
        try:
            small = len(inbound.headers) <= on_loop.HEADERS_MAX and on_loop.is_small(inbound.body, self.outbound.url)
            return await self._run(small, checks.build_result, inbound, nonce)
        except (offload.OverBudgetError, offload.TooManyJobsError) as error:
            unchecked = refusal.report_unchecked_answer(inbound.status, str(error))
            result = ToolCallResult.from_refusal(self.outbound.tool, unchecked, method=self.outbound.method.value)
            return replace(result, response_status=inbound.status, response_size_bytes=inbound.size_bytes)

    def is_long(self, inbound: InboundResponse, result: ToolCallResult) -> bool:
        """Tell whether there may be more of a response's text than its result shows; of a failure there is not."""
        # a character has at least one byte
        has_more = len(inbound.body) > limit_result(find_tool(self.outbound.tool).policy)
        return has_more and result.ok and result.parts[0].kind is not PartKind.BINARY

    async def scan_long(self, inbound: InboundResponse) -> ScannedText:
        """Return all of a response's text that may be kept, without credentials: in windows, each a job of its own.

        Raise `CallRefusedError` where one takes more than its budget.
        """
        owner = self.policy.owner
        read = await _run("response", owner, self.budget, checks.read_long, inbound)
        if read.text is None or not self.credentials:
            return read
        credentials = offload.pack_argument(self.credentials)

        async def scan(window: str) -> str:
            return await _run("response", owner, self.budget, checks.redact_window, credentials, window)

        try:
            return replace(read, text=await scan_windows(read.text, scan))
        except NotDividedError:
            raise CallRefusedError(refusal.refuse_unchecked("response", "it has credentials all through")) from None

    async def build_refusal(self, reason: Refusal) -> ToolCallResult:
        """Return the result of `checks.build_refusal`; if that fails, a message without any text of the model or the peer."""
        try:
            return await self._run(on_loop.is_small(reason.message, self.outbound.url), checks.build_refusal, reason)
        except (offload.OverBudgetError, offload.TooManyJobsError, offload.JobFailedError):
            redacted = replace(reason, message="Error: the call failed, and why could not be checked for credentials")
            return ToolCallResult.from_refusal(self.outbound.tool, redacted, method=self.outbound.method.value)

    def _list_written(self) -> Iterator[Any]:
        """Yield all of the request that the model, or who declared the tool, wrote."""
        yield from (self.outbound.url, self.outbound.credential, self.outbound.body)
        yield from (self.outbound.headers, self.outbound.query_params, self.outbound.fixed_headers)

    async def _run(self, small: bool, function: Callable[..., Answer], *arguments: Any) -> Answer:
        if small:
            call = self.outbound, self.credentials, *arguments
            answer = await on_loop.check(self.policy.owner, self.credentials.values(), function, *call)
            if answer is not on_loop.UNREAD:
                return cast(Answer, answer)
        if not self._packed:
            self._packed.extend((offload.pack_argument(self.outbound), offload.pack_argument(self.credentials)))
        return await offload.run(self.policy.owner, self.budget, function, *self._packed, *arguments)


WARMING = offload.Budget(cpu_s=10.0, wall_s=40.0, memory_bytes=offload.TEXT.memory_bytes)
"""Of the first worker, which has to be started and to import: on a busy machine that takes longer than any text may."""


async def warm() -> None:
    """Have a worker process import what the checks need, before a first text waits for it."""
    await _run("text", "", WARMING, checks.redact_text, (), "")


async def redact(owner: str, credentials: Iterable[Credential], text: str) -> str:
    """Return `text` with each credential in it replaced by its name. Raise `CallRefusedError` over budget."""
    credentials = tuple(credentials)
    if on_loop.is_small(text):
        answer = await on_loop.check(owner, credentials, checks.redact_text, credentials, text)
        if answer is not on_loop.UNREAD:
            return cast(str, answer)
    return await _run("text", owner, offload.TEXT, checks.redact_text, credentials, text)


async def redact_document(owner: str, credentials: Iterable[Credential], body: bytes) -> bytes:
    """Redact a document of some megabytes in UTF-8; raise as `redact` does. No text of that size is made in this process."""
    return await _run("document", owner, offload.DOCUMENT, checks.redact_document, tuple(credentials), body)


async def scan_output(owner: str, credentials: Iterable[Credential], content: Sequence[Block]) -> Sequence[Block]:
    """Return the blocks of a model's turn redacted, as they may be stored; raise as `redact` does."""
    credentials = tuple(credentials)
    if on_loop.is_small(content, most=on_loop.TURN_CHARACTERS_MAX):
        answer = await on_loop.check(owner, credentials, checks.scan_output, credentials, content)
        if answer is not on_loop.UNREAD:
            return cast(Sequence[Block], answer)
    return await _run("model's turn", owner, TURN, checks.scan_output, credentials, content)


async def frame_text(
    owner: str, credentials: Iterable[Credential], text: str, most: int = RESULT_CHARACTERS_MAX
) -> tuple[str, Part]:
    """Return a text of the system that quotes others, redacted, cut to `most` characters and framed, and its part in the frame.

    Raise as `redact` does.
    """
    nonce = secrets.token_hex(8)
    framed = await _run("result", owner, offload.TEXT, checks.frame_text, tuple(credentials), text, nonce, most)
    return framed.content, framed.part


async def finish_body(owner: str, received: ResponseBody, budget: offload.Budget = offload.TEXT) -> ResponseBody:
    """Return `received` after its end, in a worker process where it needs one.

    Raise `CallRefusedError` if it does not decode.
    """
    if not received.needs_worker:
        return received.finish()
    try:
        return await offload.run(owner, budget, body.finish_body, received)
    except (offload.OverBudgetError, offload.TooManyJobsError):
        raise CallRefusedError(refusal.report_failure("the answer's content coding took too long to undo")) from None


async def _run(what: str, owner: str, budget: offload.Budget, function: Callable[..., Answer], *arguments: Any) -> Answer:
    try:
        return await offload.run(owner, budget, function, *arguments)
    except (offload.OverBudgetError, offload.TooManyJobsError) as error:
        raise CallRefusedError(refusal.refuse_unchecked(what, str(error))) from None
