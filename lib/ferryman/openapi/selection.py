"""Selection: which operations of a document are imported, by patterns of their names and paths, and by tags."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase

from ferryman.openapi.operation import PATH_CHARACTERS_MAX, Operation

TAGS_READ_MAX = 20


def is_selected(operation: Operation, name: str, *, only: Collection[str], tags: Collection[str]) -> bool:
    """Return whether the operation called `name` fits one of the patterns in `only`, if any, and has one of `tags`, if any.

    Patterns are those of a shell: `*`, `?`, `[seq]`; one with a slash is of paths. Matching takes linear time for each `*`.
    """
    path = operation.path[:PATH_CHARACTERS_MAX]
    return (not only or any(fnmatchcase(path if "/" in pattern else name, pattern) for pattern in only)) and (
        not tags or not _read_tags(operation).isdisjoint(tags)
    )


def _read_tags(operation: Operation) -> set[str]:
    tags = operation.node.fields.get("tags")
    return {tag for tag in tags[:TAGS_READ_MAX] if isinstance(tag, str)} if isinstance(tags, list) else set()
