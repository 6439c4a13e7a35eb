"""Declared tools: find those that a text asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ferryman.domain.tools.offered import OfferedTool
from ferryman.selection.definition import read_definition
from ferryman.selection.index import ToolIndex
from ferryman.selection.search import search

Offered = TypeVar("Offered", bound=OfferedTool)


def find_declared_tools(tools: Sequence[Offered], text: str, limit: int) -> list[Offered]:
    """Return at most `limit` of `tools`, those that `text` asks for, the best first."""
    index = ToolIndex(
        read_definition(tool.name, tool.description or tool.summary, tool.schema, group=tool.cluster) for tool in tools
    )
    return [tools[number] for number in search(index, text, limit)]
