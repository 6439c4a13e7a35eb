"""The texts of clusters: how declared tools are written into documents and read back. Pure functions, for workers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ferryman.domain.tools.declared import Cluster, DeclaredTool, build_cluster
from ferryman.gcp import documents
from ferryman.offload import PackedSequence

PART_CHARACTERS = 400_000
"""A document holds 1 MiB; a character may take three bytes of it where it is not ASCII."""


def write_cluster(name: str, tools: Sequence[DeclaredTool]) -> tuple[Cluster, list[tuple[str, Sequence[str]]]]:
    """The cluster that `tools` make, of generation 0, and them as texts that fit a document each, with the names in each."""
    made = [*tools]
    return build_cluster(name, 0, made), [*_parts(made)]


def read_tools(stored: Sequence[tuple[str, Sequence[str]]]) -> PackedSequence[DeclaredTool]:
    """The tools of clusters, each of which is the JSON of its rows and those of its parts, in the order of the rows."""
    found = []
    for rows, parts in stored:
        held = {each["name"]: each for part in parts for each in json.loads(part)}
        found += [documents.read(DeclaredTool, held[name]) for name, *_ in json.loads(rows)]
    return PackedSequence(found)


def find_tool(part: str, name: str) -> DeclaredTool:
    """The tool of this name in a part that has it."""
    return next(documents.read(DeclaredTool, each) for each in json.loads(part) if each["name"] == name)


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
