"""For owners: a document fetched outside of any execution, from the hosts that the task may reach, and without a credential."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import REQUEST_SECONDS
from ferryman.domain.owners.plan import PRO
from ferryman.ports.gate import CallPolicy
from ferryman.ports.tasks import Tasks
from ferryman.tools.declared.definitions import IMPORT
from ferryman.tools.declared.documents import FetchedDocuments, OpenApiFetcher
from ferryman.tools.former import open_former
from ferryman.tools.tokens.known import open_known_tokens

if TYPE_CHECKING:
    from ferryman.tools.execute_call import ToolDependencies


async def fetch_for_owner(
    deps: ToolDependencies, tasks: Tasks, documents: OpenApiFetcher, *, task: str, owner: str, url: str
) -> FetchedDocuments:
    """Return the document at `url`, for the owner of `task`; its hosts must be those of the task's integrations.

    Raise `CallRefusedError`, and `InvalidInputError` for what is not such a document.
    """
    stored = await tasks.get(task)
    if stored is None or stored.owner != owner:
        raise CallRefusedError(refusal.report_failure("there is no such task"))
    approved = [deps.integrations[name] for name in stored.integrations if name in deps.integrations]
    policy = ExecutionPolicy(
        owner=owner,
        task=task,
        plan=PRO,  # its limits are for answers; a document has its own
        tools=(),
        integrations=stored.integrations,
        domains=tuple(domain for integration in approved for domain in integration.allowed_domains),
    )
    call = CallPolicy(execution=policy, credentials=await _open_all(deps, owner, task), about={"task": task})
    return await documents.fetch(url, tool=IMPORT.name, call=call, within_s=REQUEST_SECONDS)


async def _open_all(deps: ToolDependencies, owner: str, task: str) -> Mapping[str, Credential]:
    opened = await open_known_tokens(deps.tokens, deps.vault, owner=owner, task=task)
    stored, former = await deps.credentials.read_all(task)
    opened |= await open_former(deps.vault, former, task=task, now=deps.clock.now(), log=deps.tracer)
    for sealed in stored:
        try:
            opened[sealed.label.name] = await deps.vault.open_credential(sealed)
        except CallRefusedError:
            continue  # a credential that nobody can open cannot leak
    return opened
