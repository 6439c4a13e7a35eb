"""Handling custom tools: importing the operations of a document, and deleting a cluster, as the agent asks for it (S3-49)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ferryman import ports
from ferryman.domain.call import ToolCallResult
from ferryman.domain.credential import Credential
from ferryman.domain.http import Method
from ferryman.domain.problem import Invalid
from ferryman.domain.refusal import Refused
from ferryman.openapi import Imported
from ferryman.tools.custom.definitions import DELETE, IMPORT
from ferryman.tools.custom.documents import Documents
from ferryman.tools.custom.importing import Wanted, imported
from ferryman.tools.custom.storing import stored
from ferryman.tools.passage import Passage, Reading

NAMES_SHOWN = 300
"""How many names of imported tools the model is told; there may be more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handling:
    """What handling takes. `framed` takes a text and all open credentials, and answers it as the model may read it.

    `tame` makes a text that is to stand outside of any frame harmless.
    """

    clusters: ports.Clusters
    documents: Documents
    framed: Callable[[str, Iterable[Credential]], str]
    tame: Callable[[str], str]

    def importing(self, reading: Reading) -> Passage:
        """Fetch the document, and store what it describes; the same again changes nothing further."""
        url, cluster = str(reading.arguments["url"]), reading.arguments.get("cluster")

        async def go(within_s: float) -> ToolCallResult:
            remit, credentials = reading.errand.remit, reading.credentials
            bound = {name: each.label.hosts for name, each in credentials.items()}
            try:
                found = await self.documents.fetched(
                    url, tool=IMPORT.name, remit=remit, credentials=credentials, about=reading.about, within_s=within_s
                )
                wanted = Wanted(
                    documents=found.parsed, root=found.root, cluster=cluster, domains=remit.domains, credentials=bound
                )
                made = await imported(self.clusters, remit.task, wanted, tame=self.tame)
                await stored(self.clusters, remit.task, made)
            except Refused as refused:
                return ToolCallResult.refused(IMPORT.name, refused.refusal, method=Method.GET.value)
            except (Invalid, ports.Stale) as fault:
                return self._told(IMPORT.name, f"Error: nothing was imported: {fault}", reading)
            return self._told(IMPORT.name, json.dumps(summary(made)), reading)

        return Passage(go=go, method=Method.GET.value, safe=True, repeatable=True)

    def deleting(self, reading: Reading) -> Passage:
        """Delete the cluster; one that is gone already is not there."""
        cluster = str(reading.arguments["cluster"])

        async def go(within_s: float) -> ToolCallResult:  # noqa: ARG001 - a passage's signature
            there = await self.clusters.delete(reading.errand.remit.task, cluster)
            told = "deleted" if there else "Error: there is no cluster of this name"
            return self._told(DELETE.name, told, reading)

        return Passage(go=go, method=None, safe=True, repeatable=True)

    def _told(self, tool: str, text: str, reading: Reading) -> ToolCallResult:
        error, mark, rest = text.partition("Error: ")
        framed = self.framed(rest if mark and not error else text, reading.credentials.values())
        # a result that is no answer of HTTP has the status of one that is done, or none
        done = not (mark and not error)
        return ToolCallResult(tool, framed if done else f"Error: {framed}", response_status=200 if done else 400)


def summary(made: Imported) -> Mapping[str, Any]:
    """What an import came to, for whoever asked for it."""
    tools = made.tools
    return {
        "cluster": made.cluster,
        "imported": len(tools),
        "tools": [each.name for each in tools if each.enabled][:NAMES_SHOWN],
        "disabled": dict(Counter(each.reason for each in tools if not each.enabled)),
        "notes": list(made.notes)[:20],
    }
