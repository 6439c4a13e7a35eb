"""Handling custom tools: importing the operations of a document, and deleting a cluster, as the agent asks for it (S3-49)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import Method
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.stale import StaleError
from ferryman.ports.clusters import Clusters
from ferryman.tools.declared.definitions import DELETE, IMPORT
from ferryman.tools.declared.documents import OpenApiFetcher
from ferryman.tools.declared.importing import DocumentImport, ImportedTools, import_tools
from ferryman.tools.declared.storing import store_cluster
from ferryman.tools.prepared_call import CallContext, PreparedCall, Redactor

NAMES_SHOWN = 300
"""How many names of imported tools the model is told; there may be more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterManager:
    """What handling takes. `framed` takes an owner, all open credentials and a text, and answers it as the model may read it.

    `tame` makes a text that is to stand outside of any frame harmless.
    """

    clusters: Clusters
    documents: OpenApiFetcher
    framed: Redactor
    tame: Callable[[str], str]

    def importing(self, reading: CallContext) -> PreparedCall:
        """Fetch the document, and store what it describes; the same again changes nothing further."""
        url, cluster = str(reading.arguments["url"]), reading.arguments.get("cluster")

        async def go(within_s: float) -> ToolCallResult:
            policy, credentials = reading.claimed_call.policy, reading.credentials
            bound = {name: each.label.hosts for name, each in credentials.items()}
            try:
                found = await self.documents.fetched(
                    url,
                    tool=IMPORT.name,
                    policy=policy,
                    credentials=credentials,
                    about=reading.about,
                    within_s=within_s,
                    count=reading.count,
                )
                wanted = DocumentImport(
                    documents=found.texts, root=found.root, cluster=cluster, domains=policy.domains, credentials=bound
                )
                made = await import_tools(self.clusters, policy.task, wanted, tame=self.tame, owner=policy.owner)
                await store_cluster(self.clusters, policy.task, made)
            except CallRefusedError as refused:
                return ToolCallResult.from_refusal(IMPORT.name, refused.refusal, method=Method.GET.value)
            except (InvalidInputError, StaleError) as fault:
                return await self._told(IMPORT.name, f"Error: nothing was imported: {fault}", reading)
            return await self._told(IMPORT.name, json.dumps(summarize_import(made)), reading)

        return PreparedCall(go=go, method=Method.GET.value, safe=True, repeatable=True)

    def deleting(self, reading: CallContext) -> PreparedCall:
        """Delete the cluster; one that is gone already is not there."""
        cluster = str(reading.arguments["cluster"])

        async def go(within_s: float) -> ToolCallResult:  # noqa: ARG001 - a passage's signature
            there = await self.clusters.delete(reading.claimed_call.policy.task, cluster)
            told = "deleted" if there else "Error: there is no cluster of this name"
            return await self._told(DELETE.name, told, reading)

        return PreparedCall(go=go, method=None, safe=True, repeatable=True)

    async def _told(self, tool: str, text: str, reading: CallContext) -> ToolCallResult:
        error, mark, rest = text.partition("Error: ")
        owner, opened = reading.claimed_call.policy.owner, reading.credentials.values()
        try:
            framed = await self.framed(owner, opened, rest if mark and not error else text)
        except CallRefusedError as refused:
            return ToolCallResult.from_refusal(tool, refused.refusal)
        # a result that is no answer of HTTP has the status of one that is done, or none
        done = not (mark and not error)
        return ToolCallResult(tool, framed if done else f"Error: {framed}", response_status=200 if done else 400)


def summarize_import(made: ImportedTools) -> Mapping[str, Any]:
    """What an import came to, for whoever asked for it."""
    return {
        "cluster": made.cluster,
        "imported": len(made.tools),
        "tools": list(made.names[:NAMES_SHOWN]),
        "disabled": dict(made.disabled),
        "notes": list(made.notes)[:20],
    }
