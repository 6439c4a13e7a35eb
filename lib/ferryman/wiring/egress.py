"""The way out: the gate on the real internet, or on the pretend one of the local stack."""

from __future__ import annotations

from ferryman.egress import tls
from ferryman.egress.gate import Gate
from ferryman.egress.local import Pretend
from ferryman.egress.pin import Direct
from ferryman.egress.resolve import Resolver
from ferryman.ports import Log
from ferryman.settings import Settings


def gate(settings: Settings, tracer: Log) -> Gate:
    """The gate. Settings refuse the pretend internet in a deployed function, so that this is the only place that decides."""
    if settings.pretend_internet:
        pretend = Pretend(settings.pretend_internet)
        return Gate(names=pretend, dial=pretend, tls=tls.context(pretend.ca), tracer=tracer, within_s=settings.request_s)
    return Gate(names=Resolver(), dial=Direct(), tls=tls.context(), tracer=tracer, within_s=settings.request_s)
