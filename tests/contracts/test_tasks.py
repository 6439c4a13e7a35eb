"""Tasks and credentials: kept as they were put, listed by owner, and gone together."""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from ferryman.domain.changes import change_value
from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credentials.former import FORMER_MAX, KNOWN, FormerValue, FormerValues
from ferryman.domain.stale import StaleError
from ferryman.domain.tasks.task import TaskFilter, TaskSummary
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.names import derive_default_workspace

from .conftest import Stores
from .values import NOW, TASK, build_sealed, open_workspaces

SECOND = timedelta(seconds=1)


async def test_a_task_comes_back_as_it_was_put(stores: Stores) -> None:
    assert await stores.tasks.get("task_1") is None
    await stores.tasks.create(TASK)
    assert await stores.tasks.get("task_1") == TASK
    other = replace(TASK, tools=(), webhook_urls=(), enabled=False, updated_at=NOW + SECOND)
    assert await stores.tasks.update(other, ["tools", "webhook_urls", "enabled"], since=TASK.updated_at) is True
    assert await stores.tasks.get("task_1") == other


async def test_only_the_fields_that_are_named_are_written(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.tasks.update(replace(TASK, name="new", enabled=False, updated_at=NOW + SECOND), ["enabled"], since=NOW)
    assert await stores.tasks.get("task_1") == replace(TASK, enabled=False, updated_at=NOW + SECOND)


async def test_a_change_to_a_task_that_was_changed_meanwhile_is_not_taken(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    off = replace(TASK, enabled=False, updated_at=NOW + SECOND)
    await stores.tasks.update(off, ["enabled"], since=NOW)
    with pytest.raises(StaleError, match="changed by somebody else"):
        await stores.tasks.update(replace(TASK, name="new", updated_at=NOW + 2 * SECOND), ["name", "enabled"], since=NOW)
    assert await stores.tasks.get("task_1") == off


async def test_of_two_changes_at_once_one_is_taken(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    changes = [change_value(TASK, {"name": f"name {n}"}, now=NOW) for n in range(2)]
    outcomes = await asyncio.gather(
        *(stores.tasks.update(change, ["name"], since=NOW) for change in changes), return_exceptions=True
    )
    assert {type(outcome) for outcome in outcomes} == {bool, StaleError}


async def test_a_task_that_is_not_there_is_not_changed(stores: Stores) -> None:
    assert await stores.tasks.update(TASK, ["name"], since=NOW) is False
    assert await stores.tasks.get("task_1") is None


async def test_a_workspaces_tasks_are_listed_oldest_first(stores: Stores) -> None:
    young = replace(TASK, id="task_0", created_at=NOW + timedelta(seconds=1))
    await open_workspaces(stores, "w")
    for task in (young, TASK, replace(TASK, id="task_2", workspace="w", agent="")):
        await stores.tasks.create(task)
    names = [field.name for field in fields(TaskSummary)]
    summaries = [TaskSummary(**{name: getattr(task, name) for name in names}) for task in (TASK, young)]
    assert list(await stores.tasks.list(TASK.workspace)) == summaries
    assert list(await stores.tasks.list(derive_default_workspace("nobody"))) == []


async def test_pages_of_tasks_hold_each_of_them_once(stores: Stores) -> None:
    for number in range(5):  # all of one moment
        await stores.tasks.create(replace(TASK, id=f"task_{number}"))
    pages, after = [], None
    for _ in range(3):
        page = await stores.tasks.list(TASK.workspace, after=after, most=2)
        pages.append([task.id for task in page])
        after = page.end
    assert (pages, after) == ([["task_0", "task_1"], ["task_2", "task_3"], ["task_4"]], None)


async def test_tasks_are_listed_by_name_and_by_whether_they_are_enabled(stores: Stores) -> None:
    for number in range(4):
        task = replace(TASK, id=f"task_{number}", name="ab"[number % 2], enabled=number < 2)
        await stores.tasks.create(task)

    async def list_ids(**which: Any) -> list[str]:
        return [task.id for task in await stores.tasks.list(TASK.workspace, which=TaskFilter(**which))]

    assert await list_ids(name="b") == ["task_1", "task_3"]
    assert await list_ids(enabled=True) == ["task_0", "task_1"]
    assert await list_ids(enabled=False, name="a") == ["task_2"]
    assert await list_ids(name="c") == []
    place = {"owner": TASK.owner, "workspace": TASK.workspace}
    await stores.agents.create(Agent(id="wally", **place, name="w", created_at=NOW, updated_at=NOW))
    await stores.tasks.create(replace(TASK, id="task_4", name="a", agent="wally"))
    assert await list_ids(agent="wally", name="a") == ["task_4"]


async def test_a_deleted_task_takes_its_credentials_with_it(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed())
    assert await stores.tasks.delete("task_1") is True
    assert await stores.tasks.delete("task_1") is False
    assert await stores.tasks.get("task_1") is None
    assert list(await stores.credentials.list("task_1")) == []


async def test_a_credential_comes_back_as_it_was_sealed(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    assert await stores.credentials.next_version("task_1", "A") == 1
    await stores.credentials.put(build_sealed())
    assert list(await stores.credentials.list("task_1")) == [build_sealed()]
    assert await stores.credentials.next_version("task_1", "A") == 2
    assert await stores.credentials.next_version("task_1", "B") == 1


async def test_only_the_next_version_is_taken(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed(1))
    for version in (0, 1, 3):
        with pytest.raises(StaleError):
            await stores.credentials.put(build_sealed(version))
    await stores.credentials.put(build_sealed(2))
    assert list(await stores.credentials.list("task_1")) == [build_sealed(2)]


async def test_a_task_that_is_changed_keeps_its_versions(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed(1))
    await stores.tasks.update(replace(TASK, name="other"), ["name"], since=NOW)
    assert await stores.credentials.next_version("task_1", "A") == 2


async def test_a_deleted_credential_keeps_its_version_from_coming_back(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed(1))
    assert await stores.credentials.delete("task_1", "A", now=NOW) is True
    assert await stores.credentials.delete("task_1", "A", now=NOW) is False
    with pytest.raises(StaleError):
        await stores.credentials.put(build_sealed(1))


async def test_a_deletion_takes_a_version_of_its_own(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed(1))
    await stores.credentials.delete("task_1", "A", now=NOW)
    assert await stores.credentials.next_version("task_1", "A") == 3


async def test_a_credential_that_is_resealed_changes_in_its_ciphertext_and_its_key_version_alone(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed())
    after = replace(build_sealed(), ciphertext=b"sealed anew", key_version=4, updated_at=NOW + SECOND)
    assert await stores.credentials.reseal(build_sealed(), after) is True
    assert list(await stores.credentials.list("task_1")) == [replace(build_sealed(), ciphertext=b"sealed anew", key_version=4)]
    assert await stores.credentials.next_version("task_1", "A") == 2


async def test_a_credential_that_was_stored_again_meanwhile_is_not_overwritten_by_one_resealed(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed(1))
    newer = replace(build_sealed(2), ciphertext=b"another value")
    await stores.credentials.put(newer)
    assert (
        await stores.credentials.reseal(build_sealed(1), replace(build_sealed(1), ciphertext=b"sealed anew", key_version=4))
        is False
    )
    assert list(await stores.credentials.list("task_1")) == [newer]


async def test_a_deleted_credential_does_not_come_back_resealed(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed())
    await stores.credentials.delete("task_1", "A", now=NOW)
    assert await stores.credentials.reseal(build_sealed(), replace(build_sealed(), ciphertext=b"sealed anew")) is False
    assert list(await stores.credentials.list("task_1")) == []


async def test_a_credential_of_no_task_is_not_taken(stores: Stores) -> None:
    with pytest.raises(StaleError):
        await stores.credentials.put(build_sealed())


def former(*values: tuple[int, datetime]) -> FormerValues:
    """Return the former versions of the credential A, the newest first, each with its end."""
    ended = tuple(FormerValue(sealed=build_sealed(version), until=at + KNOWN) for version, at in values)
    return FormerValues(task="task_1", name="A", values=ended)


async def everything(stores: Stores) -> tuple[list[SealedCredential], list[FormerValues]]:
    live, ended = await stores.credentials.read_all("task_1")
    return list(live), list(ended)


def stored_at(version: int, at: datetime) -> SealedCredential:
    return replace(build_sealed(version), updated_at=at)


async def test_what_was_stored_over_is_a_former_value(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed(1))
    assert await everything(stores) == ([build_sealed(1)], [])
    await stores.credentials.put(newer := stored_at(2, NOW + SECOND))
    assert await everything(stores) == ([newer], [former((1, NOW + SECOND))])
    assert list(await stores.credentials.list("task_1")) == [newer]


async def test_a_deleted_value_is_a_former_one_and_no_credential(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed(1))
    await stores.credentials.delete("task_1", "A", now=NOW)
    assert await everything(stores) == ([], [former((1, NOW))])


async def test_a_value_that_was_deleted_stays_a_former_one_of_what_is_stored_under_its_name(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.credentials.put(build_sealed(1))
    await stores.credentials.delete("task_1", "A", now=NOW)
    await stores.credentials.put(newer := stored_at(3, NOW + SECOND))
    assert await everything(stores) == ([newer], [former((1, NOW))])
    await stores.credentials.delete("task_1", "A", now=NOW + 2 * SECOND)
    live, ended = await everything(stores)
    assert (live, [value.sealed.label.version for value in ended[0].values]) == ([], [3, 1])


async def test_the_newest_former_values_are_kept_and_those_whose_time_is_over_are_not(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    for version in range(1, FORMER_MAX + 4):
        await stores.credentials.put(stored_at(version, NOW + version * SECOND))
    (ended,) = (await stores.credentials.read_all("task_1"))[1]
    assert [value.sealed.label.version for value in ended.values] == [7, 6, 5, 4, 3]
    await stores.credentials.put(stored_at(9, NOW + KNOWN + 7 * SECOND))
    (ended,) = (await stores.credentials.read_all("task_1"))[1]
    assert [value.sealed.label.version for value in ended.values] == [8, 7]


async def test_a_deleted_task_takes_the_former_values_with_it(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    for version in (1, 2):
        await stores.credentials.put(build_sealed(version))
    await stores.tasks.delete("task_1")
    assert tuple(map(len, await stores.credentials.read_all("task_1"))) == (0, 0)


async def test_former_values_are_resealed_where_nothing_was_added_meanwhile(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    for version in (1, 2):
        await stores.credentials.put(build_sealed(version))
    (before,) = (await stores.credentials.read_all("task_1"))[1]
    value = replace(before.values[0], sealed=replace(build_sealed(1), ciphertext=b"sealed anew", key_version=4))
    after = replace(before, values=(value,))
    assert await stores.credentials.reseal_former(before, after) is True
    assert await stores.credentials.reseal_former(before, after) is False
    assert (await everything(stores))[1] == [after]
    assert await stores.credentials.reseal_former(after, replace(after, values=())) is True
    assert (await everything(stores))[1] == []
