"""Paths: the names of databases, documents and collections, and how they sort."""

import re

from .errors import invalid
from .limits import RESOURCE_ID_BYTES

DATABASE = re.compile(r"projects/[^/]+/databases/[^/]+")
RESERVED = re.compile(r"__.*__", re.DOTALL)
NUMERIC = re.compile(r"__id(-?\d+)__")
DATABASE_SEGMENTS = 4
ROOT_SEGMENTS = 5

NameKey = tuple[tuple[str] | tuple[str, int], ...]


def database_of(name: str) -> str:
    """Return the database a document, collection or parent lies in: its first four segments."""
    return "/".join(name.split("/", DATABASE_SEGMENTS)[:DATABASE_SEGMENTS])


def collection_of(document: str) -> str:
    return document.rsplit("/", 1)[0]


def last_of(path: str) -> str:
    return path.rsplit("/", 1)[1]


EVERYWHERE = "*"


def places_of(document: str) -> set[str]:
    """Return the places that contenders for a document can queue for: itself, its collection, its collection group,
    everything."""
    collection = collection_of(document)
    return {document, collection, group_place(last_of(collection)), EVERYWHERE}


def group_place(last: str) -> str:
    return f"{EVERYWHERE}/{last}"


def check_database(name: str) -> None:
    if not DATABASE.fullmatch(name):
        raise invalid(f'Invalid database name "{name}".')


def check_document(database: str, name: str) -> None:
    """Refuse a name that is no document of this database, or that uses a reserved id."""
    segments = name.split("/")
    if not name.startswith(f"{database}/documents/") or len(segments) % 2 == 0:
        raise invalid(f'Document name "{name}" is not a document of "{database}".')
    for segment in segments[ROOT_SEGMENTS:]:
        check_segment(segment)


def check_segment(segment: str) -> None:
    if not segment or segment in {".", ".."} or (RESERVED.fullmatch(segment) and not NUMERIC.fullmatch(segment)):
        raise invalid(f'Resource id "{segment}" is invalid because it is reserved.')
    if len(segment) * 4 > RESOURCE_ID_BYTES and len(segment.encode()) > RESOURCE_ID_BYTES:
        raise invalid(f"Resource id is longer than {RESOURCE_ID_BYTES} bytes.")


def check_parent(database: str, name: str) -> None:
    """Refuse what is neither the root of this database nor one of its documents."""
    if name != f"{database}/documents":
        check_document(database, name)


def name_key(name: str) -> NameKey:
    """Return how a document's name sorts: by segment, numeric ids (__id7__) before all others."""
    segments = name.split("/")
    if "/__id" not in name:
        return tuple([(segment,) for segment in segments])
    return tuple([("", int(match[1])) if (match := NUMERIC.fullmatch(part)) else (part,) for part in segments])


def name_size(name: str) -> int:
    """Return a document name's share of the document's size, in bytes, as production counts it."""
    return 16 + sum(len(segment.encode()) + 1 for segment in name.split("/")[ROOT_SEGMENTS:])
