"""The state of one call on its way through the gate, and how its failures become refusals."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import OutboundRequest
from ferryman.egress.checking import CallChecker
from ferryman.egress.pin import WatchedDialer
from ferryman.offload import JobFailedError
from ferryman.ports.errors import UnavailableError
from ferryman.ports.gate import CallPolicy


@dataclass(slots=True, kw_only=True)
class ExchangeState:
    """One call: its request and policy, when it began (seconds by the gate's clock), and its state.

    `url` is the redacted URL, once the request has passed the checks; `fault` names an internal fault in the log.
    """

    outbound: OutboundRequest
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
