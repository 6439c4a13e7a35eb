"""Tool shadowing: descriptors that speak of another server's tools, and would have a model use those otherwise."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping

from ferryman.domain.remote_servers.lookalikes import NAMESPACE, Neighbours
from ferryman.domain.remote_servers.names import SEPARATOR, build_tool_name

_WORD = re.compile(r"[a-z0-9]+(?:[_.-]+[a-z0-9]+)*")
_OF_TOOLS = frozenset(("call", "calls", "calling", "invoke", "invoking", "server", "tool", "tools"))
_HIDDEN = ("Cf", "Mn", "Me")


def find_shadowing(texts: Iterable[str], neighbours: Neighbours, tools: Collection[str]) -> str | None:
    """Return whose tool one of the `texts` of a descriptor speaks of; None where of none. `tools` are the server's own.

    A text does where it has the full name of a tool of another server, the name of a built-in tool, or the name of another
    server together with that of one of its tools, as a tool. Letters that nobody sees, and forms of letters, hide nothing.
    """
    words = frozenset(word for text in texts for word in _split(text))
    mine = frozenset(name.lower() for name in tools)
    for word in sorted(words):
        prefix, separator, _ = word.partition(SEPARATOR)
        if separator and prefix == NAMESPACE:
            return f"it names a tool of the platform: {word}"
        if separator and prefix in neighbours.others:
            return f"it names a tool of another MCP server: {word}"
    for name in neighbours.built_in:
        if "_" in name and name.lower() in words and name.lower() not in mine:
            return f"it names the built-in tool {name}"
    return _find_other(words, neighbours.others, mine)


def _find_other(words: Collection[str], others: Mapping[str, Collection[str]], mine: Collection[str]) -> str | None:
    """Return the tool of another server that is named beside its server. A tool that is called by a word of the language counts
    only where the text speaks of tools at all: "search the docs" names none of a server `docs`."""
    speaks_of_tools = not _OF_TOOLS.isdisjoint(words)
    for server, tools in others.items():
        if server not in words:
            continue
        for tool in tools:
            is_named = tool.lower() in words and tool.lower() not in mine
            if is_named and (speaks_of_tools or not tool.isalpha() or not tool.islower()):
                return f"it names a tool of another MCP server: {build_tool_name(server, tool)}"
    return None


def _split(text: str) -> Iterator[str]:
    """Yield the words of a text in small letters, as its reader would take them."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    if not plain.isascii():
        plain = "".join(character for character in plain if unicodedata.category(character) not in _HIDDEN)
    for match in _WORD.finditer(plain):
        word = match[0]
        yield word
        if "." in word or "-" in word:
            yield from re.split(r"[.-]+", word)
