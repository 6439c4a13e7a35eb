"""Key rotation: open a task's credentials with the key they were sealed to, and seal them to another; no value is returned."""

from __future__ import annotations

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.ports.errors import UnavailableError
from ferryman.tools.execute_call import ToolDependencies
from ferryman.tools.former import reseal_former


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
            after = await deps.vault.reseal(sealed, version=version)
        except CallRefusedError:
            unreadable.append(sealed.label.name)
            continue
        except KeyError:
            raise UnavailableError(f"there is no version {version} of the sealing key") from None
        if sealed.label.task != task:
            unreadable.append(sealed.label.name)  # moved here from another task: it opens for no call either
        elif after is not sealed:
            await deps.credentials.reseal(sealed, after)
    for stored in former:
        try:
            now = deps.clock.now()
            await reseal_former(deps.credentials, deps.vault, stored, version=version, now=now, log=deps.tracer)
        except KeyError:
            raise UnavailableError(f"there is no version {version} of the sealing key") from None
    deps.tracer.line("credentials.resealed", task=task, key_version=version, unreadable=len(unreadable))
    return unreadable
