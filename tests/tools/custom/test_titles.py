"""Titles: what a hostile document may not do to the other tools of its task."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.tools.declared import DeclaredTool
from ferryman.framing.frame import neutralize_unframed
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.memory import Memory
from ferryman.openapi import DocumentImport
from ferryman.tools.declared.importing import ImportedTools, import_tools
from ferryman.tools.declared.storing import add_tools, store_cluster
from tests.builders import build_task
from tests.openapi.documents import HOST, ROOT, document

TOOL = DeclaredTool(name="own", url=f"https://{HOST}/own")


@pytest.fixture
def clusters() -> MemoryClusters:
    memory = Memory()
    memory.tasks["t"] = build_task()
    return MemoryClusters(memory)


async def import_titled(clusters: MemoryClusters, title: str) -> ImportedTools:
    """Import a document of this title and store its tools."""
    root = document({"/a": {"get": {"operationId": "a"}}}, info={"title": title})
    source = DocumentImport(documents={ROOT: root}, root=ROOT, domains=[HOST])
    imported = await import_tools(clusters, "t", source, neutralize=neutralize_unframed, owner="o")
    await store_cluster(clusters, "t", imported)
    return imported


@pytest.mark.parametrize("title", ["\u3164", "\u2800", "\uffa0 \u115f", " "])
async def test_a_title_that_nobody_sees_does_not_replace_the_tools_without_a_cluster(
    clusters: MemoryClusters, title: str
) -> None:
    await add_tools(clusters, "t", [TOOL])
    assert (await import_titled(clusters, title)).cluster == "openapi"
    assert await clusters.find("t", "own") == replace(TOOL, cluster="")
