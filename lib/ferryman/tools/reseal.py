"""Re-sealing: a task's credentials, opened with the key they were sealed to and sealed to another; values stay in here."""

from __future__ import annotations

from ferryman.domain.refusal import Refused
from ferryman.ports import Unavailable
from ferryman.tools.carry import ToolHouse


async def reseal(house: ToolHouse, *, task: str, version: int) -> list[str]:
    """Seal what `task` holds to key `version`, and answer the names of those that do not open, which stay as they are.

    Nothing else about a credential changes. One that was stored anew meanwhile is left alone. Raises `Unavailable`, also
    while there is no such version.
    """
    unreadable = []
    for sealed in await house.credentials.list(task):
        try:
            after = await house.vault.resealed(sealed, version=version)
        except Refused:
            unreadable.append(sealed.label.name)
            continue
        except KeyError:
            raise Unavailable(f"there is no version {version} of the sealing key") from None
        if sealed.label.task != task:
            unreadable.append(sealed.label.name)  # moved here from where it belongs: it opens for no call either
        elif after is not sealed:
            await house.credentials.reseal(sealed, after)
    house.tracer.line("credentials.resealed", task=task, key_version=version, unreadable=len(unreadable))
    return unreadable
