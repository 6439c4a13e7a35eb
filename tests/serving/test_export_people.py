"""What an archive says of people: members, changes, alerts and what is kept for users; nothing that lets anybody in."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import httpx
import pytest

from ferryman.domain.credits.alert import Alert
from ferryman.domain.delivery import AlertState
from ferryman.domain.owners.cap import CapKind
from ferryman.domain.records import document
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import START
from ferryman.ports.local_functions import derive_user_id
from ferryman.serving.api.shapes.alert import AlertResponse
from ferryman.serving.archived_people import SHAPES, read_people_line
from ferryman.serving.export_pages import USER_COLLECTIONS
from tests.canaries import canary
from tests.metering.events import build_event, draw_event

from .conftest import Stage
from .test_export import default, export, read
from .test_usage import use
from .values import TOKEN

HERE = derive_default_workspace("ann")
ALERT = Alert(
    id="alert_1",
    owner="ann",
    workspace=HERE,
    kind=CapKind.WORKSPACE,
    subject=HERE,
    limit=Decimal("10.5"),
    percent=80,
    credits_used=Decimal("8.4"),
    credits_reserved=Decimal(0),
    month="2026-01",
    execution="e",
    created_at=START,
    state=AlertState.FAILED,
    attempts=8,
    status=503,
    reason="its receiver answered 503",
    settled_at=START,
)


def keep(stage: Stage, user: str, content: dict[str, object], *, workspace: str = HERE, path: str = "user_memory/taste") -> str:
    """Store a document of a user and return the user's id."""
    name = derive_user_id(user, owner="ann", workspace=workspace)
    stage.memory.user_documents[name, path] = (content, "v1")
    stage.memory.user_workspaces[name] = workspace
    return name


async def test_members_are_in_it_with_name_role_and_rights(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.member(Role.ADMIN, approves=True)
    lines = read((await client.get(default())).content, "members")
    assert {line["name"]: (line["role"], line["rights"]) for line in lines} == {
        "Bea": ("operator", ["read", "run"]),
        "Person 1": ("admin", ["approve", "manage", "read", "run"]),
    }


async def test_changes_are_in_it_as_they_are_listed(client: httpx.AsyncClient, task: str) -> None:
    (line,) = read((await client.get(default())).content, "audit")
    (listed,) = (await client.get("/v1/audit-entries")).json()["entries"]
    renamed = {"entry_id": "id", "person_id": "person", "key_id": "key"}
    assert line == {renamed.get(name, name): value for name, value in listed.items()}
    assert task in line["targets"]


async def test_alerts_are_in_it_as_they_are_listed(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.memory.alerts.update({alert.id: alert for alert in (ALERT, replace(ALERT, id="alert_2", workspace=""))})
    (line,) = read((await client.get(default())).content, "alerts")
    listed = AlertResponse.model_validate(ALERT).model_dump(mode="json")
    renamed = {"alert_id": "id", "id": "subject", "refused": "is_refused", "execution_id": "execution"}
    assert line == {renamed.get(name, name): value for name, value in listed.items()}


async def test_what_is_kept_for_users_is_in_it_with_who_they_are(client: httpx.AsyncClient, stage: Stage) -> None:
    users = {name: keep(stage, name, {"preferences": [name]}) for name in ("ann", "person_ann", "person_gone")}
    keep(stage, "ann", {"preferences": ["elsewhere"]}, workspace="ws_ann")
    lines = read((await client.get(default())).content, "documents")
    assert {line["user"]: (line["person"], line["path"], line["content"]) for line in lines} == {
        users["ann"]: ("", "user_memory/taste", {"preferences": ["ann"]}),
        users["person_ann"]: ("person_ann", "user_memory/taste", {"preferences": ["person_ann"]}),
        users["person_gone"]: (None, "user_memory/taste", {"preferences": ["person_gone"]}),
    }


async def test_what_was_used_is_in_it_row_by_row(client: httpx.AsyncClient, stage: Stage) -> None:
    for number, days in enumerate((0, 1, 30, 399)):
        use(stage, build_event(number, at=START - timedelta(days=days)))
    use(stage, build_event(9, at=START), workspace="ws_ann")
    lines = read((await client.get(default())).content, "usage")
    assert len({(line["day"], line["kind"], line["name"]) for line in lines}) == len(lines) == 4 * 4
    (line,) = [line for line in lines if (line["day"], line["kind"]) == (START.date().isoformat(), "model")]
    assert line == {"day": line["day"], "kind": "model", "name": "scripted/a", **document.serialize(build_event().count_all())}


async def test_more_than_a_page_of_each_is_in_it(client: httpx.AsyncClient, stage: Stage) -> None:
    memory = stage.memory
    for number in range(401):
        keep(stage, f"person_{number}", {"n": number})
        entry = AuditEntry(id=f"audit_{number}", owner="ann", workspace=HERE, action="updateTask", created_at=START)
        memory.audit[entry.id] = entry
        memory.alerts[f"alert_{number}"] = replace(ALERT, id=f"alert_{number}")
    archive = (await client.get(default())).content
    assert [len({str(line) for line in read(archive, kind)}) for kind in ("documents", "audit", "alerts")] == [401, 401, 401]


DEEP: dict[str, object] = {}
for _ in range(120):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize(
    "content", [DEEP, {"a": "\ud800"}, {"\ud800": 1}, {"a": float("nan")}, {"a": 1e400}], ids=lambda value: str(value)[:20]
)
async def test_content_that_no_line_can_have_is_null(
    client: httpx.AsyncClient, stage: Stage, content: dict[str, object]
) -> None:
    keep(stage, "ann", content)
    assert [line["content"] for line in read((await client.get(default())).content, "documents")] == [None]


async def test_what_was_written_is_read_without_a_fault(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    stage.memory.alerts[ALERT.id] = ALERT
    keep(stage, "ann", {"preferences": ["tea"]})
    use(stage, *(replace(draw_event(random.Random(number), number), at=START) for number in range(9)))
    archive = (await client.get(default())).content
    for kind in SHAPES:
        assert [read_people_line("here", kind, line) for line in read(archive, kind)]


async def test_nothing_that_lets_anybody_in_is_in_it(client: httpx.AsyncClient, stage: Stage) -> None:
    secret = canary.create_key("export, where alerts are sent", 24)
    stage.memory.alerts[ALERT.id] = ALERT
    stage.member(Role.ADMIN)
    stage.memory.workspaces["ws_ann"] = replace(
        stage.memory.workspaces["ws_ann"], alert_url=f"https://hooks.example.com/{secret}"
    )
    created = await client.post("/v1/keys", json={"name": "mine"})
    invited = await client.post("/v1/invitations", json={"name": "Dora", "role": "viewer"})
    secrets = [created.json()["key"], invited.json()["token"], TOKEN, *stage.keys.values(), secret]
    digests = [*stage.memory.keys, *stage.memory.invitations]
    for archive in (await export(stage, "ann"), (await client.get("/v1/workspaces/ws_ann/export")).content):
        unpacked = gzip.decompress(archive)
        assert [text for text in (*secrets, *digests) if text.encode() in unpacked or text.encode() in archive] == []
        assert [name for name in (b"Dora", b"Cleo") if name in unpacked] == []


def test_each_collection_that_a_tool_keeps_for_users_is_exported(stage: Stage) -> None:
    collections = {name for tool in stage.deps().tools if tool.kind == "concierge" for name in tool.policy.changes}
    assert set(USER_COLLECTIONS) == collections
