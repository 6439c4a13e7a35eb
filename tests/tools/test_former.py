"""Former values of credentials: scanned for in everything for a day, named by no call and sent nowhere."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from ferryman import catalog
from ferryman.domain.credentials.credential import Credential, Grant, GrantStatus, SealedCredential, Secret
from ferryman.domain.credentials.former import KNOWN, FormerValue, FormerValues, add_former
from ferryman.domain.credentials.grant import get_grant_status
from ferryman.domain.credentials.token import Token, TokenSlot
from ferryman.domain.http.request import InboundResponse
from ferryman.inmemory.clock import START
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import RecordingLog
from ferryman.ports.errors import UnavailableError
from ferryman.tools.execute_call import ToolDependencies, scan_output
from ferryman.tools.known_secrets import open_former
from ferryman.vault import seal
from ferryman.vault.vault import Vault
from tests.canaries.canary import create_key

from .harness import LABEL, ToolHarness

OLD, NEW = create_key("old value"), create_key("new value")
PRIVATE = seal.generate_private_key()
PUBLIC = seal.PublicKey(1, seal.derive_public_key(PRIVATE))
SECOND = timedelta(seconds=1)
OAUTH = catalog.load()["asana"].oauth
TOKENS = TokenSlot(owner="o", task="t", token=Token(fetch="f", ciphertext=b"c", expires_at=START))
GRANT = Grant(
    token_url="https://app.asana.com/-/oauth_token",
    client_id="me",
    refresh_token=Secret(create_key("old refresh token")),
    expires_at=START + SECOND,
)


def seal_value(value: str = OLD, *, version: int = 1, task: str = "t", grant: Grant | None = None) -> SealedCredential:
    label = replace(LABEL, version=version, task=task)
    credential = Credential(label=label, secret=Secret(value), grant=grant)
    plaintext = value.encode() if grant is None else seal.encode_grant(credential)
    info = seal.build_credential_info(label) if grant is None else seal.build_grant_info(label)
    status: GrantStatus | None = None if grant is None else get_grant_status(grant)
    ciphertext = PUBLIC.seal(plaintext, info)
    return SealedCredential(label=label, ciphertext=ciphertext, key_version=1, created_at=START, updated_at=START, grant=status)


def store(*ended: SealedCredential) -> FormerValues:
    return FormerValues(task="t", name="KEY", values=tuple(FormerValue(sealed=item, until=START + KNOWN) for item in ended))


async def open_values(
    former: FormerValues, *, at: datetime = START, keys: MemoryKeyStore | None = None, log: RecordingLog | None = None
):
    vault = Vault(keys or MemoryKeyStore({1: PRIVATE}))
    return await open_former(vault, [former], task="t", now=at, log=log or RecordingLog())


async def test_a_former_value_is_looked_for_under_its_name_and_sent_nowhere():
    (credential,) = (await open_values(store(seal_value()))).values()
    assert (credential.name, credential.secret.reveal(), credential.label.hosts, credential.label.auth_header_name) == (
        "KEY",
        OLD,
        (),
        None,
    )


async def test_all_that_was_sealed_with_a_former_token_is_looked_for():
    credentials = await open_values(store(seal_value(grant=GRANT)))
    assert [value.secret.reveal() for value in credentials.values()] == [OLD, GRANT.refresh_token.reveal()]
    assert [value.grant for value in credentials.values()] == [None, None]


async def test_a_former_value_is_looked_for_for_a_day():
    assert len(await open_values(store(seal_value()), at=START + KNOWN - SECOND)) == 1
    assert await open_values(store(seal_value()), at=START + KNOWN) == {}


async def test_a_former_value_of_another_task_is_not_opened():
    assert await open_values(store(seal_value(task="other"))) == {}


async def test_a_former_value_that_does_not_open_is_told_and_stops_nothing():
    log = RecordingLog()
    spoilt = replace(seal_value(version=2), ciphertext=seal_value().ciphertext)
    assert len(await open_values(store(spoilt, seal_value()), log=log)) == 1
    assert [event for event, *_ in log.lines] == ["credential.former_unreadable"]


async def test_where_the_key_is_not_to_be_had_nothing_goes_on_without_a_former_value():
    with pytest.raises(UnavailableError):
        await open_values(store(seal_value()), keys=MemoryKeyStore({1: PRIVATE}, away=True))


class Keyed(ToolHarness):
    """A tool function with a vault that opens what was sealed; `fetch` answers a token request."""

    async def open_credential(self, sealed: SealedCredential) -> Credential:
        return await Vault(MemoryKeyStore({1: PRIVATE})).open_credential(sealed)

    async def seal_grant(self, credential: Credential, *, version: int) -> bytes:
        return PUBLIC.seal(seal.encode_grant(credential), seal.build_grant_info(credential.label))

    async def fetch(self, outbound, call) -> InboundResponse:
        body = json.dumps({"access_token": NEW, "token_type": "Bearer", "expires_in": 3600}).encode()
        return InboundResponse(status=200, headers=(), body=body, size_bytes=len(body), cut=False)

    def deps(self) -> ToolDependencies:
        known = dict(catalog.load())
        known["coingecko"] = replace(known["coingecko"], oauth=OAUTH)
        return replace(super().deps(), integrations=known)


@pytest.fixture
def keyed() -> Keyed:
    harness = Keyed()
    harness.memory.credentials["t"] = {"KEY": seal_value(NEW, version=2)}
    harness.memory.versions["t"] = {"KEY": 2}
    harness.memory.former["t"] = {"KEY": add_former(None, seal_value(), now=START)}
    return harness


async def test_a_value_that_was_stored_over_is_among_what_a_call_is_scanned_for(keyed):
    await keyed.execute()
    ((_, credentials),) = keyed.sent
    assert {name: item.secret.reveal() for name, item in credentials.items()} == {"KEY.former.1.0": OLD, "KEY": NEW}


async def test_what_the_model_says_is_scanned_for_a_value_that_was_stored_over(keyed):
    assert await scan_output(keyed.deps(), execution="e", task="t", epoch=1, content=[]) == ["['KEY', 'KEY']"]


async def test_what_an_execution_says_before_it_is_opened_is_scanned_for_fetched_tokens(keyed):
    keyed.memory.executions["e"] = replace(keyed.memory.executions["e"], policy=None)
    keyed.memory.tokens["k"] = TOKENS
    assert await scan_output(keyed.deps(), execution="e", task="t", epoch=1, content=[]) == ["['KEY', 'KEY', 'token']"]


async def test_a_call_that_renews_a_token_is_scanned_for_the_old_one(keyed):
    keyed.memory.credentials["t"] = {"KEY": seal_value(grant=GRANT)}
    keyed.memory.versions["t"], keyed.memory.former["t"] = {"KEY": 1}, {}
    await keyed.execute()
    ((_, credentials),) = keyed.sent
    assert {value.secret.reveal() for value in credentials.values()} == {OLD, NEW, GRANT.refresh_token.reveal()}
    assert credentials["KEY"].secret.reveal() == NEW
