"""Former values of credentials, opened for secret scanning alone: no call can name one, and none may be sent to any host."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import AuthType, Credential, SealedCredential, Secret
from ferryman.domain.credentials.former import FormerValue, FormerValues, replace_sealed, select_current
from ferryman.ports.credentials import Credentials
from ferryman.ports.log import Log
from ferryman.tools.vault import ToolVault


async def open_former(
    vault: ToolVault, stored: Iterable[FormerValues], *, task: str, now: datetime, log: Log
) -> dict[str, Credential]:
    """Return the former values that were `stored` for `task` and are still scanned for, under names that no credential has.

    A value that does not open is omitted: it is sealed to a destroyed version of the key, or was moved here from another task.
    Raise `UnavailableError`.
    """
    credentials: dict[str, Credential] = {}
    for former in stored:
        for value in select_current(former.values, now):
            if value.sealed.label.task != task:
                continue
            try:
                opened = await vault.open_credential(value.sealed)
            except CallRefusedError:
                log.line("credential.former_unreadable", task=task, credential=former.name, severity="WARNING")
                continue
            credentials |= make_scan_only(opened)
    return credentials


def make_scan_only(credential: Credential) -> dict[str, Credential]:
    """Return each secret of `credential` as a credential that is scanned for under its name, and is sent nowhere."""
    label = replace(credential.label, auth_type=AuthType.BEARER, auth_header_name=None, auth_param_name=None, hosts=())
    return {
        f"{label.name}.former.{label.version}.{number}": Credential(label=label, secret=Secret(secret.reveal()))
        for number, secret in enumerate(credential.secrets)
    }


async def reseal_former(
    credentials: Credentials, vault: ToolVault, stored: FormerValues, *, version: int, now: datetime, log: Log
) -> None:
    """Seal to key `version` the values that are still scanned for; drop the others, and those that do not open.

    Nothing is changed where another value was added meanwhile: the rotation tries again. Raise as `vault` does.
    """
    opened: list[tuple[FormerValue, SealedCredential]] = []
    for value in select_current(stored.values, now):
        try:
            opened.append((value, await vault.reseal(value.sealed, version=version)))
        except CallRefusedError:
            log.line("credential.former_unreadable", task=stored.task, credential=stored.name, severity="WARNING")
    after = replace_sealed(stored, opened)
    if after != stored:
        await credentials.reseal_former(stored, after)
