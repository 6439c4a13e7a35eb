"""Expiry: documents go by themselves once the moment in a field of theirs has passed, where a TTL policy names that field."""

from collections.abc import Mapping

from .databases import Databases
from .errors import StatusError
from .history import Version
from .store import DocumentStore
from .values import TIMESTAMP, Key
from .wire import Write


async def expire(store: DocumentStore, databases: Databases, policies: Mapping[str, str]) -> int:
    """Delete what is due, each document by itself, and answer how many went. `policies` are fields by collection group.

    What lies below a document stays, as it does in production: it has times of its own.
    """
    return sum([await _delete(databases, version) for version in _find_due(store, policies)])


def _find_due(store: DocumentStore, policies: Mapping[str, str]) -> list[Version]:
    at = store.now()
    return [
        version
        for history in store.histories()
        for group, path in policies.items()
        for version in history.within(history.groups.get(group, ()), at)
        if _is_past(version.key(path), at)
    ]


def _is_past(key: Key | None, at: int) -> bool:
    """Return whether a field of this sort key holds a moment, and one that has come; any other value keeps its document."""
    return key is not None and key[0] == TIMESTAMP and key[1] * 1_000_000 + key[2] // 1000 <= at


async def _delete(databases: Databases, version: Version) -> bool:
    assert version.document is not None
    # whoever writes it meanwhile may give it more time
    write = Write(delete=version.name, current_document={"update_time": version.document.update_time})
    try:
        await databases.find_for(version.name).transactions.commit(b"", [write])
    except StatusError:
        return False
    return True
