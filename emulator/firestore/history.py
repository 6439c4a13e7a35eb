"""History: every version of every document of one database, and where to find them."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from . import fields, values
from .errors import failed_precondition
from .limits import READ_TIME_MICROS
from .ordered import LARGE, DocumentOrder, DocumentOrders, Need
from .paths import collection_of, last_of, name_key
from .values import Key
from .wire import Document

LOG_ENTRIES = 100_000
"""How many changes a database remembers; more than a busy hour of tests makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A document from one moment (micros) on; no document from there on when it was deleted."""

    name: str
    at: int
    document: Document | None
    keys: dict[str, Key | None] = field(default_factory=dict, compare=False, repr=False)

    def key(self, path: str) -> Key | None:
        """Return the sort key of the field at a path, None when the document has no such field."""
        try:
            return self.keys[path]
        except KeyError:
            self.keys[path] = version = self._key(path)
            return version

    def _key(self, path: str) -> Key | None:
        if path == fields.NAME:
            return (values.REFERENCE, name_key(self.name))
        assert self.document is not None
        value = fields.get(self.document.fields, fields.parse(path))
        return None if value is None else values.key(value)


class History:
    """The documents of one database. Everything here is synchronous, and so atomic to the event loop."""

    def __init__(self, database: str, *, horizon: int) -> None:
        self.database = database
        self.root = f"{database}/documents"
        self.horizon = horizon
        """No read can see before this moment (micros)."""
        self.collections: dict[str, dict[str, list[Version]]] = {}
        self.groups: dict[str, set[str]] = {}
        """Collections by their last id."""
        self._orders: dict[str, DocumentOrders[Version]] = {}
        self._log: deque[tuple[int, str]] = deque()

    def get(self, name: str, at: int) -> Version | None:
        """Return the version of a document at a moment, None when it did not exist."""
        versions = self.collections.get(collection_of(name), {}).get(name)
        return None if versions is None else find_version(versions, at)

    def current(self, name: str) -> Document | None:
        versions = self.collections.get(collection_of(name), {}).get(name)
        return versions[-1].document if versions else None

    def within(self, collections: Iterable[str], at: int) -> Iterator[Version]:
        """Yield the documents directly in these collections at a moment, in no order."""
        for collection in collections:
            for versions in self.collections.get(collection, {}).values():
                # Nearly always the last one, which is then found without a call: this runs for every document there is.
                last = versions[-1]
                version = last if last.at <= at and last.document is not None else find_version(versions, at)
                if version is not None:
                    yield version

    def order(self, collection: str, need: Need, at: int) -> DocumentOrder[Version] | None:
        """Return an order of a large collection that is as it was at a moment, None for a small one or an earlier moment."""
        documents = self.collections.get(collection, {})
        if len(documents) < LARGE or (self._log and self._log[-1][0] > at):
            return None
        orders = self._orders.setdefault(collection, DocumentOrders[Version]())
        return orders.get(need, (versions[-1] for versions in documents.values()))

    def changed_since(self, at: int) -> set[str]:
        """Return the names of the documents changed after a moment no earlier than the horizon."""
        names = set()
        for moment, name in reversed(self._log):
            if moment <= at:
                break
            names.add(name)
        return names

    def check(self, at: int) -> None:
        if at < self.horizon:
            raise failed_precondition("The requested 'read_time' is too old.")

    def load(self, version: Version) -> None:
        """Take in a version from before the horizon."""
        self._place(version.name).append(version)

    def add(self, version: Version) -> None:
        versions = self._place(version.name)
        orders = self._orders.get(collection_of(version.name))
        if orders is not None:
            orders.replace(versions[-1] if versions else None, version)
        versions.append(version)
        self._log.append((version.at, version.name))
        while len(self._log) > LOG_ENTRIES or self._log[0][0] < version.at - READ_TIME_MICROS:
            self.horizon, name = self._log.popleft()
            self._trim(name)

    def collection_ids(self, parent: str, at: int) -> set[str]:
        """Return the collections under a document (or the root) that hold anything at any depth."""
        return self._heads(f"{parent}/", at)

    def missing(self, collection: str, at: int) -> set[str]:
        """Return the documents of a collection that do not exist but have documents below them."""
        names = {f"{collection}/{last}" for last in self._heads(f"{collection}/", at)}
        return {name for name in names if self.get(name, at) is None}

    def _heads(self, prefix: str, at: int) -> set[str]:
        """Return the first segments after a prefix of all collections that have documents."""
        heads = set()
        for collection in self.collections:
            if collection.startswith(prefix):
                head = collection.removeprefix(prefix).split("/", 1)[0]
                if head not in heads and self._alive(collection, at):
                    heads.add(head)
        return heads

    def _alive(self, collection: str, at: int) -> bool:
        return any(find_version(versions, at) for versions in self.collections.get(collection, {}).values())

    def _place(self, name: str) -> list[Version]:
        collection = collection_of(name)
        if collection not in self.collections:
            self.collections[collection] = {}
            self.groups.setdefault(last_of(collection), set()).add(collection)
        return self.collections[collection].setdefault(name, [])

    def _trim(self, name: str) -> None:
        """Forget the versions of a document that nothing can read any more."""
        collection = collection_of(name)
        versions = self.collections.get(collection, {}).get(name)
        if versions is None:
            return
        while len(versions) > 1 and versions[1].at <= self.horizon:
            del versions[0]
        if len(versions) == 1 and versions[0].document is None:
            del self.collections[collection][name]
            if not self.collections[collection]:
                del self.collections[collection]
                self.groups[last_of(collection)].discard(collection)


def find_version(versions: list[Version], at: int) -> Version | None:
    """Return the last version no later than a moment, None when the document did not exist then."""
    for version in reversed(versions):
        if version.at <= at:
            return version if version.document is not None else None
    return None
