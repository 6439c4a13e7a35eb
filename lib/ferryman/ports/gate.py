"""The ports of the gate, the only way to other hosts (SSRF protection), and of name resolution; what one call may do there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ferryman.domain.approvals.form import HttpForm
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.credentials.coverage import Coverage
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.address import Address
from ferryman.domain.http.request import InboundResponse, OutboundRequest


class Confirmation(Protocol):
    """Whether a call waits for a person: asked with the request that is about to leave, after every other check."""

    def needs_form(self, *, host: str, method: str) -> bool:
        """Tell whether a person has to have approved the call, which is one of `method` to `host`."""

    async def confirm(self, form: HttpForm, *, host: str, method: str) -> None:
        """Return where a person has approved what is about to leave.

        Raise `CallRefusedError` where a person denied it, and `NotSentError` where one has yet to decide.
        """


class PieceTally(Protocol):
    """The pieces of secrets in one request: the coverage with them, and the credential that is covered too far."""

    def add_to(self, earlier: Coverage) -> tuple[str | None, Coverage]: ...


PieceCounter = Callable[[PieceTally], Awaitable[str | None]]
"""Adds pieces to those that the execution has sent before, and stores the sum; returns the name of the credential that is
covered too far, or None. Raises `UnavailableError`."""


@dataclass(slots=True)
class SendingState:
    """Whether a request has `begun` to be sent, which is set before its first byte is: names and handshakes come earlier."""

    begun: bool = False


@dataclass(slots=True)
class LongAnswer:
    """How an answer is scanned that is longer than its result shows; None where it shows all of it, and of a failure."""

    scan: Callable[[], Awaitable[ScannedText]] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ScannedText:
    """The text of an answer without credentials, None where it is no text.

    `is_cut` tells that more of it was read, `is_part` that its host sent more than was read.
    """

    text: str | None = field(repr=False)
    is_cut: bool = False
    is_part: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPolicy:
    """What one call may do: the policy of its execution, all open credentials of the task by name, and the call's own limits.

    `about` is added to the log line of the call. `count` adds up pieces of secrets over the calls of an execution; without it
    the call is judged alone. `execution_id` names the execution whose connections the call may reuse; without it the call has a
    connection of its own. `within_s` seconds and `body_max` bytes of the response's body lower the limits of the gate and
    of the owner's plan; None leaves these. In `sending` the gate notes that the request begins to be sent, in `long` how all
    of its answer is scanned. `confirm` is asked before the call leaves; without it nobody is. `login` names the credentials
    that a fetched token among the others was exchanged for.
    """

    execution: ExecutionPolicy
    credentials: Mapping[str, Credential] = field(repr=False)
    about: Mapping[str, Any] = field(default_factory=dict)
    count: PieceCounter | None = field(default=None, repr=False)
    confirm: Confirmation | None = field(default=None, repr=False)
    login: Collection[str] = ()
    execution_id: str | None = None
    within_s: float | None = None
    body_max: int | None = None
    sending: SendingState = field(default_factory=SendingState)
    long: LongAnswer = field(default_factory=LongAnswer)


class Sender(Protocol):
    """Sends calls of the model. Every failure is a result, but an `UnavailableError` of `count` or `confirm`: it is raised."""

    async def send(self, outbound: OutboundRequest, call: CallPolicy) -> ToolCallResult: ...


class ResponseReader(Protocol):
    """Reads one response as it arrives: first its head, then its body in parts, decoded from its content coding.

    Both methods tell whether more of the response is wanted, and may raise `CallRefusedError`. They are called one after the
    other; the next part is not received before they return.
    """

    async def begin(self, status: int, headers: Sequence[tuple[str, str]]) -> bool: ...

    async def feed(self, content: bytes) -> bool: ...


class FetchGate(Sender, Protocol):
    """Sends requests of the system too: `fetch` returns the response itself, or raises `CallRefusedError`."""

    async def fetch(self, outbound: OutboundRequest, call: CallPolicy) -> InboundResponse: ...


class StreamGate(FetchGate, Protocol):
    """Sends requests whose responses are read as they arrive, and shows the model what was read of them.

    `stream` hands the response to `reader`, and returns it without its body; `cut` tells that it was longer than
    `call.body_max`. At most `idle_s` seconds pass between two parts of it; None: only the whole call is limited. Raises as
    `fetch` does.

    `present` sends nothing. It returns what `send` returns where it receives `inbound`: redacted, bounded, framed.
    """

    async def stream(
        self, outbound: OutboundRequest, call: CallPolicy, reader: ResponseReader, *, idle_s: float | None = None
    ) -> InboundResponse: ...

    async def present(self, outbound: OutboundRequest, call: CallPolicy, inbound: InboundResponse) -> ToolCallResult: ...


class NameResolver(Protocol):
    """Name resolution (DNS), for `owner`. Returns every address of `host`, or raises OSError."""

    async def resolve(self, host: str, *, owner: str) -> Sequence[Address]: ...
