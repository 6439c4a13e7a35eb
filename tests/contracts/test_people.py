"""People: keys let in whom they should, and who leaves loses everything at once."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.page import Position
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.access import judge_key
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.domain.workspaces.member import EVERY_RIGHT, Right, Role
from ferryman.domain.workspaces.person import LastAdminError

from .conftest import Stores
from .people import HERE, OTHER, invite, is_in, join
from .values import LATER, NOW, OWNER


async def test_a_workspace_has_only_so_many_invitations_members_and_people(stores: Stores) -> None:
    await join(stores, "eve")
    await stores.invitations.create("one", invite("One"), now=NOW)
    with pytest.raises(LimitReachedError):
        await stores.invitations.create("two", invite("Two"), now=NOW, most=1)
    for limits in ({"members": 1}, {"people": 1}):
        with pytest.raises(LimitReachedError):
            await stores.invitations.take("one", person="p", is_new=True, key="k", key_digest="d", now=NOW, **limits)
    assert await stores.members.find_person("p", owner="ann") is None


async def test_who_leaves_has_no_key_no_invitation_and_no_name_any_more(stores: Stores) -> None:
    await stores.owners.put(OWNER)
    await join(stores, "boss", role=Role.ADMIN)
    await join(stores, "eve", role=Role.ADMIN)
    await stores.invitations.create("back door", invite("Friend", by="eve"), now=NOW)
    await stores.keys.create("second", ApiKey(id="k2", owner="ann", person="eve", workspace=HERE, created_at=NOW))
    assert await is_in(stores, "eve")
    assert await stores.members.remove("eve", owner="ann", workspace=HERE) is True
    assert await stores.members.remove("eve", owner="ann", workspace=HERE) is False
    assert not await is_in(stores, "eve")
    assert await stores.keys.find("second") is None
    assert await stores.members.find_person("eve", owner="ann") is None
    assert await stores.invitations.list("ann", HERE, now=NOW) == []
    assert await is_in(stores, "boss")


async def test_the_job_of_a_leaving_is_stored_with_it_or_not_at_all(stores: Stores) -> None:
    await join(stores, "boss", role=Role.ADMIN)
    await join(stores, "eve")
    for person in ("boss", "eve", "nobody"):
        kind = JobKind.END_EXECUTIONS
        job = Job(id=f"job_{person}", owner="ann", workspace=HERE, kind=kind, subject=person, created_at=NOW)
        with suppress(LastAdminError):
            await stores.members.remove(person, owner="ann", workspace=HERE, job=job)
    stored = [await stores.jobs.get(f"job_{person}") for person in ("boss", "eve", "nobody")]
    assert [None if job is None else job.subject for job in stored] == [None, "eve", None]


async def test_who_leaves_one_workspace_stays_in_another(stores: Stores) -> None:
    await stores.workspaces.create(OTHER)
    await join(stores, "eve")
    await join(stores, "eve", workspace=OTHER.id, new=False)
    await stores.members.remove("eve", owner="ann", workspace=HERE)
    assert await stores.members.find_person("eve", owner="ann") is not None
    assert [key.workspace for key in await stores.keys.list("ann", OTHER.id)] == [OTHER.id]


async def test_the_last_admin_stays_unless_it_is_forced(stores: Stores) -> None:
    boss = await join(stores, "boss", role=Role.ADMIN)
    await join(stores, "eve")
    with pytest.raises(LastAdminError):
        await stores.members.remove("boss", owner="ann", workspace=HERE)
    with pytest.raises(LastAdminError):
        await stores.members.update(replace(boss, role=Role.VIEWER), ["role"])
    assert await stores.members.update(replace(boss, role=Role.VIEWER), ["role"], forced=True)
    assert await stores.members.remove("boss", owner="ann", workspace=HERE)


async def test_of_two_last_admins_who_leave_at_once_one_stays(stores: Stores) -> None:
    for name in ("one", "two"):
        await join(stores, name, role=Role.ADMIN)
    leaving = (stores.members.remove(name, owner="ann", workspace=HERE) for name in ("one", "two"))
    came = await asyncio.gather(*leaving, return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in came) == ["LastAdminError", "bool"]
    assert len(await stores.members.list("ann", HERE)) == 1


async def test_of_two_last_admins_who_demote_each_other_at_once_one_stays_admin(stores: Stores) -> None:
    admins = [await join(stores, name, role=Role.ADMIN) for name in ("one", "two")]
    demoting = (stores.members.update(replace(admin, role=Role.VIEWER), ["role"]) for admin in admins)
    came = await asyncio.gather(*demoting, return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in came) == ["LastAdminError", "bool"]
    assert sorted(membership.role for membership, _ in await stores.members.list("ann", HERE)) == [Role.ADMIN, Role.VIEWER]


async def test_of_two_last_admins_of_whom_one_leaves_while_the_other_steps_down_one_stays_admin(stores: Stores) -> None:
    admins = [await join(stores, name, role=Role.ADMIN) for name in ("one", "two")]
    leaving = stores.members.remove("one", owner="ann", workspace=HERE)
    stepping = stores.members.update(replace(admins[1], role=Role.VIEWER), ["role"])
    came = await asyncio.gather(leaving, stepping, return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in came) == ["LastAdminError", "bool"]
    assert [membership.role for membership, _ in await stores.members.list("ann", HERE)].count(Role.ADMIN) == 1


async def test_a_membership_changes_in_the_fields_that_are_named(stores: Stores) -> None:
    before = await join(stores, "eve")
    changed = replace(before, role=Role.VIEWER, approves=True)
    assert await stores.members.update(changed, ["approves"])
    assert await stores.members.get("eve", owner="ann", workspace=HERE) == replace(before, approves=True)
    assert await stores.members.get("eve", owner="bob", workspace=HERE) is None
    assert await stores.members.update(replace(before, person="nobody"), ["approves"]) is False


async def test_keys_are_listed_and_revoked_by_whom_they_belong_to(stores: Stores) -> None:
    await join(stores, "eve")
    await join(stores, "bea")
    assert [key.person for key in await stores.keys.list("ann", HERE, person="eve")] == ["eve"]
    assert [key.person for key in await stores.keys.list("ann", HERE)] == ["bea", "eve"]
    assert await stores.keys.list("bob", HERE) == []
    name = f"key_token of bea {HERE}"
    assert await stores.keys.revoke(name, owner="ann", workspace=HERE, person="eve") is False
    assert await stores.keys.revoke(name, owner="ann", workspace="ws_other") is False
    assert await stores.keys.revoke(name, owner="ann", workspace=HERE) is True
    assert not await is_in(stores, "bea")


async def test_a_person_has_only_so_many_keys_and_none_after_leaving(stores: Stores) -> None:
    await join(stores, "eve")
    key = ApiKey(id="k2", owner="ann", person="eve", workspace=HERE, scopes=(Right.READ,), created_at=LATER)
    with pytest.raises(LimitReachedError):
        await stores.keys.create("second", key, most=1)
    await stores.keys.create("second", key)
    assert await stores.keys.find("second") == key
    await stores.members.remove("eve", owner="ann", workspace=HERE)
    with pytest.raises(StaleError):
        await stores.keys.create("third", key)


async def test_the_last_use_of_a_key_is_kept_and_brings_no_revoked_one_back(stores: Stores) -> None:
    await stores.owners.add_key("root", "ann", NOW)
    await stores.keys.note_use("root", LATER)
    await stores.keys.note_use("revoked", LATER)
    known = await stores.keys.find("root")
    assert known is not None
    assert known.last_used_at == LATER
    assert await stores.keys.find("revoked") is None


async def test_a_check_reads_the_key_again_with_all_it_rests_on(stores: Stores) -> None:
    await stores.owners.put(OWNER)
    await stores.workspaces.create(OTHER)
    await join(stores, "eve", workspace=OTHER.id)
    digest = f"digest token of eve {OTHER.id}"
    key = await stores.keys.find(digest)
    assert key is not None
    again, access = await stores.keys.check(digest, key, OTHER.id)
    assert (again, access) == (key, await stores.keys.read_access(key, OTHER.id))
    assert access.workspace == OTHER
    await stores.keys.revoke(key.id, owner="ann", workspace=OTHER.id)
    assert (await stores.keys.check(digest, key, OTHER.id))[0] is None


async def test_the_owners_own_key_needs_no_membership(stores: Stores) -> None:
    await stores.owners.put(OWNER)
    await stores.owners.add_key("root", "ann", NOW)
    key = await stores.keys.find("root")
    assert key is not None
    access = await stores.keys.read_access(key, HERE)
    assert access.finds_workspace(key)
    assert judge_key(key, access, now=NOW) == EVERY_RIGHT
    assert not (await stores.keys.read_access(key, "ws_none")).finds_workspace(key)


async def test_audit_entries_come_newest_first_page_by_page(stores: Stores) -> None:
    entries = [
        AuditEntry(
            id=f"audit_{number}", owner="ann", workspace=HERE, action="createTask", created_at=NOW + timedelta(seconds=number)
        )
        for number in range(3)
    ]
    for entry in (*entries, replace(entries[0], id="other", workspace="ws_other")):
        await stores.audit.add(entry)
    await stores.audit.end(replace(entries[2], done=True, targets=("task_1",)))
    await stores.audit.forget(entries[0])
    page = await stores.audit.list("ann", HERE, most=1)
    assert (page.items, page.end) == (
        (replace(entries[2], done=True, targets=("task_1",)),),
        Position(entries[2].created_at, "audit_2"),
    )
    rest = await stores.audit.list("ann", HERE, after=page.end, most=1)
    assert (rest.items, rest.end) == ((entries[1],), None)
    assert (await stores.audit.list("bob", HERE, most=1)).items == ()


async def test_a_digest_is_that_of_one_key_which_is_kept_with_its_tools_and_its_identity(stores: Stores) -> None:
    await join(stores, "eve")
    link = ApiKey(
        **{"id": "link", "owner": "ann", "person": "eve", "workspace": HERE, "created_at": NOW},
        **{"issuer": "https://login.example.test", "subject": "248289761001", "tools": ("category:search", "calculator")},
    )
    await stores.keys.create("identity", link)
    await stores.keys.create("identity", link)
    with pytest.raises(StaleError):
        await stores.keys.create("identity", replace(link, id="other", subject="another"))
    assert await stores.keys.find("identity") == link
