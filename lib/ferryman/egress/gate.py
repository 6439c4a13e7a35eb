"""The gate: the only way out, and the order of the checks on it."""

from __future__ import annotations

import asyncio
import secrets
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ferryman.domain import refusal
from ferryman.domain.address import Address
from ferryman.domain.call import AUTHENTICATED, ToolCallResult
from ferryman.domain.credential import Credential
from ferryman.domain.http import REQUEST_SECONDS, Inbound, Outbound, Prepared
from ferryman.domain.refusal import Refusal, Refused
from ferryman.domain.remit import Remit
from ferryman.egress import headers, holes, quiet
from ferryman.egress.allow import allowed
from ferryman.egress.binding import bound
from ferryman.egress.inject import prepare
from ferryman.egress.leaks import Scanner
from ferryman.egress.pin import Dialer, Watched, validated
from ferryman.egress.sanitize import shown
from ferryman.egress.send import send
from ferryman.ports import Log, Names


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A request that passed every check, and the addresses it may be carried to."""

    prepared: Prepared
    addresses: tuple[Address, ...]


@dataclass(slots=True)
class _Crossing:
    """How one call fares: when it began, in seconds, what looks through it, and why it ended where it did not arrive."""

    started: float
    dialer: Watched
    scanner: Scanner | None = None
    reason: Refusal | None = None
    fault: str | None = None

    def ended(self, reason: Refusal) -> None:
        # what ended before anything was dialled is blocked, whatever ended it
        self.reason = reason if self.dialer.dialled else replace(reason, blocked=True)

    def failed(self, error: Exception) -> None:
        self.fault = type(error).__name__
        self.ended(refusal.failed("an internal fault") if self.dialer.dialled else refusal.internal_fault())


class Gate:
    """Carries calls across. `tls` is shared by all calls, nothing else is. `clock` counts seconds."""

    def __init__(
        self,
        *,
        names: Names,
        dial: Dialer,
        tls: ssl.SSLContext,
        tracer: Log,
        clock: Callable[[], float] = time.perf_counter,
        nonce: Callable[[], str] = lambda: secrets.token_hex(8),
        within_s: float = REQUEST_SECONDS,
    ) -> None:
        quiet.silence()  # whoever has a gate has the libraries behind it silenced
        self._names = names
        self._dial = dial
        self._tls = tls
        self._tracer = tracer
        self._clock = clock
        self._nonce = nonce
        self._within_s = within_s

    async def send(
        self,
        outbound: Outbound,
        *,
        remit: Remit,
        credentials: Mapping[str, Credential],
        about: Mapping[str, Any] | None = None,
        within_s: float | None = None,
    ) -> ToolCallResult:
        """Carry one call, or refuse it. `credentials` are all of the task. Always a result, whatever happens on the way.

        A call that ends before anything was dialled is blocked, whatever ended it. `about` is added to the line that is traced;
        `within_s` is a shorter time to do it in than the gate's own.
        """
        crossing = _Crossing(self._clock(), Watched(self._dial))
        inbound = await self._crossed(crossing, outbound, remit=remit, credentials=credentials, within_s=within_s)
        result = None
        if inbound is not None and crossing.scanner is not None:
            try:
                result = self._answered(outbound, inbound, crossing.scanner)
            except Exception as error:  # noqa: BLE001 - as in _crossed
                crossing.failed(error)
        if result is None:
            assert crossing.reason is not None, "what did not arrive has a reason"
            result = _refused(outbound, crossing.reason, crossing.scanner)
        known = next((name for name in _used(outbound) if name in credentials), None)
        result = replace(result, credential_used=known, latency_ms=self._took(crossing))
        self._trace(result, about or {}, crossing)
        return result

    async def fetch(
        self,
        outbound: Outbound,
        *,
        remit: Remit,
        credentials: Mapping[str, Credential],
        about: Mapping[str, Any] | None = None,
        within_s: float | None = None,
        body_max: int | None = None,
    ) -> Inbound:
        """The answer itself, for ourselves: a token's or a document's. The same checks; raises `Refused`.

        At most `body_max` bytes of its body, the plan's limit where that is None. Nothing of it has been redacted.
        """
        crossing = _Crossing(self._clock(), Watched(self._dial))
        inbound = await self._crossed(
            crossing, outbound, remit=remit, credentials=credentials, within_s=within_s, body_max=body_max
        )
        reason = crossing.reason or refusal.internal_fault()
        line = ToolCallResult.refused(outbound.tool, reason, method=outbound.method.value, latency_ms=self._took(crossing))
        if inbound is not None and crossing.scanner is not None:
            line = replace(
                line,
                url=crossing.scanner.redact(outbound.url),
                response_status=inbound.status,
                response_size_bytes=inbound.size_bytes,
                blocked=False,
                block_reason=None,
            )
        self._trace(line, about or {}, crossing)
        if inbound is None:
            raise Refused(reason if crossing.scanner is None else spoken(reason, crossing.scanner))
        return inbound

    async def _crossed(
        self,
        crossing: _Crossing,
        outbound: Outbound,
        *,
        remit: Remit,
        credentials: Mapping[str, Credential],
        within_s: float | None,
        body_max: int | None = None,
    ) -> Inbound | None:
        """What came back, or None, and then the crossing has the reason."""
        within_s = self._within_s if within_s is None else min(within_s, self._within_s)
        try:
            crossing.scanner = Scanner(credentials.values())
            async with asyncio.timeout(within_s):
                ready = await self.judge(outbound, remit=remit, credentials=credentials, scanner=crossing.scanner)
                return await send(
                    ready.prepared,
                    ready.addresses,
                    dialer=crossing.dialer,
                    tls=self._tls,
                    body_max=remit.plan.response_bytes if body_max is None else body_max,
                    within_s=within_s,
                )
        except Refused as refused:
            crossing.ended(refused.refusal)
        except TimeoutError:
            crossing.ended(refusal.timed_out(self._within_s))
        except Exception as error:  # noqa: BLE001 - nothing may leave a tool but a result; its type is traced, its text may hold a key
            crossing.failed(error)
        return None

    async def judge(
        self,
        outbound: Outbound,
        *,
        remit: Remit,
        credentials: Mapping[str, Credential],
        scanner: Scanner | None = None,
    ) -> Ready:
        """Everything `send` checks before it dials, in its order; raises `Refused` with the first that fails."""
        scanner = Scanner(credentials.values()) if scanner is None else scanner
        named = _named(outbound)
        url = allowed(outbound.tool, outbound.url, remit)
        credential = bound(named, url.host, credentials) if named is not None else None
        for name in holes.names(outbound):
            bound(name, url.host, credentials)
        scan(outbound, scanner)
        headers.own(outbound.fixed_headers)
        checked = headers.checked(outbound.headers, credentials.values())
        prepared = prepare(outbound, url, checked, credential, credentials)
        addresses = await validated(url.host, self._names)
        return Ready(prepared=prepared, addresses=addresses)

    def _answered(self, outbound: Outbound, inbound: Inbound, scanner: Scanner) -> ToolCallResult:
        content = shown(inbound, scanner, nonce=self._nonce())
        if outbound.ok is not None and inbound.status not in outbound.ok:
            content = f"Error: HTTP {inbound.status}\n{content}"  # S1-39
        return ToolCallResult(
            tool=outbound.tool,
            content=content,
            url=scanner.redact(outbound.url),
            method=outbound.method.value,
            response_status=inbound.status,
            response_size_bytes=inbound.size_bytes,
        )

    def _took(self, crossing: _Crossing) -> float:
        return round((self._clock() - crossing.started) * 1000, 3)

    def _trace(self, result: ToolCallResult, about: Mapping[str, Any], crossing: _Crossing) -> None:
        reason = crossing.reason
        own = {
            "tool": result.tool,
            "url": result.url,
            "method": result.method,
            "credential": result.credential_used,
            "status": result.response_status,
            "size_bytes": result.response_size_bytes,
            "latency_ms": result.latency_ms,
            "blocked": result.blocked,
            "reason": result.block_reason,
            "leaked": reason.credential if reason and reason.reason == refusal.LEAK else None,
            "fault": crossing.fault,
        }
        self._tracer.line("call", **{**about, **own})


def scan(outbound: Outbound, scanner: Scanner) -> None:
    """Refuse a request that holds any of the task's credentials in what the model wrote."""
    finding = scanner.outbound(outbound)
    if finding is None:
        return
    if finding.name is None:
        raise Refused(refusal.wrong_argument(outbound.tool, "arguments", "plain enough to be checked for credentials"))
    raise Refused(refusal.leaked(finding.name))


def spoken(reason: Refusal, scanner: Scanner) -> Refusal:
    """`reason` as the model may read it: before the scan, a host or a credential it names may be a secret in disguise."""
    return replace(reason, message=scanner.redact(reason.message))


def _used(outbound: Outbound) -> list[str]:
    """The credentials a call asks for: the one it names, or those it has holes for."""
    return [outbound.credential] if outbound.credential is not None else holes.names(outbound)


def _named(outbound: Outbound) -> str | None:
    """The credential an authenticated tool names; the other tools carry none, whatever they say."""
    if outbound.tool != AUTHENTICATED:
        return None
    if not outbound.credential:
        raise Refused(refusal.missing_credential())
    return outbound.credential


def _refused(outbound: Outbound, reason: Refusal, scanner: Scanner | None) -> ToolCallResult:
    if scanner is None:
        return ToolCallResult.refused(outbound.tool, reason, method=outbound.method.value)
    return ToolCallResult.refused(
        outbound.tool, spoken(reason, scanner), url=scanner.redact(outbound.url), method=outbound.method.value
    )
