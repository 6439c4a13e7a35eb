"""The gate: egress filtering of every call that leaves the deployment, and the order of its checks."""

from __future__ import annotations

import asyncio
import re
import secrets
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.address import Address
from ferryman.domain.http.request import REQUEST_SECONDS, InboundResponse, OutboundRequest, PreparedRequest
from ferryman.egress import quiet
from ferryman.egress.checking import CallChecker
from ferryman.egress.idle import IdleConnections
from ferryman.egress.inject import list_request_placeholders
from ferryman.egress.pin import Dialer, WatchedDialer, resolve_public_addresses
from ferryman.egress.receive import ResponseFeed
from ferryman.egress.send import Sending, send, send_again_on
from ferryman.egress.sessions import TlsSessions
from ferryman.offload import TEXT, Budget, JobFailedError
from ferryman.ports.errors import UnavailableError
from ferryman.ports.gate import CallPolicy, NameResolver, ResponseReader
from ferryman.ports.log import Log


@dataclass(slots=True, kw_only=True)
class ExchangeState:
    """One call: its policy, when it began (seconds by the gate's clock), and its state.

    `url` is the redacted URL, once the request has passed the checks; `fault` names an internal fault in the log.
    """

    call: CallPolicy
    started_s: float
    dialer: WatchedDialer
    checker: CallChecker
    url: str | None = None
    fault: str | None = None

    @contextmanager
    def refusing_failures(self, *, within_s: float) -> Iterator[None]:
        """Raise every failure of the block as `CallRefusedError`: no foreign error, whose text may hold a key, leaves the gate.

        A call that ends before anything was dialled is blocked, whatever ended it. `UnavailableError` passes then: nothing was
        sent, and the call may be made again.
        """
        try:
            yield
        except CallRefusedError as refused:
            reason = refused.refusal
        except TimeoutError:
            reason = refusal.report_timeout(within_s)
        except Exception as error:
            if isinstance(error, UnavailableError) and not self.dialer.dialled:
                raise
            self.fault = str(error) if isinstance(error, JobFailedError) else type(error).__name__
            reason = refusal.report_failure("an internal fault") if self.dialer.dialled else refusal.INTERNAL_ERROR
        else:
            return
        raise CallRefusedError(reason if self.dialer.dialled else replace(reason, blocked=True)) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyRequest:
    """A request that passed every check, the addresses it may be sent to, and its redacted URL."""

    prepared: PreparedRequest
    addresses: tuple[Address, ...]
    url: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class EgressGate:
    """Sends calls that pass every check: the implementation of `ports.gate.Gate`.

    `tls` is shared by all calls, `idle` connections and their TLS `sessions` by those of one execution to one host, and nothing
    else. `clock` counts
    seconds; `within_s` bounds a call; `budget` is what checking a request, and checking its response, may each take.
    """

    names: NameResolver
    dial: Dialer
    tls: ssl.SSLContext
    tracer: Log
    clock: Callable[[], float] = time.perf_counter
    nonce: Callable[[], str] = lambda: secrets.token_hex(8)
    within_s: float = REQUEST_SECONDS
    budget: Budget = TEXT
    idle: IdleConnections = field(default_factory=IdleConnections, repr=False)
    sessions: TlsSessions = field(default_factory=TlsSessions, repr=False)

    def __post_init__(self) -> None:
        quiet.silence_network_logs()

    async def send(self, outbound: OutboundRequest, call: CallPolicy) -> ToolCallResult:
        """Send one call, or refuse it; return its result as the model may read it, whatever happens.

        Raise `UnavailableError` where `call.count` or `call.confirm` does: nothing was sent then.
        """
        exchange = self._begin(outbound, call)
        reason, call.long.scan = None, None
        try:
            inbound = await self._fetch(exchange)
            with exchange.refusing_failures(within_s=self._limit_time(exchange)):
                result = await exchange.checker.build_result(inbound, self.nonce())
            if exchange.checker.is_long(inbound, result):
                call.long.scan = partial(exchange.checker.scan_long, inbound)
        except CallRefusedError as refused:
            reason = refused.refusal
            result = await exchange.checker.build_refusal(reason)
        names = list_request_placeholders(outbound) if outbound.credential is None else [outbound.credential]
        used = next((name for name in names if name in call.credentials), None)
        return self._log(exchange, replace(result, credential_used=used), reason)

    async def fetch(self, outbound: OutboundRequest, call: CallPolicy) -> InboundResponse:
        """Return the response itself, for the system's own use: a token's or a document's. Nothing of it is redacted.

        The checks are those of `send`. Raise `CallRefusedError`, and `UnavailableError` as `send` does.
        """
        return await self._fetch_logging(self._begin(outbound, call))

    async def stream(
        self, outbound: OutboundRequest, call: CallPolicy, reader: ResponseReader, *, idle_s: float | None = None
    ) -> InboundResponse:
        """Return the response without its body, which `reader` is fed as it arrives. Nothing of it is redacted.

        The checks are those of `send`, and at most `idle_s` seconds may pass between two parts. The connection is used again
        only after the end of the body. Raise `CallRefusedError`, and `UnavailableError` as `send` does.
        """
        return await self._fetch_logging(self._begin(outbound, call), ResponseFeed(reader, idle_s))

    async def present(self, outbound: OutboundRequest, call: CallPolicy, inbound: InboundResponse) -> ToolCallResult:
        """Return the result of a response that was read by `stream`, as `send` would have; nothing is sent, nothing raised."""
        exchange = self._begin(outbound, call)
        exchange.dialer.dialled = True  # it was
        call.long.scan = None
        try:
            with exchange.refusing_failures(within_s=self._limit_time(exchange)):
                result = await exchange.checker.build_result(inbound, self.nonce())
            if exchange.checker.is_long(inbound, result):
                call.long.scan = partial(exchange.checker.scan_long, inbound)
        except CallRefusedError as refused:
            result = await exchange.checker.build_refusal(refused.refusal)
        return result

    async def _fetch_logging(self, exchange: ExchangeState, feed: ResponseFeed | None = None) -> InboundResponse:
        outbound = exchange.checker.outbound
        line = ToolCallResult(tool=outbound.tool, content="", method=outbound.method.value)
        try:
            inbound = await self._fetch(exchange, feed)
        except CallRefusedError as refused:
            reason = refused.refusal
            line = ToolCallResult.from_refusal(outbound.tool, reason, method=outbound.method.value)
            self._log(exchange, line, reason)
            redacted = await exchange.checker.build_refusal(reason)
            raise CallRefusedError(replace(reason, message=redacted.content)) from None
        line = replace(line, url=exchange.url, response_status=inbound.status, response_size_bytes=inbound.size_bytes)
        self._log(exchange, line)
        return inbound

    async def prepare(self, outbound: OutboundRequest, call: CallPolicy) -> ReadyRequest:
        """Return the request after every check that precedes dialling, in their order.

        Raise `CallRefusedError` with the first check that fails.
        """
        exchange = self._begin(outbound, call)
        prepared, url = await self._check(exchange)
        return ReadyRequest(prepared=prepared, addresses=await self._resolve(exchange, prepared), url=url)

    def _begin(self, outbound: OutboundRequest, call: CallPolicy) -> ExchangeState:
        checker = CallChecker(policy=call.execution, outbound=outbound, credentials=call.credentials, budget=self.budget)
        dialer = WatchedDialer(self.dial)
        return ExchangeState(call=call, started_s=self.clock(), dialer=dialer, checker=checker)

    async def _fetch(self, exchange: ExchangeState, feed: ResponseFeed | None = None) -> InboundResponse:
        """Return the response. Raise `CallRefusedError` for every failure but `UnavailableError` before dialling."""
        call = exchange.call
        within_s = min(self._limit_time(exchange), self.within_s if call.within_s is None else call.within_s)
        with exchange.refusing_failures(within_s=self._limit_time(exchange)):
            async with asyncio.timeout(within_s):
                prepared, exchange.url = await self._check(exchange)
                host = prepared.url.host
                sending = Sending(
                    prepared=prepared,
                    body_max=call.execution.plan.response_bytes if call.body_max is None else call.body_max,
                    within_s=within_s,
                    owner=call.execution.owner,
                    idle=self.idle,
                    sessions=self.sessions,
                    place=None if call.execution_id is None else (call.execution_id, host),
                    repeatable=exchange.checker.outbound.repeatable,
                    state=call.sending,
                    feed=feed,
                )
                return await self._send_reusing(exchange, sending) or await self._send_dialling(exchange, sending)

    def _limit_time(self, exchange: ExchangeState) -> float:
        """Return the seconds that the tool's calls may take, as its timeout says; a call that began late has less."""
        most = find_tool(exchange.checker.outbound.tool).policy.timeout_s
        return self.within_s if most is None else min(most, self.within_s)

    async def _send_reusing(self, exchange: ExchangeState, sending: Sending) -> InboundResponse | None:
        """Return the response by an idle connection of the same execution to the same host; None where there is none."""
        connection = sending.take_connection()
        if connection is None:
            return None
        exchange.dialer.dialled = True  # it may be sent
        return await send_again_on(sending, connection)

    async def _send_dialling(self, exchange: ExchangeState, sending: Sending) -> InboundResponse:
        addresses = await self._resolve(exchange, sending.prepared)
        return await send(sending, addresses, dialer=exchange.dialer, tls=self.tls)

    async def _resolve(self, exchange: ExchangeState, prepared: PreparedRequest) -> tuple[Address, ...]:
        owner = exchange.call.execution.owner
        return await resolve_public_addresses(prepared.url.host, self.names, owner=owner)

    async def _check(self, exchange: ExchangeState) -> tuple[PreparedRequest, str]:
        call = exchange.call
        prepared, url, pieces = await exchange.checker.prepare_request()
        host, method = prepared.url.host, prepared.method.value
        if call.confirm is not None and call.confirm.needs_form(host=host, method=method):
            await call.confirm.confirm(await exchange.checker.build_form(call.login), host=host, method=method)
        if call.count is not None and pieces.ranges and (name := await call.count(pieces)) is not None:
            raise CallRefusedError(refusal.refuse_leak(name))  # before the lookup: the labels of a host leave with it
        return prepared, url

    def _log(self, exchange: ExchangeState, result: ToolCallResult, reason: Refusal | None = None) -> ToolCallResult:
        """Return `result` with its latency, as the log has it."""
        result = replace(result, latency_ms=round((self.clock() - exchange.started_s) * 1000, 3))
        fields = {
            "tool": result.tool,
            "url": None if result.url is None else _cut_url(result.url, exchange.call.execution),
            "method": result.method,
            "credential": result.credential_used,
            "status": result.response_status,
            "size_bytes": result.response_size_bytes,
            "latency_ms": result.latency_ms,
            "blocked": result.blocked,
            "reason": result.block_reason,
            "leaked": reason.credential if reason and reason.reason == refusal.LEAK else None,
            "fault": exchange.fault,
        }
        self.tracer.line("call", **{**exchange.call.about, **fields})
        return result


def _cut_url(url: str, policy: ExecutionPolicy) -> str:
    """Return `url` as it is logged: without its query, in which people put keys, and towards the host of a webhook's address
    without its path, which is the secret of such an address at many services."""
    scheme, sign, rest = url.partition("?")[0].partition("://")
    host = _read_host(url)
    return f"{scheme}{sign}{host}" if host in map(_read_host, policy.webhook_urls) else f"{scheme}{sign}{rest}"


def _read_host(url: str) -> str:
    # in whatever spelling: what is logged may be a URL that was refused
    return re.split(r"[/\\?#]", url.partition("://")[2], maxsplit=1)[0].partition(":")[0].rstrip(".").lower()
