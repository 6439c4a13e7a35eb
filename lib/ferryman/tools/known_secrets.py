"""Known secrets: former values of credentials, and fetched tokens, opened for secret scanning alone.

No call can name one, and none may be sent to any host. The function that fetches a token and the one that receives it may be
two: an upstream may echo what any of them sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import AuthType, Credential, Secret
from ferryman.domain.credentials.former import FormerValues, select_current
from ferryman.domain.credentials.token import Token
from ferryman.ports.errors import DisabledKeyError
from ferryman.ports.keys import ToolVault
from ferryman.ports.log import Log
from ferryman.ports.tokens import Tokens
from ferryman.tools.tokens.client import TOKEN, bind_secret


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


async def open_known_tokens(tokens: Tokens, vault: ToolVault, *, owner: str, task: str) -> dict[str, Credential]:
    """Return the tokens that are known of `task`, also those that are no longer used, under names that no credential has.

    Those that are sealed to a disabled version of the key are not known; a rotation seals them again before it disables one.
    Raise `UnavailableError` where the store or the keys do not answer: what cannot be compared does not count as clean.
    """
    known: dict[str, Credential] = {}
    for key, slot in sorted((await tokens.list(owner, task)).items()):
        for token in slot.tokens:
            secret = await _open(vault, token, owner, key)
            if secret is not None:
                known[f"{TOKEN}_{len(known) + 1}"] = bind_secret(TOKEN, secret, owner=owner, task=task)
    return known


async def _open(vault: ToolVault, token: Token, owner: str, key: str) -> Secret | None:
    try:
        return await vault.open_token(token.ciphertext, owner=owner, key=key, fetch=token.fetch)
    except DisabledKeyError:
        return None
