"""Managing custom tools: importing the operations of a document, and deleting a cluster, as the agent requests it (S3-49)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import ToolCallResult, limit_result
from ferryman.domain.calls.part import Part
from ferryman.domain.calls.refusal import ERROR, CallRefusedError
from ferryman.domain.calls.suggestion import find_suggestion
from ferryman.domain.credentials.credential import AuthType, Credential
from ferryman.domain.http.request import Method
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.stale import StaleError
from ferryman.openapi import DocumentImport
from ferryman.ports.clusters import Clusters
from ferryman.tools.declared.documents import OpenApiFetcher
from ferryman.tools.declared.importing import ImportedTools, import_tools
from ferryman.tools.declared.storing import store_cluster
from ferryman.tools.prepared_call import CallContext, PreparedCall

Framer = Callable[[str, Iterable[Credential], str, int], Awaitable[tuple[str, Part]]]
"""Takes an owner, all open credentials, a text and how many of its characters the model is shown. Returns the text as the model
may read it, and the part that this text is."""

NAMES_MAX = 300
"""How many names of imported tools the model is shown; there may be more."""

NOTES_MAX = 20
NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterManager:
    """Imports and deletes clusters. `frame` makes a text that quotes others harmless, `neutralize` outside of any frame."""

    clusters: Clusters
    documents: OpenApiFetcher
    frame: Framer
    neutralize: Callable[[str], str]

    def prepare_import(self, context: CallContext) -> PreparedCall:
        """Return the call that fetches a document and stores what it describes; repeating it changes nothing further."""
        return PreparedCall(go=partial(self._import, context), method=Method.GET.value, safe=True, repeatable=True)

    def prepare_delete(self, context: CallContext) -> PreparedCall:
        """Return the call that deletes a cluster; repeating it changes nothing further."""
        return PreparedCall(go=partial(self._delete, context), method=None, safe=True, repeatable=True)

    async def _import(self, context: CallContext, within_s: float) -> ToolCallResult:
        policy, tool = context.claimed_call.policy, context.claimed_call.ticket.tool
        call = context.build_policy(within_s)
        try:
            fetched = await self.documents.fetch(str(context.arguments["url"]), tool=tool, call=call, within_s=within_s)
            source = DocumentImport(
                documents=fetched.texts,
                root=fetched.root,
                cluster=context.arguments.get("cluster"),
                only=tuple(context.arguments.get("only", ())),
                tags=tuple(context.arguments.get("tags", ())),
                domains=policy.domains,
                credentials={name: credential.label.hosts for name, credential in context.credentials.items()},
                pairs=[
                    name for name, credential in context.credentials.items() if credential.label.auth_type is AuthType.BASIC
                ],
            )
            imported = await import_tools(self.clusters, policy.task, source, neutralize=self.neutralize, owner=policy.owner)
            await store_cluster(self.clusters, policy.task, imported)
        except CallRefusedError as refused:
            return ToolCallResult.from_refusal(tool, refused.refusal, method=Method.GET.value)
        except (InvalidInputError, StaleError) as fault:
            return await self._answer(context, f"nothing was imported: {fault}", code="nothing_imported")
        return await self._answer(context, json.dumps(_summarize(imported)))

    async def _delete(self, context: CallContext, _within_s: float) -> ToolCallResult:
        if await self.clusters.delete(context.claimed_call.policy.task, str(context.arguments["cluster"])):
            return await self._answer(context, "deleted")
        return await self._answer(context, "there is no cluster of this name", code=NOT_FOUND)

    async def _answer(self, context: CallContext, text: str, *, code: str | None = None) -> ToolCallResult:
        """Return the result, which is not an HTTP response: a success, or a failure with its `code`."""
        tool, owner = context.claimed_call.ticket.tool, context.claimed_call.policy.owner
        try:
            framed, part = await self.frame(owner, context.credentials.values(), text, limit_result(find_tool(tool).policy))
        except CallRefusedError as refused:
            return ToolCallResult.from_refusal(tool, refused.refusal)
        if code is None:
            return ToolCallResult(tool, framed, parts=(part,))
        moved = replace(part, start=part.start + len(ERROR), end=part.end + len(ERROR))
        suggestion = find_suggestion(code)
        return ToolCallResult(tool, f"{ERROR}{framed}", ok=False, code=code, suggestion=suggestion, parts=(moved,))


def _summarize(imported: ImportedTools) -> dict[str, Any]:
    return {
        "cluster": imported.cluster,
        "imported": len(imported.tools),
        "tools": list(imported.names[:NAMES_MAX]),
        "disabled": dict(imported.disabled),
        "notes": list(imported.notes)[:NOTES_MAX],
    }
