"""A gate that reaches nobody: for what it does with texts alone."""

from __future__ import annotations

from ferryman.egress.gate import EgressGate
from ferryman.egress.pin import DirectDialer
from ferryman.egress.tls import create_context
from ferryman.inmemory.log import RecordingLog
from ferryman.ports.gate import NameResolver


def build_offline_gate(names: NameResolver) -> EgressGate:
    """Return a gate that resolves `names` alone."""
    return EgressGate(names=names, dial=DirectDialer(), tls=create_context(), tracer=RecordingLog(), nonce=lambda: "n0")
