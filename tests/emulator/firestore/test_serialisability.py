"""Serialisability: whatever the interleaving, what commits could have run alone at the moment of its commit."""

import asyncio
from typing import Any

from google.cloud.firestore_v1.types import TransactionOptions
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator.firestore.databases import Database, Databases, ReadView
from emulator.firestore.errors import StatusError
from emulator.firestore.query import Query
from emulator.firestore.store import DocumentStore
from emulator.firestore.wire import Document, StructuredQuery, Write

DATABASE = "projects/p/databases/d"
ROOT = f"{DATABASE}/documents"
OPTIONS = TransactionOptions.pb()()

# A read is ("get", document) or ("find", least n, limit); a write is ("put", document, n) or ("delete", document).
READS = st.tuples(st.just("get"), st.integers(0, 3)) | st.tuples(st.just("find"), st.integers(0, 5), st.integers(0, 3))
WRITES = st.tuples(st.just("put"), st.integers(0, 3), st.integers(0, 5)) | st.tuples(st.just("delete"), st.integers(0, 3))
STEPS = st.lists(st.tuples(st.integers(0, 2), READS | WRITES | st.tuples(st.just("commit"))), max_size=40)


def name_document(number: int) -> str:
    return f"{ROOT}/c/{number}"


def find(database: Database, least: int, limit: int) -> Query:
    field = {"field": {"field_path": "n"}}
    structured = StructuredQuery(
        from_=[{"collection_id": "c"}], where={"field_filter": {**field, "op": 4, "value": {"integer_value": least}}}
    )
    if limit:
        structured.limit.value = limit
    return Query(database.history, ROOT, structured)


def read(database: Database, view: ReadView, step: Any) -> list[tuple[str, int]]:
    if step[0] == "get":
        version = view.get(name_document(step[1]))
        return [] if version is None else [(version.name, version.at)]
    return [(version.name, version.at) for version in view.run(find(database, *step[1:]))]


def write(step: Any) -> Write:
    if step[0] == "delete":
        return Write(delete=name_document(step[1]))
    return Write(update=Document(name=name_document(step[1]), fields={"n": {"integer_value": step[2]}}))


# No deadline: who begins just after an abort may queue behind another that this one task has left open.
@settings(deadline=None)
@given(STEPS)
@example([(0, ("get", 0)), (1, ("delete", 0)), (2, ("put", 0, 0)), (2, ("commit",)), (1, ("commit",)), (0, ("commit",))])
def test_what_commits_has_read_what_it_would_read_at_its_commit(steps: list[tuple[int, Any]]) -> None:
    asyncio.run(replay(steps))


async def replay(steps: list[tuple[int, Any]]) -> None:
    store = DocumentStore()
    database = Databases(store).find(DATABASE)
    transactions = {}
    written: list[set[int]] = []  # by each commit
    for worker, step in steps:
        if worker not in transactions:
            transactions[worker] = (await database.transactions.begin(OPTIONS), [], [], len(written))
        transaction, reads, writes, begun = transactions[worker]
        if step[0] in {"get", "find"}:
            view = ReadView(history=database.history, at=database.transactions.snapshot(transaction), noting=transaction)
            reads.append((step, read(database, view, step)))
        elif step[0] in {"put", "delete"}:
            writes.append(step)
        else:
            del transactions[worker]
            now = ReadView(history=database.history, at=store.now())
            unchanged = all(read(database, now, step) == seen for step, seen in reads)
            try:
                await database.transactions.commit(transaction.token, [write(change) for change in writes])
            except StatusError:
                # a document that was created and deleted since reads as before, and is a conflict all the same
                since = set().union(*written[begun:])
                assert not unchanged or any(not read(database, now, ("get", number)) for number in since)
            else:
                assert unchanged
                written.append({change[1] for change in writes})
