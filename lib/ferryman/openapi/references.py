"""References: resolve a `$ref`, in the document that has it or in another one of the import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from ferryman.openapi.values import list_items, to_mapping

REFERENCE_CHARACTERS_MAX = 2_048
HOPS_MAX = 16
"""How many references may lead to a reference, one after the other."""

Pointer = tuple[str, str]
"""A document's absolute URI, and a JSON pointer (RFC 6901) into it, unescaped from its URI form."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a document, with the URI that relative references in it start from."""

    value: Any
    uri: str

    @property
    def fields(self) -> Mapping[str, Any]:
        """The members of an object; none where it is anything else."""
        return to_mapping(self.value)

    def child(self, name: str) -> Node:
        """Return the member `name` of an object; None where it has none."""
        return Node(self.fields.get(name), self.uri)

    def items(self, most: int) -> list[Node]:
        """Return the first `most` items of a list."""
        return [Node(item, self.uri) for item in list_items(self.value, most)]


class References:
    """The documents of an import. `missing` are those that references lead to and that are not there, in that order."""

    def __init__(self, documents: Mapping[str, Any], root: str) -> None:
        self._documents = documents
        self._root = root
        self._nodes: dict[Pointer, Node | None] = {}
        self.missing: dict[str, None] = {}

    def resolve(self, reference: str, uri: str) -> Pointer | None:
        """Return where `reference` in the document `uri` leads; None where no import may go."""
        if len(reference) > REFERENCE_CHARACTERS_MAX:
            return None
        if reference.startswith("#"):
            return uri, unquote(reference[1:])
        try:
            target, fragment = urldefrag(urljoin(uri, reference))
            return (target, unquote(fragment)) if target == uri or self._is_allowed(target) else None
        except ValueError:
            return None

    def _is_allowed(self, target: str) -> bool:
        # A document from the network names no file of this machine, and a file none outside of its folder.
        parts = urlsplit(target)
        if parts.scheme == "https":
            return True
        folder = self._root.rpartition("/")[0] + "/"
        inside = target.startswith(folder) and ".." not in unquote(parts.path).split("/")
        return parts.scheme == "file" and self._root.startswith("file:") and inside

    def find(self, pointer: Pointer) -> Node | None:
        """Return the value at `pointer`, or None."""
        if pointer not in self._nodes:
            self._nodes[pointer] = self._find(*pointer)
        return self._nodes[pointer]

    def _find(self, uri: str, pointer: str) -> Node | None:
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
        """Return `node`, or what it refers to; None where the reference leads nowhere or in a circle."""
        for _ in range(HOPS_MAX):
            reference = node.fields.get("$ref")
            if not isinstance(reference, str):
                return node
            pointer = self.resolve(reference, node.uri)
            target = None if pointer is None else self.find(pointer)
            if target is None:
                return None
            node = target
        return None
