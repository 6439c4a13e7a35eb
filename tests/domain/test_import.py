"""Imports: the ids of what an archive becomes, and which file is the next."""

from __future__ import annotations

import pytest

from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.imports import ArchiveImport, chain_file, derive_agent, derive_id
from ferryman.domain.workspaces.names import derive_default_agent

FIRST = "workspace-000001.jsonl"
IMPORT = ArchiveImport(source="ws_a", digest="d", files=3, default_agent="agent_d").advance(FIRST, "1" * 64, 1)


def test_the_same_thing_of_the_same_archive_has_one_id_in_a_workspace() -> None:
    assert derive_id("ws_1", "task", "task_a") == derive_id("ws_1", "task", "task_a")


def test_each_workspace_kind_and_thing_has_ids_of_its_own() -> None:
    places = [
        ("ws_1", "task", "a"),
        ("ws_2", "task", "a"),
        ("ws_1", "exec", "a"),
        ("ws_1", "task", "b"),
        ("ws_1", "task", "ab"),
    ]
    assert len({derive_id(*place) for place in places}) == len(places)


def test_the_default_agent_of_the_archive_becomes_that_of_the_workspace() -> None:
    assert derive_agent("ws_1", IMPORT, "agent_d") == derive_default_agent("ws_1")
    assert derive_agent("ws_1", IMPORT, "agent_e") == derive_id("ws_1", "agent", "agent_e")


@pytest.mark.parametrize(("number", "is_next"), [(1, True), (0, False)])
def test_the_next_file_is_awaited_and_the_last_one_may_come_again(number: int, is_next: bool) -> None:
    assert IMPORT.awaits(number) is is_next


@pytest.mark.parametrize("number", [2, 3, -1])
def test_no_other_file_is_taken(number: int) -> None:
    with pytest.raises(StaleError, match=r"^the next file is number 1, counted from 0, of 3"):
        IMPORT.awaits(number)


def test_the_last_file_may_come_again() -> None:
    IMPORT.check_repeated(FIRST, "1" * 64)


@pytest.mark.parametrize(("name", "digest"), [(FIRST, "2" * 64), ("agents-000001.jsonl", "1" * 64)])
def test_another_file_in_its_place_is_refused(name: str, digest: str) -> None:
    with pytest.raises(StaleError, match=r"^another file was stored as file 0"):
        IMPORT.check_repeated(name, digest)


def test_the_digest_of_an_archive_depends_on_names_contents_and_order() -> None:
    first, second = ("a-000001.jsonl", "1" * 64), ("b-000001.jsonl", "2" * 64)
    chained = {chain_file(chain_file("", *before), *after) for before in (first, second) for after in (first, second)}
    assert len(chained) == 4
