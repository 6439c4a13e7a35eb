"""Selection of tools: which of many tools a text asks for, by the words of their definitions (BM25F, then a linear ranking).

Pure functions on texts: no input or output, no model, no randomness. An index is built once for a list of tools and answers
many queries; both take time that is linear in their input, which is cut at fixed lengths.
"""

from ferryman.selection.definition import ToolText, read_definition
from ferryman.selection.index import ToolIndex
from ferryman.selection.search import search

__all__ = ["ToolIndex", "ToolText", "read_definition", "search"]
