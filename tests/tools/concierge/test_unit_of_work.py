"""A unit of work: a call's own view of its user's documents, its limits, and what it leaves to be stored."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.domain.owners.user_changes import (
    CHANGES_BYTES_MAX,
    DOCUMENT_BYTES_MAX,
    DOCUMENTS_MAX,
    UserChanges,
    UserChangesError,
    read_changes,
    write_changes,
)
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.user_documents import MemoryUserDocuments
from ferryman.tools.concierge.unit_of_work import UnitOfWork

TEA = {"preferences": ["tea"]}


def begin(user: str = "u", **stored: Any) -> UnitOfWork:
    memory = Memory()
    memory.user_documents.update({("u", f"notes/{name}"): (document, "v1") for name, document in stored.items()})
    return UnitOfWork(MemoryUserDocuments(memory), user)


async def test_a_document_is_read_with_its_version_and_what_is_not_there_without() -> None:
    db = begin(a=TEA)
    assert (await db.get("notes/a"), await db.get("notes/b")) == (TEA, None)
    assert db.close(failed=False) == UserChanges({"notes/a": "v1", "notes/b": ""}, {})


async def test_another_user_s_documents_are_not_there() -> None:
    assert await begin("someone-else", a=TEA).get("notes/a") is None


async def test_a_call_reads_what_it_has_written_itself() -> None:
    db = begin(a=TEA)
    db.add("notes/b", {"n": 1})
    db.delete("notes/a")
    assert (await db.get("notes/a"), await db.get("notes/b")) == (None, {"n": 1})
    assert db.close(failed=False) == UserChanges({}, {"notes/b": {"n": 1}, "notes/a": None})


async def test_a_document_is_read_from_the_store_once() -> None:
    memory = Memory()
    memory.user_documents["u", "notes/a"] = (TEA, "v1")
    db = UnitOfWork(MemoryUserDocuments(memory), "u")
    assert await db.get("notes/a") == TEA
    memory.user_documents["u", "notes/a"] = (None, "")
    assert await db.get("notes/a") == TEA


async def test_what_was_read_or_added_is_not_changed_from_outside() -> None:
    db, mine = begin(a=TEA), {"list": [1]}
    (await db.get("notes/a") or {})["preferences"].append("coffee")
    db.add("notes/b", mine)
    mine["list"].append(2)
    assert (await db.get("notes/a"), await db.get("notes/b")) == (TEA, {"list": [1]})


def test_a_call_that_failed_changes_nothing() -> None:
    db = begin()
    db.add("notes/a", TEA)
    assert db.close(failed=True) == UserChanges()


async def test_nothing_is_read_or_written_after_the_end() -> None:
    db = begin(a=TEA)
    db.close(failed=False)
    with pytest.raises(UserChangesError, match="the call has ended"):
        await db.get("notes/a")
    for write in (lambda: db.add("notes/a", {}), lambda: db.delete("notes/a")):
        with pytest.raises(UserChangesError, match="the call has ended"):
            write()


async def test_a_read_that_was_under_way_at_the_end_brings_nothing() -> None:
    class LateDocuments:
        async def get(self, user: str, path: str) -> tuple[Any, str]:
            late.close(failed=False)
            return TEA, "v1"

    late = UnitOfWork(LateDocuments(), "u")
    with pytest.raises(UserChangesError, match="the call has ended"):
        await late.get("notes/a")


@pytest.mark.parametrize(
    "path",
    [
        *(
            "",
            "notes",
            "notes/",
            "/a",
            "notes/a/b",
            "notes/../other",
            "notes/..",
            "../u2/notes",
            "Notes/a",
            "notes/a b",
            "notes/é",
        ),
        *(
            "notes/-a",
            "_notes/a",
            "notes/a\n",
            f"{'n' * 41}/a",
            f"notes/{'a' * 101}",
            "notes//a",
            "notes/.",
            "executions/e/calls",
        ),
    ],
)
async def test_no_path_leads_out_of_the_user_s_own_documents(path: str) -> None:
    db = begin()
    with pytest.raises(UserChangesError, match="a path is COLLECTION/NAME"):
        await db.get(path)
    for write in (lambda: db.add(path, {}), lambda: db.delete(path)):
        with pytest.raises(UserChangesError, match="a path is COLLECTION/NAME"):
            write()
    with pytest.raises(UserChangesError, match="a path is COLLECTION/NAME"):
        read_changes({"reads": {path: ""}, "writes": {}})


async def test_a_call_reads_and_writes_so_many_documents() -> None:
    db = begin()
    for number in range(DOCUMENTS_MAX - 1):
        await db.get(f"notes/n{number}")
    db.add("notes/last", {})
    db.add("notes/n0", {})  # known already
    with pytest.raises(UserChangesError, match=f"at most {DOCUMENTS_MAX} documents"):
        await db.get("notes/more")
    with pytest.raises(UserChangesError, match=f"at most {DOCUMENTS_MAX} documents"):
        db.delete("notes/more")


def test_a_document_has_so_many_bytes() -> None:
    db = begin()
    db.add("notes/a", {"x": "a" * (DOCUMENT_BYTES_MAX - len('{"x": ""}'))})
    with pytest.raises(UserChangesError, match=f"at most {DOCUMENT_BYTES_MAX} bytes as JSON, not {DOCUMENT_BYTES_MAX + 1}"):
        db.add("notes/b", {"x": "a" * (DOCUMENT_BYTES_MAX + 1 - len('{"x": ""}'))})


def test_all_documents_of_a_call_have_so_many_bytes() -> None:
    db, size = begin(), DOCUMENT_BYTES_MAX - 100
    for number in range(CHANGES_BYTES_MAX // size):
        db.add(f"notes/n{number}", {"x": "a" * (size - 9)})
    with pytest.raises(UserChangesError, match=f"writes at most {CHANGES_BYTES_MAX} bytes"):
        db.add("notes/more", {"x": "a" * (size - 9)})


@pytest.mark.parametrize("value", [{"x": float("nan")}, {"x": object()}, {"x": {1, 2}}])
def test_a_document_is_json(value: Any) -> None:
    with pytest.raises(UserChangesError, match="the document notes/a is not JSON"):
        begin().add("notes/a", value)


def test_changes_come_back_from_another_process_as_they_were() -> None:
    changes = UserChanges({"notes/a": "v1", "notes/b": ""}, {"notes/a": {"x": [1, None]}, "notes/c": None})
    assert read_changes(write_changes(changes)) == changes


@pytest.mark.parametrize(
    "value",
    [
        *(None, [], "x", {}, {"reads": {}}, {"reads": {}, "writes": {}, "more": {}}, {"reads": [], "writes": {}}),
        *({"reads": {"notes/a": 1}, "writes": {}}, {"reads": {}, "writes": {"notes/a": "text"}}),
        {"reads": {}, "writes": {f"notes/n{number}": None for number in range(DOCUMENTS_MAX + 1)}},
        {"reads": {}, "writes": {"notes/a": {"x": "a" * DOCUMENT_BYTES_MAX}}},
    ],
)
def test_an_answer_of_another_form_is_refused(value: Any) -> None:
    with pytest.raises(UserChangesError):
        read_changes(value)
