"""Binding: a credential goes to the hosts it was stored for, and to no other."""

from __future__ import annotations

from collections.abc import Mapping

from ferryman.domain import refusal
from ferryman.domain.credential import Credential
from ferryman.domain.host import covered
from ferryman.domain.refusal import Refused


def bound(name: str, host: str, credentials: Mapping[str, Credential]) -> Credential:
    """The task's credential `name`, which may be sent to `host`, or `Refused`."""
    credential = credentials.get(name)
    if credential is None:
        raise Refused(refusal.credential_not_found(name))
    if not covered(credential.label.hosts, host):
        raise Refused(refusal.credential_not_for_host(name, host))
    return credential
