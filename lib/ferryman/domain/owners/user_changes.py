"""Changes of a user's documents, as a local function leaves them: stored with the call's result, or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DOCUMENTS_MAX = 50
"""How many documents one call may read or write."""
DOCUMENT_BYTES_MAX = 65_536
"""One document, as JSON."""
CHANGES_BYTES_MAX = 262_144
"""All documents that one call writes, as JSON."""
_PATH = re.compile(r"[a-z][a-z_]{0,39}/[A-Za-z0-9][A-Za-z0-9_-]{0,99}", re.ASCII)

Document = Mapping[str, Any]


class UserChangesError(ValueError):
    """A path or a document of a user is not one, or there are too many; the text names the limit."""


@dataclass(frozen=True, slots=True)
class UserChanges:
    """The documents that a call has read, with the version of each ("" where there was none), and those that it writes.

    Paths are COLLECTION/NAME in the part of the store that is the user's own; a document that is None is deleted. What is
    written may rest on what was read: it is stored only where all of that is still as it was.
    """

    reads: Mapping[str, str] = field(default_factory=dict)
    writes: Mapping[str, Document | None] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Raise `UserChangesError` where one of the limits is broken."""
        for path in (*self.reads, *self.writes):
            check_path(path)
        if len({*self.reads, *self.writes}) > DOCUMENTS_MAX:
            raise UserChangesError(f"a call reads and writes at most {DOCUMENTS_MAX} documents")
        sizes = [_measure(path, document) for path, document in self.writes.items() if document is not None]
        if sum(sizes) > CHANGES_BYTES_MAX:
            raise UserChangesError(f"a call writes at most {CHANGES_BYTES_MAX} bytes as JSON, not {sum(sizes)}")


def is_path(path: str) -> bool:
    """Tell whether a text is the path of a user's document: none leads out of the user's own."""
    return _PATH.fullmatch(path) is not None


def check_path(path: str) -> str:
    """Return a path of a user's document. Raise `UserChangesError` for any other text."""
    if not is_path(path):
        raise UserChangesError("a path is COLLECTION/NAME: a-z and _, then at most 100 letters, digits, _ and -")
    return path


def _measure(path: str, document: Document) -> int:
    try:
        size = len(json.dumps(document, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise UserChangesError(f"the document {path} is not JSON") from None
    if size > DOCUMENT_BYTES_MAX:
        raise UserChangesError(f"the document {path} may have at most {DOCUMENT_BYTES_MAX} bytes as JSON, not {size}")
    return size


def write_changes(changes: UserChanges) -> dict[str, Any]:
    """Return the changes as JSON values."""
    return {"reads": dict(changes.reads), "writes": dict(changes.writes)}


def read_changes(value: Any) -> UserChanges:
    """Return the changes that another process wrote. Raise `UserChangesError` for anything else."""
    known = isinstance(value, dict) and value.keys() == {"reads", "writes"}
    if not known or not all(isinstance(part, dict) for part in value.values()):
        raise UserChangesError("the changes are not an object of reads and writes")
    if not all(isinstance(version, str) for version in value["reads"].values()):
        raise UserChangesError("the version of a document is a text")
    if not all(document is None or isinstance(document, dict) for document in value["writes"].values()):
        raise UserChangesError("a document is an object")
    return UserChanges(value["reads"], value["writes"])
