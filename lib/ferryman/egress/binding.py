"""Credential binding: a credential is sent to the hosts it was stored for, and to no other."""

from __future__ import annotations

from collections.abc import Mapping

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.http.host import is_covered


def find_bound_credential(name: str, host: str, credentials: Mapping[str, Credential]) -> Credential:
    """Return the task's credential `name`. Raise `CallRefusedError` unless it exists and may be sent to `host`."""
    credential = credentials.get(name)
    if credential is None:
        raise CallRefusedError(refusal.refuse_unknown_credential(name))
    if not is_covered(credential.label.hosts, host):
        raise CallRefusedError(refusal.refuse_credential_for_host(name, host))
    return credential
