"""References: what a `$ref` means, in the document where it stands or in another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

REFERENCE_CHARACTERS_MAX = 2_048
HOPS_MAX = 16
"""References that lead to references, one after the other."""

Address = tuple[str, str]
"""A document's absolute URI, and a JSON pointer (RFC 6901) into it, unescaped from its URI form."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a document, with the URI that relative references in it start from."""

    value: Any
    uri: str


class References:
    """The documents of an import. What is asked for and not there is kept in `missing`, in the order asked for."""

    def __init__(self, documents: Mapping[str, Any], root: str) -> None:
        self._documents = documents
        self._root = root
        self._found: dict[Address, Node | None] = {}
        self.missing: dict[str, None] = {}

    def address(self, reference: str, uri: str) -> Address | None:
        """Where `reference`, standing in the document `uri`, leads; None where no import may go."""
        if len(reference) > REFERENCE_CHARACTERS_MAX:
            return None
        if reference.startswith("#"):
            return uri, unquote(reference[1:])
        try:
            target, fragment = urldefrag(urljoin(uri, reference))
            return (target, unquote(fragment)) if target == uri or self._allowed(target) else None
        except ValueError:
            return None

    def _allowed(self, target: str) -> bool:
        # A document from the network names no file of this machine, and a file none outside of its folder.
        parts = urlsplit(target)
        if parts.scheme == "https":
            return True
        folder = self._root.rpartition("/")[0] + "/"
        inside = target.startswith(folder) and ".." not in unquote(parts.path).split("/")
        return parts.scheme == "file" and self._root.startswith("file:") and inside

    def at(self, address: Address) -> Node | None:
        """What stands at `address`, or None."""
        if address not in self._found:
            self._found[address] = self._look(address)
        return self._found[address]

    def _look(self, address: Address) -> Node | None:
        uri, pointer = address
        if uri not in self._documents:
            self.missing[uri] = None
            return None
        value = self._documents[uri]
        if pointer and not pointer.startswith("/"):
            return None
        for part in pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and key.isascii() and key.isdigit() and len(key) < 10 and int(key) < len(value):
                value = value[int(key)]
            else:
                return None
        return Node(value, uri)

    def follow(self, node: Node) -> Node | None:
        """`node`, or what it refers to; None where the reference leads nowhere or in a circle."""
        for _ in range(HOPS_MAX):
            reference = node.value.get("$ref") if isinstance(node.value, dict) else None
            if not isinstance(reference, str):
                return node
            address = self.address(reference, node.uri)
            found = None if address is None else self.at(address)
            if found is None:
                return None
            node = found
        return None
