"""The way out of a process: its one TLS context, and the gate on the internet, or on the simulated one of a local stack."""

from __future__ import annotations

import ssl
from functools import cache
from pathlib import Path

import certifi

from ferryman.egress.gate import EgressGate
from ferryman.egress.pin import DirectDialer, Resolver
from ferryman.egress.simulated import SimulatedInternet
from ferryman.ports.log import Log
from ferryman.settings import Settings


@cache
def create_context(ca: Path | None = None, client: Path | None = None) -> ssl.SSLContext:
    """Return a context that verifies certificates and host names.

    For the local stack only, `ca` replaces the authorities, and `client` is a file with the client certificate and its key.
    `ssl.create_default_context` lets SSLKEYLOGFILE write session keys to a file, and SSL_CERT_FILE choose the authorities.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    context.set_alpn_protocols(["http/1.1"])
    context.load_verify_locations(cafile=str(ca) if ca else certifi.where())
    if client is not None:
        context.load_cert_chain(client)
    return context


def build_gate(settings: Settings, tracer: Log) -> EgressGate:
    """Return the gate. Settings refuse the simulated internet in a deployed function, so that only this place decides."""
    if settings.simulated_internet:
        simulated = SimulatedInternet(settings.simulated_internet)
        table = simulated.read_table()
        context = create_context(table.ca, table.client)
        return EgressGate(names=simulated, dial=simulated, tls=context, tracer=tracer, within_s=settings.request_s)
    return EgressGate(names=Resolver(), dial=DirectDialer(), tls=create_context(), tracer=tracer, within_s=settings.request_s)
