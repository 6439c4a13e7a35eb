"""The key store and the sealed inventory on Google's clients, against the local cloud."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import grpc.aio
import pytest

from emulator.clock import EmulatorClock
from emulator.secrets import SecretManagerEmulator
from ferryman.domain.calls.call import TicketState
from ferryman.domain.credentials.keys import FETCHED, SealedCredentialRef
from ferryman.domain.credentials.token import Token, TokenSlot
from ferryman.domain.executions.execution import Status
from ferryman.gcp import documents
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.execution_documents import write_execution
from ferryman.gcp.key_store import SecretManagerKeyStore
from ferryman.gcp.keys import SecretManagerKeys
from ferryman.gcp.places import Places
from ferryman.gcp.sealed_inventory import FirestoreSealedInventory
from ferryman.ports.errors import UnavailableError
from ferryman.settings import Settings
from ferryman.vault import seal
from tests.builders import build_execution, build_ticket
from tests.contracts.conftest import on_google_cloud
from tests.contracts.values import NOW, TASK, build_sealed

SECRET = Settings().sealing_key_secret


@pytest.fixture
async def clients() -> AsyncIterator[GoogleClients]:
    service, server = SecretManagerEmulator(path=None, clock=EmulatorClock()), grpc.aio.server()
    server.add_generic_rpc_handlers((service.handler(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    opened = GoogleClients(Settings(project="p", secret_manager_host=address))
    secret: dict[str, Any] = {"replication": {"automatic": {}}}
    await opened.secrets().create_secret(request={"parent": "projects/p", "secret_id": SECRET, "secret": secret})
    yield opened
    await opened.close()
    await server.stop(None)
    await service.close()


async def test_the_key_store_lists_every_version_that_was_not_destroyed(clients):
    key_store = SecretManagerKeyStore(clients, "p", SECRET)
    assert [await key_store.add(private) for private in (b"one", b"two", b"three")] == [1, 2, 3]
    await key_store.disable(1)
    await clients.secrets().destroy_secret_version(request={"name": f"projects/p/secrets/{SECRET}/versions/2"})
    versions = {version.number: version.enabled for version in await key_store.list_versions()}
    assert versions == {1: False, 3: True}
    await key_store.enable(1)
    assert await key_store.private(1) == b"one"


async def test_a_disabled_version_is_waited_for_and_a_destroyed_one_is_none(clients):
    key_store = SecretManagerKeyStore(clients, "p", SECRET)
    await key_store.add(b"one")
    await key_store.add(b"two")
    await key_store.disable(1)
    await clients.secrets().destroy_secret_version(request={"name": f"projects/p/secrets/{SECRET}/versions/2"})
    keys = SecretManagerKeys(clients, Settings(project="p"))
    with pytest.raises(UnavailableError, match="disabled"):
        await keys.private(1)
    for number in (2, 9):
        with pytest.raises(KeyError):
            await keys.private(number)


async def test_the_sealed_inventory_has_every_credential_and_every_call_that_is_not_settled():
    public = seal.PublicKey(7, seal.derive_public_key(seal.generate_private_key()))
    async with on_google_cloud() as stores:
        client = stores.executions._clients.firestore()
        sealed_inventory = FirestoreSealedInventory(stores.executions._clients, seal.read_key_version)
        await stores.tasks.create(TASK)
        for version in (1, 2):
            await stores.credentials.put(replace(build_sealed(version), key_version=version))
        await client.document("tasks/task_1/credentials/DAMAGED").set({"label": {"name": "DAMAGED"}})
        for name, status in (("e1", Status.RUNNING), ("e2", Status.QUEUED), ("e3", Status.COMPLETED)):
            execution = build_execution(id=name, task="task_1", owner="ann", status=status, created_at=NOW, started_at=NOW)
            await Places(client).locate_execution(name).set(write_execution(execution))
            ticket = build_ticket(arguments=public.seal(b"{}", seal.build_call_info(name, 0)), created_at=NOW)
            for seq, state in enumerate(TicketState):
                await Places(client).locate_call(name, seq).set(documents.write(replace(ticket, seq=seq, state=state)))
        # what the credential is, and what it was
        assert list(await sealed_inventory.list_credentials()) == [
            SealedCredentialRef(task="task_1", name="A", version=version) for version in (2, 1)
        ]
        sealed_tokens = [
            Token(fetch="f", ciphertext=number.to_bytes(4, "big") + b"\x00" * 40, expires_at=NOW) for number in (2, 1)
        ]
        slot = TokenSlot(owner="ann", task="task_1", token=sealed_tokens[0], former=(sealed_tokens[1],))
        await Places(client).locate_token("a" * 64).set(documents.write(slot))
        await Places(client).locate_token("b" * 64).set(documents.write(TokenSlot(owner="ann")))
        assert list(await sealed_inventory.list_tokens()) == [SealedCredentialRef(task="task_1", name=FETCHED, version=1)]
        assert await sealed_inventory.count_calls() == {7: 6}  # two executions under way, three calls each that are not settled
        assert await sealed_inventory.count_begun_before(NOW + timedelta(seconds=1)) == 2
        assert await sealed_inventory.count_begun_before(NOW) == 0
