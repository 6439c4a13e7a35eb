"""Key rotation: open a task's credentials with the key they were sealed to, and seal them to another; no value is returned."""

from __future__ import annotations

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credentials.former import FormerValue, FormerValues, replace_sealed, select_current
from ferryman.ports.errors import UnavailableError
from ferryman.tools.execute_call import ToolDependencies


async def reseal_task(deps: ToolDependencies, *, task: str, version: int) -> list[str]:
    """Seal the credentials of `task` to key `version`; return the names of those that do not open, which stay as they are.

    Former values are sealed again, too; those that do not open are dropped, as they cannot be scanned for. Nothing else about
    a credential changes. A credential that was stored again meanwhile is not touched. Raise `UnavailableError`, also while
    there is no such version.
    """
    unreadable = []
    live, former = await deps.credentials.read_all(task)
    for sealed in live:
        try:
            after = await _reseal(deps, sealed, version)
        except CallRefusedError:
            unreadable.append(sealed.label.name)
            continue
        if sealed.label.task != task:
            unreadable.append(sealed.label.name)  # moved here from another task: it opens for no call either
        elif after is not sealed:
            await deps.credentials.reseal(sealed, after)
    for stored in former:
        await _reseal_former(deps, stored, version)
    deps.tracer.line("credentials.resealed", task=task, key_version=version, unreadable=len(unreadable))
    return unreadable


async def _reseal(deps: ToolDependencies, sealed: SealedCredential, version: int) -> SealedCredential:
    try:
        return await deps.vault.reseal(sealed, version=version)
    except KeyError:
        raise UnavailableError(f"there is no version {version} of the sealing key") from None


async def _reseal_former(deps: ToolDependencies, stored: FormerValues, version: int) -> None:
    """Seal the values that are still scanned for; drop the others, and those that do not open.

    Nothing is changed where another value was added meanwhile: the rotation tries again.
    """
    opened: list[tuple[FormerValue, SealedCredential]] = []
    for value in select_current(stored.values, deps.clock.now()):
        try:
            opened.append((value, await _reseal(deps, value.sealed, version)))
        except CallRefusedError:
            about = {"task": stored.task, "credential": stored.name}
            deps.tracer.line("credential.former_unreadable", severity="WARNING", **about)
    after = replace_sealed(stored, opened)
    if after != stored:
        await deps.credentials.reseal_former(stored, after)
