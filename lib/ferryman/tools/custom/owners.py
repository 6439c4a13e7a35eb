"""For owners: a document fetched outside of any execution, within what the task may reach, and without a key in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ferryman import ports
from ferryman.domain import refusal
from ferryman.domain.credential import Credential
from ferryman.domain.http import REQUEST_SECONDS
from ferryman.domain.plan import PRO
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.tools.custom.definitions import IMPORT
from ferryman.tools.custom.documents import Documents, Found
from ferryman.tools.tokens.kept import kept

if TYPE_CHECKING:
    from ferryman.tools.carry import ToolHouse


async def document(house: ToolHouse, tasks: ports.Tasks, documents: Documents, *, task: str, owner: str, url: str) -> Found:
    """The document at `url`, for the owner of `task`; its hosts are those of the task's integrations, as ever.

    Raises `Refused`, and `Invalid` for what is no such document.
    """
    stored = await tasks.get(task)
    if stored is None or stored.owner != owner:
        raise Refused(refusal.failed("there is no such task"))
    approved = [house.integrations[each] for each in stored.integrations if each in house.integrations]
    remit = Remit(
        owner=owner,
        task=task,
        plan=PRO,  # its limits are for answers; a document has its own
        tools=(),
        integrations=stored.integrations,
        domains=tuple(domain for each in approved for domain in each.allowed_domains),
    )
    return await documents.fetched(
        url,
        tool=IMPORT.name,
        remit=remit,
        credentials=await _all(house, owner, task),
        about={"task": task},
        within_s=REQUEST_SECONDS,
    )


async def _all(house: ToolHouse, owner: str, task: str) -> Mapping[str, Credential]:
    opened = await kept(house.tokens, house.vault, owner=owner, task=task)
    for sealed in await house.credentials.list(task):
        try:
            opened[sealed.label.name] = await house.vault.credential(sealed)
        except Refused:
            continue  # what opens for nobody cannot be given away
    return opened
