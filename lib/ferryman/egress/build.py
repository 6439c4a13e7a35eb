"""The way out of a key holder: the gate on the internet, or on the simulated one of a local stack."""

from __future__ import annotations

from ferryman.egress.gate import EgressGate
from ferryman.egress.pin import DirectDialer, Resolver
from ferryman.egress.simulated import SimulatedInternet
from ferryman.egress.tls import create_context
from ferryman.ports.log import Log
from ferryman.settings import Settings


def build_gate(settings: Settings, tracer: Log) -> EgressGate:
    """Return the gate. Settings refuse the simulated internet in a deployed function, so that only this place decides."""
    if settings.simulated_internet:
        simulated = SimulatedInternet(settings.simulated_internet)
        table = simulated.read_table()
        context = create_context(table.ca, table.client)
        return EgressGate(names=simulated, dial=simulated, tls=context, tracer=tracer, within_s=settings.request_s)
    return EgressGate(names=Resolver(), dial=DirectDialer(), tls=create_context(), tracer=tracer, within_s=settings.request_s)
