"""Tasks and credentials: kept as they were put, listed by owner, and gone together."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credentials.former import FORMER_MAX, KNOWN, FormerValue, FormerValues
from ferryman.domain.stale import StaleError
from ferryman.domain.tasks.task import change_task

from .conftest import Doors
from .values import NOW, TASK, sealed

SECOND = timedelta(seconds=1)


async def test_a_task_comes_back_as_it_was_put(doors: Doors) -> None:
    assert await doors.tasks.get("task_1") is None
    await doors.tasks.create(TASK)
    assert await doors.tasks.get("task_1") == TASK
    other = replace(TASK, tools=(), webhook_urls=(), enabled=False, updated_at=NOW + SECOND)
    assert await doors.tasks.update(other, ["tools", "webhook_urls", "enabled"], since=TASK.updated_at) is True
    assert await doors.tasks.get("task_1") == other


async def test_only_the_fields_that_are_named_are_written(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.tasks.update(replace(TASK, name="new", enabled=False, updated_at=NOW + SECOND), ["enabled"], since=NOW)
    assert await doors.tasks.get("task_1") == replace(TASK, enabled=False, updated_at=NOW + SECOND)


async def test_a_change_to_a_task_that_was_changed_meanwhile_is_not_taken(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    off = replace(TASK, enabled=False, updated_at=NOW + SECOND)
    await doors.tasks.update(off, ["enabled"], since=NOW)
    with pytest.raises(StaleError, match="changed by somebody else"):
        await doors.tasks.update(replace(TASK, name="new", updated_at=NOW + 2 * SECOND), ["name", "enabled"], since=NOW)
    assert await doors.tasks.get("task_1") == off


async def test_of_two_changes_at_once_one_is_taken(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    changes = [change_task(TASK, {"name": f"name {n}"}, now=NOW) for n in range(2)]
    came = await asyncio.gather(*(doors.tasks.update(each, ["name"], since=NOW) for each in changes), return_exceptions=True)
    assert {type(each) for each in came} == {bool, StaleError}


async def test_a_task_that_is_not_there_is_not_changed(doors: Doors) -> None:
    assert await doors.tasks.update(TASK, ["name"], since=NOW) is False
    assert await doors.tasks.get("task_1") is None


async def test_an_owners_tasks_are_listed_oldest_first(doors: Doors) -> None:
    young = replace(TASK, id="task_0", created_at=NOW + timedelta(seconds=1))
    for task in (young, TASK, replace(TASK, id="task_2", owner="bob")):
        await doors.tasks.create(task)
    assert list(await doors.tasks.list("ann")) == [TASK, young]
    assert list(await doors.tasks.list("nobody")) == []


async def test_a_deleted_task_takes_its_credentials_with_it(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(sealed())
    assert await doors.tasks.delete("task_1") is True
    assert await doors.tasks.delete("task_1") is False
    assert await doors.tasks.get("task_1") is None
    assert list(await doors.credentials.list("task_1")) == []


async def test_a_credential_comes_back_as_it_was_sealed(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    assert await doors.credentials.next_version("task_1", "A") == 1
    await doors.credentials.put(sealed())
    assert list(await doors.credentials.list("task_1")) == [sealed()]
    assert await doors.credentials.next_version("task_1", "A") == 2
    assert await doors.credentials.next_version("task_1", "B") == 1


async def test_only_the_next_version_is_taken(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(sealed(1))
    for version in (0, 1, 3):
        with pytest.raises(StaleError):
            await doors.credentials.put(sealed(version))
    await doors.credentials.put(sealed(2))
    assert list(await doors.credentials.list("task_1")) == [sealed(2)]


async def test_a_task_that_is_changed_keeps_its_versions(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(sealed(1))
    await doors.tasks.update(replace(TASK, name="other"), ["name"], since=NOW)
    assert await doors.credentials.next_version("task_1", "A") == 2


async def test_a_deleted_credential_keeps_its_version_from_coming_back(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(sealed(1))
    assert await doors.credentials.delete("task_1", "A", now=NOW) is True
    assert await doors.credentials.delete("task_1", "A", now=NOW) is False
    with pytest.raises(StaleError):
        await doors.credentials.put(sealed(1))


async def test_a_credential_that_is_sealed_anew_changes_in_its_ciphertext_and_its_key_version_alone(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(sealed())
    after = replace(sealed(), ciphertext=b"sealed anew", key_version=4, updated_at=NOW + SECOND)
    assert await doors.credentials.reseal(sealed(), after) is True
    assert list(await doors.credentials.list("task_1")) == [replace(sealed(), ciphertext=b"sealed anew", key_version=4)]
    assert await doors.credentials.next_version("task_1", "A") == 2


async def test_a_credential_that_was_stored_anew_meanwhile_is_not_overwritten_by_one_sealed_anew(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(sealed(1))
    newer = replace(sealed(2), ciphertext=b"another value")
    await doors.credentials.put(newer)
    assert await doors.credentials.reseal(sealed(1), replace(sealed(1), ciphertext=b"sealed anew", key_version=4)) is False
    assert list(await doors.credentials.list("task_1")) == [newer]


async def test_a_deleted_credential_does_not_come_back_sealed_anew(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(sealed())
    await doors.credentials.delete("task_1", "A", now=NOW)
    assert await doors.credentials.reseal(sealed(), replace(sealed(), ciphertext=b"sealed anew")) is False
    assert list(await doors.credentials.list("task_1")) == []


async def test_a_credential_of_no_task_is_not_taken(doors: Doors) -> None:
    with pytest.raises(StaleError):
        await doors.credentials.put(sealed())


def former(*values: tuple[int, datetime]) -> FormerValues:
    """What the credential A was: versions, the newest first, each with when it ended."""
    ended = tuple(FormerValue(sealed=sealed(version), until=at + KNOWN) for version, at in values)
    return FormerValues(task="task_1", name="A", values=ended)


async def everything(doors: Doors) -> tuple[list[SealedCredential], list[FormerValues]]:
    live, ended = await doors.credentials.read_all("task_1")
    return list(live), list(ended)


def stored_at(version: int, at: datetime) -> SealedCredential:
    return replace(sealed(version), updated_at=at)


async def test_what_was_stored_over_is_a_former_value(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(sealed(1))
    assert await everything(doors) == ([sealed(1)], [])
    await doors.credentials.put(newer := stored_at(2, NOW + SECOND))
    assert await everything(doors) == ([newer], [former((1, NOW + SECOND))])
    assert list(await doors.credentials.list("task_1")) == [newer]


async def test_a_deleted_value_is_a_former_one_and_no_credential(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(sealed(1))
    await doors.credentials.delete("task_1", "A", now=NOW)
    assert await everything(doors) == ([], [former((1, NOW))])


async def test_a_value_that_was_deleted_stays_a_former_one_of_what_is_stored_under_its_name(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    await doors.credentials.put(sealed(1))
    await doors.credentials.delete("task_1", "A", now=NOW)
    await doors.credentials.put(newer := stored_at(2, NOW + SECOND))
    assert await everything(doors) == ([newer], [former((1, NOW))])
    await doors.credentials.delete("task_1", "A", now=NOW + 2 * SECOND)
    live, ended = await everything(doors)
    assert (live, [each.sealed.label.version for each in ended[0].values]) == ([], [2, 1])


async def test_the_newest_former_values_are_kept_and_those_whose_time_is_over_are_not(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    for version in range(1, FORMER_MAX + 4):
        await doors.credentials.put(stored_at(version, NOW + version * SECOND))
    (ended,) = (await doors.credentials.read_all("task_1"))[1]
    assert [each.sealed.label.version for each in ended.values] == [7, 6, 5, 4, 3]
    await doors.credentials.put(stored_at(9, NOW + KNOWN + 7 * SECOND))
    (ended,) = (await doors.credentials.read_all("task_1"))[1]
    assert [each.sealed.label.version for each in ended.values] == [8, 7]


async def test_a_deleted_task_takes_the_former_values_with_it(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    for version in (1, 2):
        await doors.credentials.put(sealed(version))
    await doors.tasks.delete("task_1")
    assert tuple(map(len, await doors.credentials.read_all("task_1"))) == (0, 0)


async def test_former_values_are_sealed_anew_where_nothing_was_added_meanwhile(doors: Doors) -> None:
    await doors.tasks.create(TASK)
    for version in (1, 2):
        await doors.credentials.put(sealed(version))
    (before,) = (await doors.credentials.read_all("task_1"))[1]
    value = replace(before.values[0], sealed=replace(sealed(1), ciphertext=b"sealed anew", key_version=4))
    after = replace(before, values=(value,))
    assert await doors.credentials.reseal_former(before, after) is True
    assert await doors.credentials.reseal_former(before, after) is False
    assert (await everything(doors))[1] == [after]
    assert await doors.credentials.reseal_former(after, replace(after, values=())) is True
    assert (await everything(doors))[1] == []
