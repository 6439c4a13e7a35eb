"""Key rotation: open the credentials of a task or an MCP server, and seal them to another version of the key.

No value is returned.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace
from typing import TypeVar

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credentials.former import FormerValue, FormerValues, replace_sealed, select_current
from ferryman.ports.credentials import Credentials
from ferryman.ports.errors import UnavailableError
from ferryman.tools.execute_call import ToolDependencies

Sealed = TypeVar("Sealed")


async def reseal_task(deps: ToolDependencies, *, task: str, version: int) -> list[str]:
    """Seal the credentials of `task` to key `version`, or those of the MCP server of that id.

    Return the names of those that do not open, which stay as they are. Former values and fetched tokens are sealed again, too;
    those that do not open are dropped, as they cannot be scanned for. Nothing else about a credential changes. A credential
    that was stored again meanwhile is not touched. The task "" means the tokens that were fetched without credentials. Raise
    `UnavailableError`, also while there is no such version.
    """
    unreadable: list[str] = []
    deps.opened.clear()
    await _reseal_tokens(deps, task, version)
    for credentials in (deps.credentials, deps.server_credentials):
        if task and credentials is not None:
            unreadable += await _reseal_all(deps, credentials, task, version)
    deps.tracer.line("credentials.resealed", task=task, key_version=version, unreadable=len(unreadable))
    return unreadable


async def _reseal_all(deps: ToolDependencies, credentials: Credentials, task: str, version: int) -> list[str]:
    """Seal what one store has of a task or a server, and return the names of what does not open."""
    unreadable = []
    live, former = await credentials.read_all(task)
    for sealed in live:
        try:
            after = await _reseal(deps.vault.reseal(sealed, version=version), version)
        except CallRefusedError:
            unreadable.append(sealed.label.name)
            continue
        if sealed.label.task != task:
            unreadable.append(sealed.label.name)  # moved here from another task: it opens for no call either
        elif after is not sealed:
            await credentials.reseal(sealed, after)
    for stored in former:
        await _reseal_former(deps, credentials, stored, version)
    return unreadable


async def _reseal(resealing: Awaitable[Sealed], version: int) -> Sealed:
    try:
        return await resealing
    except KeyError:
        raise UnavailableError(f"there is no version {version} of the sealing key") from None


async def _reseal_former(deps: ToolDependencies, credentials: Credentials, stored: FormerValues, version: int) -> None:
    """Seal the values that are still scanned for; drop the others, and those that do not open.

    Nothing is changed where another value was added meanwhile: the rotation tries again.
    """
    opened: list[tuple[FormerValue, SealedCredential]] = []
    for value in select_current(stored.values, deps.clock.now()):
        try:
            opened.append((value, await _reseal(deps.vault.reseal(value.sealed, version=version), version)))
        except CallRefusedError:
            about = {"task": stored.task, "credential": stored.name}
            deps.tracer.line("credential.former_unreadable", severity="WARNING", **about)
    after = replace_sealed(stored, opened)
    if after != stored:
        await credentials.reseal_former(stored, after)


async def _reseal_tokens(deps: ToolDependencies, task: str, version: int) -> None:
    """Seal the tokens that were fetched with the credentials of `task`; a later one is sealed to the new key anyway."""
    for key, slot in (await deps.tokens.list_for_task(task)).items():
        tokens = [
            await _reseal(deps.vault.reseal_token(token, owner=slot.owner, key=key, version=version), version)
            for token in slot.tokens
        ]
        first = tokens.pop(0) if slot.token else None
        after = replace(slot, token=first, former=tuple(token for token in tokens if token is not None))
        if after != slot:
            await deps.tokens.reseal(key, slot, after)
