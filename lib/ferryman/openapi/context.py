"""Context: what is imported and for whom, and what reading its operations has in common."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.problem import build_input_error
from ferryman.openapi.references import Node, References
from ferryman.openapi.schemas import Schemas
from ferryman.openapi.values import Notes, to_line


def ignore_count(done: int, total: int) -> None:
    """Do nothing with a count; named, so that what holds it can be sent to a worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentImport:
    """What is to be imported: the documents by absolute URI, of which `root` is one, and how.

    `cluster` is the document's title where None (S3-47). `domains` are the task's approved host patterns, `credentials` the
    names of its credentials with the host patterns each is bound to, `pairs` those that are a user name and a password.
    `server` is a URL to use in place of the servers that the document names, which may be none or examples; it must be
    approved like them. Of the operations, those are imported whose name (as `listPets`), or whose path for a pattern with a
    slash (as `/pets/*`), fits one of the patterns in `only`, and that have one of `tags`; without any, all. `count` hears of
    every operation that is read: how many are by then, of all that are to be.
    """

    documents: Mapping[str, Any] = field(repr=False)
    root: str
    cluster: str | None = None
    domains: Collection[str] = ()
    credentials: Mapping[str, Collection[str]] = field(default_factory=dict)
    pairs: Collection[str] = ()
    server: str | None = None
    only: Collection[str] = ()
    tags: Collection[str] = ()
    count: Callable[[int, int], None] = ignore_count


class ImportContext:
    """What all operations of one import are read with. `version` is that of the root: "2.0", "3.0" or "3.1"."""

    def __init__(self, source: DocumentImport) -> None:
        """Raise `InvalidInputError` where the root is not such a document."""
        document = source.documents.get(source.root)
        if not isinstance(document, dict):
            raise build_input_error("spec", "must be an object: an OpenAPI 3.0 or 3.1 document, or a Swagger 2.0 one")
        self.source = source
        self.root = Node(document, source.root)
        self.version = _read_version(document)
        self.notes = Notes()
        self.references = References(source.documents, source.root)
        self.schemas = Schemas(self.references, self.notes)


def _read_version(document: Mapping[str, Any]) -> str:
    value = document.get("openapi", document.get("swagger"))
    # YAML reads a version without quotes as a number.
    version = f"{value:.1f}" if isinstance(value, float) else to_line(value, 16)
    for prefix in ("3.0", "3.1") if "openapi" in document else ("2.0",):
        if version == prefix or version.startswith(f"{prefix}."):
            return prefix
    actual = f"is {version!r}" if version else "is missing"
    raise build_input_error("spec.openapi", f"must be 3.0 or 3.1, or `swagger` 2.0; {actual}")
