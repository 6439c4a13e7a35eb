"""API keys: one never has more than the one it was made with, is shown once, and lets nobody in once it was revoked."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import httpx
import pytest
from fastapi import FastAPI

from ferryman.domain.workspaces.api_key import USE_NOTED_EVERY
from ferryman.domain.workspaces.member import Right, Role
from ferryman.serving import keys

from .conftest import Stage
from .test_event_stream import open_stream
from .test_executions import started


async def create(client: httpx.AsyncClient, headers: dict[str, str] | None = None, **body: object) -> httpx.Response:
    return await client.post("/v1/keys", json={"name": "laptop", **body}, headers=headers)


def use(answer: httpx.Response) -> dict[str, str]:
    return {"Authorization": f"Bearer {answer.json()['key']}"}


async def test_a_key_is_made_with_the_rights_of_the_one_that_asks(client: httpx.AsyncClient, stage: Stage) -> None:
    answer = await create(client, stage.member(Role.OPERATOR))
    assert (answer.status_code, answer.json()["scopes"], answer.headers["cache-control"]) == (201, ["read", "run"], "no-store")
    assert (await client.get("/v1/tasks", headers=use(answer))).status_code == 200


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("scope", Right)
async def test_no_key_is_made_with_more_than_the_role_gives(
    client: httpx.AsyncClient, stage: Stage, role: Role, scope: Right
) -> None:
    headers = stage.member(role)
    rights = (await client.get("/v1/me", headers=headers)).json()["rights"]
    assert (await create(client, headers, scopes=[scope])).status_code == (201 if scope in rights else 403)


async def test_no_key_is_made_with_more_than_the_key_that_asks_has(client: httpx.AsyncClient, stage: Stage) -> None:
    narrow = await create(client, stage.member(Role.ADMIN), scopes=["read"])
    assert (await create(client, use(narrow), scopes=["read", "run"])).status_code == 403
    assert (await create(client, use(narrow))).json()["scopes"] == ["read"]


async def test_no_key_outlives_the_one_that_it_was_made_with(client: httpx.AsyncClient, stage: Stage) -> None:
    short = await create(client, stage.member(), expires_in_days=1)
    for days in (None, 30):
        longer = await create(client, use(short), **({} if days is None else {"expires_in_days": days}))
        assert longer.json()["expires_at"] == short.json()["expires_at"]
    stage.clock.turn(timedelta(days=1).total_seconds())
    assert (await client.get("/v1/me", headers=use(short))).status_code == 401


@pytest.mark.parametrize(
    "body",
    [{"scopes": []}, {"scopes": ["root"]}, {"expires_in_days": 0}, {"expires_in_days": 4000}, {"name": ""}],
)
async def test_a_key_that_makes_no_sense_is_refused(client: httpx.AsyncClient, stage: Stage, body: dict[str, object]) -> None:
    before = dict(stage.memory.keys)
    answer = await create(client, **body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"].partition(".")[0] == next(iter(body))
    assert stage.memory.keys.keys() == before.keys()


async def test_a_key_of_the_owners_for_one_workspace_is_not_the_owners_own(client: httpx.AsyncClient) -> None:
    limited = use(await create(client))
    assert (await client.get("/v1/tasks", headers=limited)).status_code == 200
    assert (await client.put("/v1/halt", headers=limited)).status_code == 403
    assert (await client.post("/v1/workspaces", json={"name": "x"}, headers=limited)).status_code == 403
    assert (await client.get("/v1/tasks", headers=limited | {"Ferryman-Workspace": "ws_ann"})).status_code == 404
    assert (await client.get("/v1/workspaces/ws_ann", headers=limited)).status_code == 404


async def test_a_key_is_shown_once_and_kept_as_its_digest_alone(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member() | {"Idempotency-Key": '"once"'}
    first, again = [await create(client, headers) for _ in range(2)]
    assert again.json() == {**first.json(), "key": None}
    assert first.json()["key"] not in (await client.get("/v1/keys?everybody=true")).text
    assert first.json()["key"] not in repr(stage.memory) + repr(stage.log.lines)
    assert keys.digest_key(first.json()["key"]) in stage.memory.keys


async def test_everybody_lists_their_own_keys_and_a_manager_those_of_all(client: httpx.AsyncClient, stage: Stage) -> None:
    headers, admin = stage.member(Role.OPERATOR), stage.member(Role.ADMIN)
    listed = (await client.get("/v1/keys", headers=headers)).json()["keys"]
    assert [key["person_id"] for key in listed] == [(await client.get("/v1/me", headers=headers)).json()["person_id"]]
    assert (await client.get("/v1/keys?everybody=true", headers=headers)).status_code == 403
    assert len((await client.get("/v1/keys?everybody=true", headers=admin)).json()["keys"]) == 3


async def test_a_revoked_key_is_refused_from_the_next_request_on(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.OPERATOR)
    second = await create(client, headers)
    assert (await client.delete(f"/v1/keys/{second.json()['key_id']}", headers=headers)).status_code == 204
    assert (await client.get("/v1/me", headers=use(second))).status_code == 401
    assert (await client.get("/v1/me", headers=headers)).status_code == 200


async def test_a_key_revokes_itself_but_one_that_was_made_for_less_no_other(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.OPERATOR)
    whole = (await client.get("/v1/me", headers=headers)).json()["key_id"]
    narrow = await create(client, headers, scopes=["read"])
    assert (await client.delete(f"/v1/keys/{whole}", headers=use(narrow))).status_code == 403
    assert (await client.delete(f"/v1/keys/{narrow.json()['key_id']}", headers=use(narrow))).status_code == 204


async def test_a_key_of_somebody_else_is_answered_as_none(client: httpx.AsyncClient, stage: Stage) -> None:
    mine, theirs = stage.member(Role.OPERATOR), stage.member(Role.OPERATOR)
    name = (await client.get("/v1/me", headers=theirs)).json()["key_id"]
    refused, none = [await client.delete(f"/v1/keys/{which}", headers=mine) for which in (name, "key_none")]
    assert (refused.status_code, refused.content, refused.headers) == (404, none.content, none.headers)
    assert (await client.delete(f"/v1/keys/{name}", headers=stage.member(Role.ADMIN))).status_code == 204


async def test_the_last_use_is_noted_once_a_minute(client: httpx.AsyncClient, stage: Stage, app: FastAPI) -> None:
    headers = stage.member()
    digest = list(stage.memory.keys)[-1]
    uses = []
    for seconds in (0, 30, 30, 0):
        stage.clock.turn(seconds)
        await client.get("/v1/me", headers=headers)
        await asyncio.gather(*app.state.deps.noting)
        uses.append(stage.memory.keys[digest].last_used_at)
    assert uses[0] == uses[1]
    assert uses[2] == uses[3] == uses[0] + USE_NOTED_EVERY


@pytest.mark.parametrize("how", ["revoked", "expired", "left", "demoted"])
async def test_an_open_stream_ends_when_its_client_may_not_read_any_longer(
    client: httpx.AsyncClient, app: FastAPI, stage: Stage, task: str, how: str
) -> None:
    execution = await started(client, task)
    stage.keys["guest"] = stage.member(Role.VIEWER)["Authorization"].removeprefix("Bearer ")
    digest, place = list(stage.memory.keys)[-1], list(stage.memory.memberships)[-1]
    browser, watching = await open_stream(app, stage, execution, "guest")
    if how == "revoked":
        del stage.memory.keys[digest]
    if how == "left":
        del stage.memory.memberships[place]
    if how == "expired":
        key = stage.memory.keys[digest]
        stage.memory.keys[digest] = type(key)(
            **{name: getattr(key, name) for name in key.__slots__} | {"expires_at": stage.clock.now() + timedelta(seconds=1)}
        )
    if how == "demoted":
        key = stage.memory.keys[digest]
        stage.memory.keys[digest] = type(key)(**{name: getattr(key, name) for name in key.__slots__} | {"scopes": (Right.RUN,)})
    assert not watching.done()
    stage.clock.turn(1)
    await watching
    assert (browser.status, b"finished" in browser.body) == (200, False)


async def test_an_open_stream_stays_open_while_its_client_may_read(
    client: httpx.AsyncClient, app: FastAPI, stage: Stage, task: str
) -> None:
    stage.keys["guest"] = stage.member(Role.VIEWER)["Authorization"].removeprefix("Bearer ")
    checks = []
    check = app.state.deps.keys.check

    async def count(*arguments: object) -> object:
        checks.append(arguments)
        return await check(*arguments)

    app.state.deps.keys.check = count
    browser, watching = await open_stream(app, stage, await started(client, task), "guest")
    for number in range(1, 4):
        stage.clock.turn(0.5)
        while len(checks) < number:  # noqa: ASYNC110 - the stream reads at its own pace
            await asyncio.sleep(0)
    assert not watching.done()
    browser.leaves.set()
    await watching


async def test_all_open_streams_of_a_key_share_a_check_and_those_of_another_have_theirs(
    client: httpx.AsyncClient, app: FastAPI, stage: Stage, task: str
) -> None:
    for name in ("guest", "other"):
        stage.keys[name] = stage.member(Role.VIEWER)["Authorization"].removeprefix("Bearer ")
    digests = [*stage.memory.keys][-2:]
    checks: list[str] = []
    check = app.state.deps.keys.check

    async def count(digest: str, *arguments: object) -> object:
        checks.append(digest)
        return await check(digest, *arguments)

    app.state.deps.keys.check = count
    executions = [await started(client, task) for _ in range(2)]
    watched = [await open_stream(app, stage, name, who) for who in ("guest", "other", "guest") for name in executions]
    for number in range(1, 4):
        stage.clock.turn(0.5)
        while len(checks) < 2 * number:  # noqa: ASYNC110 - the streams read at their own pace
            await asyncio.sleep(0)
    assert sorted(checks) == sorted([*digests] * 3)
    del stage.memory.keys[digests[0]]
    stage.clock.turn(0.5)
    for (_, watching), who in zip(watched, "gg oo gg".replace(" ", ""), strict=True):
        if who == "g":
            await watching
    assert [watching.done() for _, watching in watched] == [True, True, False, False, True, True]
    for browser, watching in watched:
        browser.leaves.set()
        await watching
