"""The cloud as a whole, asked through its admin as the command line asks it."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.api_core.exceptions import FailedPrecondition
from google.auth import jwt
from google.cloud import secretmanager
from google.cloud.secretmanager_v1.services.secret_manager_service.transports import SecretManagerServiceGrpcAsyncIOTransport

from emulator.channels import open_aio_channel
from emulator.clients import build_clients
from emulator.cloud import CloudPlan, EmulatedCloud
from emulator.internet.search import build_sites
from emulator.lock import InUseError


def bearer(cloud: EmulatedCloud) -> dict[str, str]:
    return {"Authorization": f"Bearer {cloud.token.value}"}


@pytest.fixture
async def admin(cloud: EmulatedCloud) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=cloud.admin, trust_env=False, timeout=60, headers=bearer(cloud)) as client:
        yield client


async def test_the_status_names_every_function_and_service(admin: httpx.AsyncClient) -> None:
    status = (await admin.get("/")).json()
    assert status["project"] == "a-project"
    assert {row["name"]: row["state"] for row in status["functions"]} == dict.fromkeys(["echo", "broken", "seen"], "stopped")
    assert set(status["ports"]["metadata"]) == {"echo", "broken", "seen"}
    assert status["env"]["FIRESTORE_EMULATOR_HOST"] == status["env"]["CLOUD_TASKS_EMULATOR_HOST"]


async def test_a_function_is_run_changed_killed_and_stopped(admin: httpx.AsyncClient) -> None:
    run = await admin.put("/functions/echo", json={"env": {"GIVEN": "1"}})
    assert run.status_code == 200
    env = (await admin.get(run.json()["url"])).json()["env"]
    assert (env["GIVEN"], env["FERRYMAN_FUNCTION"], env["GOOGLE_CLOUD_PROJECT"]) == ("1", "echo", "a-project")
    assert (await admin.post("/functions/echo/kill")).json()["state"] == "died"
    assert (await admin.delete("/functions/echo")).json()["state"] == "stopped"
    assert (await admin.delete("/functions/echo")).status_code == 404


async def test_a_function_is_restarted_as_it_was_but_for_what_is_changed(admin: httpx.AsyncClient) -> None:
    assert (await admin.patch("/functions/echo", json={"env": {}})).status_code == 404
    await admin.put("/functions/echo", json={"env": {"GIVEN": "1", "KEPT": "2"}})
    await admin.post("/functions/echo/kill")
    changed = await admin.patch("/functions/echo", json={"env": {"GIVEN": "3"}})
    env = (await admin.get(changed.json()["url"])).json()["env"]
    assert (env["GIVEN"], env["KEPT"]) == ("3", "2")


async def test_a_token_of_any_account_is_to_be_had(cloud: EmulatedCloud, admin: httpx.AsyncClient) -> None:
    query = {"email": "somebody@p.iam.gserviceaccount.com", "audience": "https://f.test"}
    token = (await admin.post("/tokens", json=query)).json()["token"]
    certs = (await admin.get("/certs")).json()
    claims = jwt.decode(token, certs=certs, audience="https://f.test")  # type: ignore[no-untyped-call]
    assert claims["email"] == query["email"]
    assert (await admin.post("/tokens", json={"email": "x"})).status_code == 400


async def test_a_function_calls_through_its_own_port(admin: httpx.AsyncClient) -> None:
    env = (await admin.get((await admin.put("/functions/echo", json={"env": {}})).json()["url"])).json()["env"]
    caller_port = f"127.0.0.1:{(await admin.get('/')).json()['ports']['callers']['echo']}"
    assert {env[f"{service}_EMULATOR_HOST"] for service in ("FIRESTORE", "SECRET_MANAGER", "CLOUD_TASKS")} == {caller_port}


async def test_a_function_that_breaks_is_a_5xx_with_its_log(admin: httpx.AsyncClient) -> None:
    answer = await admin.put("/functions/broken", json={"env": {}})
    assert answer.status_code == 500
    assert "no such luck" in answer.json()["error"]


async def test_each_function_has_an_identity_of_its_own(cloud: EmulatedCloud, admin: httpx.AsyncClient) -> None:
    metadata = (await admin.get("/")).json()["ports"]["metadata"]
    url = "http://127.0.0.1:{}/{}/computeMetadata/v1/instance/service-accounts/default/identity?audience=http://a"
    emails = []
    for name in ("echo", "seen"):
        path = cloud._metadata_token(name).value
        token = (await admin.get(url.format(metadata[name], path), headers={"metadata-flavor": "Google"})).text
        certs = (await admin.get(f"http://127.0.0.1:{metadata[name]}/{path}/certs")).json()
        emails.append(jwt.decode(token, certs=certs, audience="http://a")["email"])
    assert emails == ["an-echo@a-project.iam.gserviceaccount.com", "a-witness@a-project.iam.gserviceaccount.com"]


async def test_the_keys_are_the_same_wherever_they_are_asked_for(admin: httpx.AsyncClient) -> None:
    env = (await admin.get((await admin.put("/functions/echo", json={"env": {}})).json()["url"])).json()["env"]
    assert (await admin.get("/certs")).json() == (await admin.get(env["FERRYMAN_CERTS_URL"])).json()
    assert (await admin.get("/jwks")).json()["keys"][0]["alg"] == "RS256"


async def test_a_created_document_calls_its_function(cloud: EmulatedCloud, admin: httpx.AsyncClient, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    await admin.put("/functions/seen", json={"env": {"SEEN": str(seen)}})
    clients = build_clients(cloud.env)
    await clients.firestore_async.document("executions/one").set({"a": 1})
    async with asyncio.timeout(20):
        while not seen.exists():  # noqa: ASYNC110 - an event comes some time after its commit
            await asyncio.sleep(0.01)
    await cloud.triggers.idle()
    await clients.aclose()
    assert seen.read_text() == "google.cloud.firestore.document.v1.created executions/one\n"


async def test_what_is_stored_is_there_after_the_next_start(plan: CloudPlan) -> None:
    for n in range(2):
        async with (
            EmulatedCloud(plan) as cloud,
            open_aio_channel(cloud.env["SECRET_MANAGER_EMULATOR_HOST"], cloud.token.value) as channel,
        ):
            client = secretmanager.SecretManagerServiceAsyncClient(
                transport=SecretManagerServiceGrpcAsyncIOTransport(channel=channel)
            )
            if n == 0:
                await client.create_secret(
                    parent="projects/a-project", secret_id="s", secret={"replication": {"automatic": {}}}
                )
            assert (await client.get_secret(name="projects/a-project/secrets/s")).name.endswith("/secrets/s")


async def test_the_clock_is_turned_for_all_services(cloud: EmulatedCloud, admin: httpx.AsyncClient) -> None:
    before = cloud.clock.now()
    answer = await admin.post("/clock/advance", json={"seconds": 30 * 86400})
    assert datetime.fromisoformat(answer.json()["now"]) >= before + timedelta(days=30)
    async with open_aio_channel(cloud.env["SECRET_MANAGER_EMULATOR_HOST"], cloud.token.value) as channel:
        client = secretmanager.SecretManagerServiceAsyncClient(
            transport=SecretManagerServiceGrpcAsyncIOTransport(channel=channel)
        )
        automatic = {"replication": {"automatic": {}}}
        created = await client.create_secret(parent="projects/a-project", secret_id="s", secret=automatic)
        assert created.create_time >= before + timedelta(days=30)


async def test_a_query_whose_index_is_not_declared_is_refused_with_its_name(plan: CloudPlan, tmp_path: Path) -> None:
    declared = tmp_path / "indexes.json"
    declared.write_text('{"indexes": [], "fieldOverrides": []}')
    for indexes in (declared, None):
        async with EmulatedCloud(replace(plan, indexes=indexes)) as cloud:
            clients = build_clients(cloud.env)
            query = clients.firestore_async.collection("c").order_by("a").order_by("b")
            if indexes:
                with pytest.raises(FailedPrecondition, match=r'requires an index.*"fieldPath": ?"a"'):
                    await query.get()
            else:
                assert await query.get() == []
            await clients.aclose()


async def test_a_file_of_indexes_that_cannot_be_used_is_named(plan: CloudPlan, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"none\.json"):
        await EmulatedCloud(replace(plan, indexes=tmp_path / "none.json")).__aenter__()


async def test_two_clouds_do_not_share_a_folder(cloud: EmulatedCloud, plan: CloudPlan) -> None:
    with pytest.raises(InUseError, match="is in use by another local cloud"):
        await EmulatedCloud(plan).__aenter__()


async def test_addresses_are_the_same_after_the_next_start(plan: CloudPlan) -> None:
    known = []
    for _ in range(2):
        async with EmulatedCloud(plan) as cloud:
            known.append((cloud.admin, cloud.env, cloud.functions.url("echo"), cloud.internet.port))
    assert known[0] == known[1]


async def test_a_host_is_put_asked_and_removed(cloud: EmulatedCloud, admin: httpx.AsyncClient) -> None:
    answer = await admin.put("/hosts/api.example.com", json={"routes": [{"path": "/"}]})
    (address,) = answer.json()["addresses"]
    assert ip_address(address) in ip_network("25.0.0.0/24")
    assert answer.json()["dial"] == {address: cloud.internet.port}
    await admin.put("/hosts/own.example.com", json={"port": 4443})
    await admin.put("/hosts/odd.example.com", json={"routes": [], "addresses": ["10.0.0.1"], "dial": ["10.0.0.1"]})
    hosts = set((await admin.get("/hosts")).json()["hosts"]) - build_sites().keys()
    assert hosts == {"api.example.com", "own.example.com", "odd.example.com"}
    assert (await admin.delete("/hosts/api.example.com")).status_code == 200
    assert (await admin.delete("/hosts/api.example.com")).status_code == 404
    table = json.loads(cloud.internet.table.read_text())
    assert str(cloud.internet.table) == cloud.env["FERRYMAN_PRETEND_INTERNET"]
    sites = {table["names"][host][0]: cloud.internet.port for host in build_sites()}
    address = table["names"]["own.example.com"][0]
    assert table["dial"] == {**sites, address: 4443, "10.0.0.1": cloud.internet.port}
    assert (await admin.get("/requests", params={"host": "api.example.com"})).json() == {"requests": []}
    assert (await admin.delete("/requests")).status_code == 200


async def test_what_cloud_tasks_delivered_is_shown_and_forgotten(admin: httpx.AsyncClient) -> None:
    assert (await admin.get("/tasks/delivered")).json() == {"tasks": []}
    assert (await admin.delete("/tasks/delivered")).status_code == 200


async def test_a_script_is_put_reported_and_removed(cloud: EmulatedCloud, admin: httpx.AsyncClient) -> None:
    await admin.put("/scripts/rain", json={"steps": [{"text": "It rains."}]})
    ask = {"model": "scripted/rain", "max_tokens": 9, "messages": [{"role": "user", "content": "Well?"}]}
    headers = {"x-api-key": cloud.token.value, "anthropic-version": "2023-06-01"}
    await admin.post(f"{cloud.env['ANTHROPIC_BASE_URL']}/v1/messages", json=ask, headers=headers)
    assert (await admin.get("/scripts/rain")).json()["problems"] == []
    assert (await admin.get("/model/requests")).json()["requests"][0]["body"] == ask
    assert (await admin.get("/scripts")).json() == {"scripts": ["rain"]}
    assert (await admin.delete("/scripts/rain")).status_code == 200
    assert (await admin.get("/scripts/rain")).status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "says"),
    [
        ("PUT", "/functions/none", {"env": {}}, 404, "there is no function none"),
        ("PUT", "/functions/echo", {"env": {"A": 1}}, 400, "body.env.A must be a string"),
        ("PUT", "/functions/echo", {"env": {"A=B": ""}}, 400, "cannot be set in an environment"),
        ("PUT", "/functions/echo", {"env": {"PYTHONPATH": "/tmp"}}, 400, "body.env.PYTHONPATH may not be set"),
        ("PATCH", "/functions/echo", {"env": {"LD_PRELOAD": "/tmp/x.so"}}, 400, "body.env.LD_PRELOAD may not be set"),
        ("PUT", "/functions/echo", {"envs": {}}, 400, "unknown members: envs"),
        ("PUT", "/functions/echo", [], 400, "must be an object"),
        ("POST", "/functions/echo/kill", None, 404, "not running"),
        ("PUT", "/hosts/api.example.com", {}, 400, "either port, routes, oauth or mcp"),
        ("PUT", "/hosts/api.example.com", {"port": 0}, 400, "port must be"),
        ("PUT", "/hosts/127.0.0.1", {"port": 1}, 400, "not a host name"),
        ("PUT", "/hosts/a.example.com", {"port": 1, "addresses": ["x"]}, 400, "not an IP address"),
        ("PUT", "/scripts/a", {"steps": []}, 400, "must not be empty"),
        ("POST", "/clock/advance", {"seconds": -1}, 400, "only turns forward"),
        ("POST", "/clock/advance", {"seconds": 1e30}, 400, "cannot be turned"),
        ("POST", "/ca", {"path": "relative.pem"}, 400, "must be absolute"),
        ("POST", "/ca", {"path": "/nowhere.pem"}, 400, "cannot be read"),
    ],
)
async def test_bad_input_is_named(admin: httpx.AsyncClient, method: str, path: str, body: Any, status: int, says: str) -> None:
    answer = await admin.request(method, path, json=body)
    assert answer.status_code == status
    assert says in answer.json()["error"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"origin": "http://evil.example"}, 403), ({"origin": "null"}, 403), ({"host": "evil.example:80"}, 421)],
)
async def test_a_page_in_a_browser_may_not_ask(
    cloud: EmulatedCloud, admin: httpx.AsyncClient, headers: dict[str, str], status: int
) -> None:
    assert (await admin.post("/shutdown", headers=headers)).status_code == status
    assert not cloud.stopping.is_set()


async def test_a_shutdown_is_asked_for(cloud: EmulatedCloud, admin: httpx.AsyncClient) -> None:
    assert (await admin.post("/shutdown")).status_code == 202
    assert cloud.stopping.is_set()
