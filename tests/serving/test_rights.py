"""Rights: each route names what it needs, each role and each scope gets that alone, and archives are only read."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from ferryman.domain.owners.owner import Owner
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Right, Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState
from ferryman.inmemory.clock import START
from ferryman.serving.api.rights import Caller, RouteNeed, find_needs
from tests.builders import build_task

from .conftest import TASK, Stage
from .routes import ROUTES, Ask

HERE = derive_default_workspace("ann")
OPEN = ("/", "/healthz", "/v1/join")
"""What needs no API key."""

CLOSED = [ask for ask in ROUTES if ask.path not in OPEN]
LEAVING = ("DELETE", "/v1/members/{person_id}")
"""Anybody may leave; to remove somebody else needs the right to manage."""


def list_routes(app: FastAPI) -> dict[tuple[str, str], APIRoute]:
    """Return every route by method and path, as they are described, however deep they are included."""
    app.state.groups.load_all()
    routes_by_place: dict[tuple[str, str], APIRoute] = {}

    def walk(routes: Any, prefix: str) -> None:
        for route in routes:
            if isinstance(route, APIRoute):
                path = re.sub(r":[a-z]+}", "}", prefix + route.path)
                routes_by_place.update({(method, path): route for method in route.methods or ()})
            elif hasattr(route, "original_router"):
                walk(route.original_router.routes, prefix + route.include_context.prefix)

    walk(app.routes, "")
    return routes_by_place


@pytest.fixture
def needs(app: FastAPI) -> dict[tuple[str, str], set[RouteNeed]]:
    return {place: set(find_needs(route.dependant)) for place, route in list_routes(app).items()}


def test_every_route_of_the_description_names_what_it_needs(app: FastAPI, needs: dict[tuple[str, str], set[RouteNeed]]) -> None:
    described = {(method.upper(), path) for path, methods in app.openapi()["paths"].items() for method in methods}
    assert described == needs.keys()
    assert {path for (_, path), need in needs.items() if not need} == {*OPEN}


def test_what_changes_something_needs_more_than_reading(needs: dict[tuple[str, str], set[RouteNeed]]) -> None:
    assert {
        place for place, need in needs.items() if need <= {RouteNeed.READ} and place[0] != "GET" and place[1] not in OPEN
    } == set()


def test_what_reads_needs_the_right_to_read_and_nothing_else(needs: dict[tuple[str, str], set[RouteNeed]]) -> None:
    gets = {path: need for (method, path), need in needs.items() if method == "GET" and path not in OPEN}
    more = {path for path, need in gets.items() if not need <= {RouteNeed.READ, RouteNeed.KEY}}
    assert more == {"/v1/workspaces/{workspace_id}/export"}


async def ask(client: httpx.AsyncClient, route: Ask, headers: dict[str, str]) -> httpx.Response:
    return await client.request(route.method, route.url("task_none", "exec_none"), json=route.body, headers=headers)


ALLOWED = {
    Role.VIEWER: {RouteNeed.READ, RouteNeed.KEY},
    Role.OPERATOR: {RouteNeed.READ, RouteNeed.KEY, RouteNeed.RUN},
    Role.ADMIN: {RouteNeed.READ, RouteNeed.KEY, RouteNeed.RUN, RouteNeed.MANAGE},
}


@pytest.mark.parametrize("role", Role)
async def test_a_role_may_do_what_it_should_and_nothing_else(
    client: httpx.AsyncClient, stage: Stage, needs: dict[tuple[str, str], set[RouteNeed]], role: Role
) -> None:
    headers = stage.member(role)
    for route in (route for route in CLOSED if (route.method, route.path) != LEAVING):
        answer = await ask(client, route, headers)
        missing = needs[route.method, route.path] - ALLOWED[role]
        assert (answer.status_code == 403) == bool(missing), (route, answer.text)
        if missing and RouteNeed.OWNER not in missing:
            assert any(f"needs the right {right}" in answer.json()["detail"] for right in missing), (route, answer.text)
            who = "your membership" if missing == {RouteNeed.APPROVE} else f"your role {role}"
            assert who in answer.json()["detail"], (route, answer.text)


async def test_a_key_without_scopes_is_told_of_every_route_which_right_it_lacks(
    client: httpx.AsyncClient, stage: Stage, needs: dict[tuple[str, str], set[RouteNeed]]
) -> None:
    headers = stage.member(Role.ADMIN, scopes=())
    anybody = {RouteNeed.KEY, RouteNeed.OWNER}
    for route in (route for route in CLOSED if not needs[route.method, route.path] & anybody):
        answer = await ask(client, route, headers)
        rights = needs[route.method, route.path]
        assert answer.status_code == 403, (route, answer.text)
        assert answer.json()["detail"] in {
            f"this needs the right {right}, which is not among the scopes of this API key" for right in rights
        }


async def test_a_scope_that_is_missing_is_named_as_such(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.ADMIN, scopes=[Right.READ])
    answer = await client.post("/v1/tasks", json=TASK, headers=headers)
    assert answer.json()["detail"] == "this needs the right manage, which is not among the scopes of this API key"


async def test_a_role_that_lacks_a_right_is_named_as_such(client: httpx.AsyncClient, stage: Stage) -> None:
    answer = await client.post("/v1/tasks", json=TASK, headers=stage.member(Role.VIEWER))
    assert answer.json()["detail"] == "this needs the right manage, which your role viewer in this workspace does not have"


@pytest.mark.parametrize(
    ("owner", "workspace", "is_seen"), [("ann", HERE, True), ("ann", "ws_ann", False), ("bob", HERE, False)]
)
def test_a_request_sees_what_is_its_owners_in_its_workspace(owner: str, workspace: str, is_seen: bool) -> None:
    key = ApiKey(owner="ann", created_at=START)
    about = {"owner": Owner(id="ann", plan="pro", created_at=START), "workspace": HERE, "key": key, "digest": "d"}
    caller = Caller(**about, rights=frozenset(Right))
    assert caller.sees(build_task(owner=owner, workspace=workspace)) is is_seen


async def test_the_right_is_checked_before_a_retry_is_answered(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.ADMIN) | {"Idempotency-Key": '"once"'}
    assert (await client.post("/v1/tasks", json=TASK, headers=headers)).status_code == 201
    place, membership = list(stage.memory.memberships.items())[-1]
    stage.memory.memberships[place] = replace(membership, role=Role.VIEWER)
    assert (await client.post("/v1/tasks", json=TASK, headers=headers)).status_code == 403


async def test_a_person_acts_in_the_workspace_of_the_key_alone(client: httpx.AsyncClient, stage: Stage) -> None:
    for name in ("ws_theirs", "ws_other"):
        stage.memory.workspaces[name] = Workspace(id=name, owner="ann", name=name, created_at=START, updated_at=START)
    headers = stage.member(Role.ADMIN, workspace="ws_theirs")
    assert (await client.get("/v1/tasks", headers=headers | {"Ferryman-Workspace": "ws_theirs"})).status_code == 200
    others = [
        await client.get("/v1/tasks", headers=headers | {"Ferryman-Workspace": name})
        for name in ("ws_other", HERE, "ws_none", "%")
    ]
    assert {answer.status_code for answer in others} == {404}
    assert len({answer.content for answer in others}) == 1


async def test_a_header_that_can_be_no_id_is_answered_as_no_workspace_and_asked_of_no_store(
    client: httpx.AsyncClient, app: FastAPI, stage: Stage
) -> None:
    missing = await client.get("/v1/tasks", headers={"Ferryman-Workspace": "ws_none"})
    places: list[str] = []
    read = app.state.deps.keys.read_access

    async def note(key: object, workspace: str) -> object:
        places.append(workspace)
        return await read(key, workspace)

    app.state.deps.keys.read_access = note
    for headers in (stage.owner("ann"), stage.member(Role.ADMIN)):
        for text in ("../ws_ann", "a/b", "ws_ann,ws_ann", "%", "*", "x" * 65, "."):
            answer = await client.get("/v1/tasks", headers=headers | {"Ferryman-Workspace": text})
            assert (answer.status_code, answer.content) == (404, missing.content), text
    assert {*places} == {HERE}


async def test_an_owner_acts_in_workspaces_that_are_the_owners(client: httpx.AsyncClient, stage: Stage) -> None:
    for name, owner, state in (
        ("ws_own", "ann", WorkspaceState.ACTIVE),
        ("ws_bobs", "bob", WorkspaceState.ACTIVE),
        ("ws_gone", "ann", WorkspaceState.DELETING),
    ):
        stage.memory.workspaces[name] = Workspace(
            id=name, owner=owner, name=name, state=state, created_at=START, updated_at=START
        )
    assert (await client.get("/v1/tasks", headers={"Ferryman-Workspace": "ws_own"})).status_code == 200
    others = [await client.get("/v1/tasks", headers={"Ferryman-Workspace": name}) for name in ("ws_bobs", "ws_gone", "ws_none")]
    assert {(answer.status_code, answer.content) for answer in others} == {(404, others[0].content)}


@pytest.mark.parametrize("name", ["a/b", ".", "..", "__a__", "é", "a b", "a" * 65, "\t?["])
async def test_a_text_that_is_no_id_names_no_workspace(client: httpx.AsyncClient, stage: Stage, name: str) -> None:
    # one that is stored under such a name would be found, were it looked up: a store refuses some of them as a document's path
    stage.memory.workspaces[name] = Workspace(id=name, owner="ann", name="own", created_at=START, updated_at=START)
    unknown = await client.get("/v1/tasks", headers={"Ferryman-Workspace": "ws_none"})
    answer = await client.get("/v1/tasks", headers={"Ferryman-Workspace": name.encode("latin-1")})
    assert (answer.status_code, answer.content) == (404, unknown.content)


async def test_what_is_in_another_workspace_is_answered_as_what_does_not_exist(
    client: httpx.AsyncClient, stage: Stage, task: str
) -> None:
    stage.memory.workspaces["ws_own"] = Workspace(id="ws_own", owner="ann", name="own", created_at=START, updated_at=START)
    there = {"Ferryman-Workspace": "ws_own"}
    theirs = await client.get(f"/v1/tasks/{task}", headers=there)
    none = await client.get("/v1/tasks/task_none", headers=there)
    assert (theirs.status_code, theirs.content, theirs.headers) == (404, none.content, none.headers)


@pytest.mark.parametrize("path", ["/v1/tasks", "/v1/tasks/task_none/executions"])
async def test_in_an_archived_workspace_things_are_read_and_nothing_is_changed_or_started(
    client: httpx.AsyncClient, stage: Stage, path: str
) -> None:
    stage.memory.workspaces["ws_old"] = Workspace(
        id="ws_old", owner="ann", name="old", state=WorkspaceState.ARCHIVED, created_at=START, updated_at=START
    )
    headers = {"Ferryman-Workspace": "ws_old"}
    assert (await client.get("/v1/tasks", headers=headers)).status_code == 200
    answer = await client.post(path, json=TASK, headers=headers)
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "the workspace is archived: nothing in it is started or changed until it is restored",
    )


@pytest.mark.parametrize("how", ["revoked", "expired", "left"])
async def test_a_key_that_is_over_is_no_key(client: httpx.AsyncClient, stage: Stage, how: str) -> None:
    headers = stage.member(Role.ADMIN)
    digest, key = list(stage.memory.keys.items())[-1]
    assert (await client.get("/v1/me", headers=headers)).status_code == 200
    if how == "revoked":
        del stage.memory.keys[digest]
    if how == "expired":
        stage.memory.keys[digest] = replace(key, expires_at=stage.clock.now())
    if how == "left":
        stage.memory.memberships.clear()
    answer = await client.get("/v1/me", headers=headers)
    never = await client.get("/v1/me", headers={"Authorization": "Bearer fm_" + "A" * 43})
    assert (answer.status_code, answer.content, answer.headers) == (401, never.content, never.headers)
