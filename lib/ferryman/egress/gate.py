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
from ferryman.domain.call import ToolCallResult
from ferryman.domain.credential import Credential
from ferryman.domain.http import REQUEST_SECONDS, Inbound, Outbound, Prepared
from ferryman.domain.refusal import Refusal, Refused
from ferryman.domain.remit import Remit
from ferryman.egress import headers, quiet
from ferryman.egress.allow import allowed
from ferryman.egress.binding import bound
from ferryman.egress.inject import prepare
from ferryman.egress.leaks import Scanner
from ferryman.egress.pin import Dialer, Watched, validated
from ferryman.egress.sanitize import shown
from ferryman.egress.send import send
from ferryman.ports import Log, Names

AUTHENTICATED = "api_call"
"""The tool whose requests carry a credential."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A request that passed every check, and the addresses it may be carried to."""

    prepared: Prepared
    addresses: tuple[Address, ...]


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
        started = self._clock()
        within_s = self._within_s if within_s is None else min(within_s, self._within_s)
        scanner: Scanner | None = None
        reason: Refusal | None = None
        fault = None
        dialer = Watched(self._dial)
        try:
            scanner = Scanner(credentials.values())
            async with asyncio.timeout(within_s):
                ready = await self.judge(outbound, remit=remit, credentials=credentials, scanner=scanner)
                inbound = await send(
                    ready.prepared,
                    ready.addresses,
                    dialer=dialer,
                    tls=self._tls,
                    body_max=remit.plan.response_bytes,
                    within_s=within_s,
                )
            result = self._answered(outbound, inbound, scanner)
        except Refused as refused:
            reason = refused.refusal
        except TimeoutError:
            reason = refusal.timed_out(self._within_s)
        except Exception as error:  # noqa: BLE001 - nothing may leave a tool but a result; its type is traced, its text may hold a key
            fault = type(error).__name__
            reason = refusal.failed("an internal fault") if dialer.dialled else refusal.internal_fault()
        if reason is not None:
            result = _refused(outbound, reason if dialer.dialled else replace(reason, blocked=True), scanner)
        known = outbound.credential if outbound.credential in credentials else None
        result = replace(result, credential_used=known, latency_ms=round((self._clock() - started) * 1000, 3))
        self._trace(result, about or {}, reason, fault)
        return result

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
        scan(outbound, scanner)
        prepared = prepare(outbound, url, headers.checked(outbound.headers, credentials.values()), credential)
        addresses = await validated(url.host, self._names)
        return Ready(prepared=prepared, addresses=addresses)

    def _answered(self, outbound: Outbound, inbound: Inbound, scanner: Scanner) -> ToolCallResult:
        return ToolCallResult(
            tool=outbound.tool,
            content=shown(inbound, scanner, nonce=self._nonce()),
            url=scanner.redact(outbound.url),
            method=outbound.method.value,
            response_status=inbound.status,
            response_size_bytes=inbound.size_bytes,
        )

    def _trace(self, result: ToolCallResult, about: Mapping[str, Any], reason: Refusal | None, fault: str | None) -> None:
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
            "fault": fault,
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
