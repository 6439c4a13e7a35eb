"""The Firestore of a cloud: ours, Google's emulator, or one that runs already."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from google.api_core.exceptions import InvalidArgument
from google.cloud.firestore import AsyncClient
from google.cloud.secretmanager import SecretManagerServiceAsyncClient
from google.cloud.secretmanager_v1.services.secret_manager_service.transports import SecretManagerServiceGrpcAsyncIOTransport

from emulator.channels import open_aio_channel
from emulator.cloud import CloudPlan, EmulatedCloud
from emulator.firestore import official
from emulator.reading import InvalidRequestError


@asynccontextmanager
async def connected(host: str) -> AsyncIterator[AsyncClient]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FIRESTORE_EMULATOR_HOST", host)
        client = AsyncClient(project="a-project")
        transport = client._firestore_api.transport
    yield client
    await transport.close()


async def answers(host: str) -> bool:
    """Say whether Google's emulator is installed."""
    try:
        async with httpx.AsyncClient(trust_env=False) as client:
            return (await client.get(f"http://{host}/")).text.strip() == "Ok"
    except httpx.TransportError:
        return False


async def exists(host: str, path: str) -> bool:
    async with connected(host) as client:
        return bool((await client.document(path).get()).exists)


@pytest.mark.official
async def test_googles_emulator_serves_documents_and_fires_triggers_beside_our_other_services(
    plan: CloudPlan, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    async with EmulatedCloud(replace(plan, firestore="official")) as cloud:
        host, ours = cloud.env["FIRESTORE_EMULATOR_HOST"], cloud.env["SECRET_MANAGER_EMULATOR_HOST"]
        assert host != ours
        assert await answers(host)
        await cloud.run("seen", {"SEEN": str(seen)})
        async with connected(host) as client:
            await client.document("executions/one").set({"a": 1})
        async with asyncio.timeout(20):
            while not seen.exists():  # noqa: ASYNC110 - the emulator does not say when it sends an event
                await asyncio.sleep(0.01)
        await cloud.triggers.idle()
        assert seen.read_text() == "google.cloud.firestore.document.v1.created executions/one\n"
        async with open_aio_channel(ours, cloud.token.value) as channel:
            client = SecretManagerServiceAsyncClient(transport=SecretManagerServiceGrpcAsyncIOTransport(channel=channel))
            automatic = {"replication": {"automatic": {}}}
            assert await client.create_secret(parent="projects/a-project", secret_id="s", secret=automatic)
    assert not await answers(host)


async def test_a_firestore_that_runs_already_is_used_and_is_not_told_to_who_may_not_use_it(
    plan: CloudPlan, tmp_path: Path
) -> None:
    async with EmulatedCloud(replace(plan, open=True)) as other:
        host = other.env["FIRESTORE_EMULATOR_HOST"]
        mine = replace(plan, folder=tmp_path / "mine", firestore="external", firestore_host=host)
        async with EmulatedCloud(mine) as cloud:
            assert cloud.env["FIRESTORE_EMULATOR_HOST"] == host
            url = str((await cloud.run("echo", {}))["url"])
            async with httpx.AsyncClient(trust_env=False) as client:
                env = (await client.get(url)).json()["env"]
            assert env["FIRESTORE_EMULATOR_HOST"] == env["SECRET_MANAGER_EMULATOR_HOST"] != host
        async with connected(host) as client:
            await client.document("tasks/x").set({})
        assert await exists(host, "tasks/x")


async def test_documents_go_by_themselves_once_their_time_has_passed(plan: CloudPlan, tmp_path: Path) -> None:
    file = tmp_path / "indexes.json"
    file.write_text('{"fieldOverrides": [{"collectionGroup": "c", "fieldPath": "at", "ttl": true, "indexes": []}]}')
    async with (
        EmulatedCloud(replace(plan, indexes=file, open=True)) as cloud,
        connected(cloud.env["FIRESTORE_EMULATOR_HOST"]) as client,
    ):
        document = client.document("c/one")
        await document.set({"at": cloud.clock.now() + timedelta(days=90)})
        cloud.clock.advance(timedelta(days=91))
        async with asyncio.timeout(20):
            while (await document.get()).exists:  # noqa: ASYNC110 - the local cloud does not say when it has looked
                await asyncio.sleep(0.01)


async def test_an_external_firestore_must_be_named(plan: CloudPlan) -> None:
    with pytest.raises(InvalidRequestError, match="FIRESTORE_EMULATOR_HOST must say where"):
        await EmulatedCloud(replace(plan, firestore="external")).__aenter__()


async def test_it_is_said_when_googles_emulator_is_not_there(
    plan: CloudPlan, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(official, "SDK", tmp_path)
    with pytest.raises(InvalidRequestError, match="not installed here"):
        await EmulatedCloud(replace(plan, firestore="official")).__aenter__()


@pytest.mark.parametrize("limits", [True, False])
async def test_a_document_over_a_megabyte_is_refused_unless_the_limits_are_off(plan: CloudPlan, limits: bool) -> None:
    async with (
        EmulatedCloud(replace(plan, limits=limits, open=True)) as cloud,
        connected(cloud.env["FIRESTORE_EMULATOR_HOST"]) as client,
    ):
        document = client.document("large/one")
        if limits:
            with pytest.raises(InvalidArgument):
                await document.set({"text": "x" * 1_100_000})
        else:
            await document.set({"text": "x" * 1_100_000})
        assert (await document.get()).exists is not limits
