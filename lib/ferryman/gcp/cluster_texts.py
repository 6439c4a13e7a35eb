"""The texts of clusters: declared tools as documents have them, written and read. Pure functions, for workers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ferryman.domain.tools.declared import Cluster, DeclaredTool, ToolPlace, build_cluster
from ferryman.gcp import documents
from ferryman.offload import PackedSequence

PART_CHARACTERS = 400_000
"""A document holds 1 MiB; a character may take three bytes of it where it is not ASCII."""


def write_cluster(name: str, tools: Sequence[DeclaredTool]) -> tuple[Cluster, list[tuple[str, Sequence[str]]]]:
    """Return the cluster of `tools`, of generation 0, and the texts that hold them, each for one document, with its names."""
    declared = [*tools]
    return build_cluster(name, 0, declared), [*_parts(declared)]


def read_tools(stored: Sequence[tuple[str, Sequence[str]]]) -> PackedSequence[DeclaredTool]:
    """Return the tools of clusters in the order of their rows; `stored` has JSON: the rows of each, and its parts."""
    tools = []
    for rows, parts in stored:
        by_name = {tool["name"]: tool for part in parts for tool in json.loads(part)}
        tools += [documents.read(DeclaredTool, by_name[name]) for name, *_ in json.loads(rows)]
    return PackedSequence(tools)


def list_places(clusters: Sequence[tuple[str, str]], enabled: bool) -> list[ToolPlace]:
    """Return where each tool of clusters is in the list of all, in order, or each enabled one.

    A cluster is given by its name and the JSON of its rows.
    """
    rows = ((cluster, row) for cluster, text in clusters for row in json.loads(text))
    return sorted((cluster, name) for cluster, (name, _, is_enabled) in rows if is_enabled or not enabled)


def pick_tools(parts: Sequence[str], places: Sequence[ToolPlace]) -> PackedSequence[DeclaredTool]:
    """Return the tools at `places`, which the `parts` hold."""
    stored = {tool["name"]: tool for part in parts for tool in json.loads(part)}
    return PackedSequence([documents.read(DeclaredTool, stored[name]) for _, name in places])


def find_tool(part: str, name: str) -> DeclaredTool:
    """Return the tool of this name in a part that has it."""
    return next(documents.read(DeclaredTool, tool) for tool in json.loads(part) if tool["name"] == name)


def _parts(tools: Sequence[DeclaredTool]) -> Iterator[tuple[str, Sequence[str]]]:
    texts: list[str] = []
    names: list[str] = []
    for tool in tools:
        text = json.dumps(documents.write(tool))
        if texts and sum(map(len, texts)) + len(text) > PART_CHARACTERS:
            yield f"[{','.join(texts)}]", names
            texts, names = [], []
        texts.append(text)
        names.append(tool.name)
    if texts:
        yield f"[{','.join(texts)}]", names
