"""Servers of another owner, workspace or agent: no call, listing, consent or answer reaches them, and each is told as one that
is not there. A fault in the line that keeps them apart is found by these."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.remote_servers.server import RemoteServer, ServerAuth, fingerprint_tools
from ferryman.domain.stale import StaleError
from ferryman.inmemory.clock import START
from ferryman.inmemory.credentials import MCP_SERVERS
from ferryman.tools.mcp.connecting import ConsentRequest, NotConnectedError, ServerConnecting
from ferryman.tools.mcp.refreshing import refresh_server
from ferryman.vault.seal import build_credential_info
from tests.builders import build_label
from tests.campaigns.isolation.faults import InjectedFault, inject

from .rig import HOST, PUBLIC, SERVER, RemoteRig

REQUEST = ConsentRequest(redirect_uri="http://127.0.0.1:9/callback/mcp")
FINISH = {"digest": "d", "code": "c", "iss": None, "version": 1}
OTHERS = {"owner": {"owner": "victoria"}, "workspace": {"workspace": "theirs"}, "agent": {"agent": "another"}}
KEY = "v1ct_Lw9RqT5mXz2BnK8sPd4"
MEMORY, VERIFYING = "ferryman.inmemory.remote_servers", "ferryman.tools.mcp.verifying"


async def build_rig(change: dict[str, str], *, name: str = "desk", has_own: bool = False) -> tuple[RemoteRig, RemoteServer]:
    """Return a rig whose server is another's, accepted there, with a key of theirs; with one of the agent's beside it, or not.

    The execution's policy has the fingerprints of the other's tools: a policy that somebody invented.
    """
    rig = RemoteRig(tool=f"{name}__echo")
    await rig.begin()
    theirs = replace(rig.server, **change, id="mcp_theirs", name=name)
    if not has_own:
        del rig.memory.mcp_servers[SERVER.id]
    rig.memory.mcp_servers[theirs.id] = theirs
    rig.memory.mcp_descriptors[theirs.id] = rig.memory.mcp_descriptors[SERVER.id]
    label = build_label(name="DESK_KEY", owner=theirs.owner, service=theirs.id, task=theirs.id, hosts=(HOST,))
    ciphertext = PUBLIC.seal(KEY.encode(), build_credential_info(label))
    sealed = SealedCredential(label=label, ciphertext=ciphertext, key_version=1, created_at=START, updated_at=START)
    place = f"{MCP_SERVERS}/{theirs.id}"
    rig.memory.versions[place], rig.memory.credentials[place] = {"DESK_KEY": 1}, {"DESK_KEY": sealed}
    policy = rig.memory.executions["e"].policy
    assert policy is not None
    rig.memory.executions["e"] = replace(rig.memory.executions["e"], policy=replace(policy, remote=fingerprint_tools(theirs)))
    rig.peer.requests.clear()
    return rig, theirs


async def call(rig: RemoteRig) -> tuple[bool, str]:
    """Make the call; return whether anything was sent, and what its model is told."""
    result = (await rig.send()).result
    assert result is not None
    return bool(rig.peer.requests), result.content


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
async def test_a_call_finds_no_server_of_others_and_is_told_as_of_one_that_is_not_there(change: dict[str, str]) -> None:
    rig, _ = await build_rig(change)
    absent, theirs = await build_rig(change)
    del absent.memory.mcp_servers[theirs.id]
    assert await call(rig) == await call(absent)
    assert not rig.peer.requests


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
async def test_of_two_servers_of_one_name_a_call_goes_to_the_agents_own(change: dict[str, str]) -> None:
    rig, _ = await build_rig(change, has_own=True)
    rig.memory.executions["e"] = replace(
        rig.memory.executions["e"],
        policy=replace(rig.memory.executions["e"].policy, remote=fingerprint_tools(rig.server)),  # type: ignore[type-var] # it has one
    )
    _, text = await call(rig)
    assert "hello" in text
    assert all(headers["x-api-key"] != KEY for headers, _ in rig.peer.requests)


@pytest.mark.parametrize(
    ("fault", "change"),
    [
        ("server.owner, server.workspace, server.agent) == place", OTHERS["owner"]),
        ("server.owner, server.workspace, server.agent) == place", OTHERS["workspace"]),
        ("server.owner, server.workspace, server.agent) == place", OTHERS["agent"]),
    ],
    ids=OTHERS,
)
async def test_a_fault_that_finds_them_is_found(fault: str, change: dict[str, str]) -> None:
    injected = InjectedFault(
        title="servers of all are found",
        where=f"{MEMORY}:MemoryRemoteServers.list",
        sound=f"({fault}",
        faulty="True",
        relation="",
        kind="",
    )
    with inject(injected):
        rig, _ = await build_rig(change)
        was_sent, text = await call(rig)
    assert was_sent, text


async def test_a_continuation_of_another_server_is_not_gone_on_with() -> None:
    rig = RemoteRig(tool="desk__count_words", arguments={"text": "one two"})
    await rig.begin()
    await rig.send()
    assert rig.ticket.goes_on
    moved = replace(rig.server, id="mcp_other")
    del rig.memory.mcp_servers[SERVER.id]
    rig.memory.mcp_servers[moved.id] = moved
    rig.peer.requests.clear()
    result = (await rig.send()).result
    assert result is not None
    assert (result.ok, rig.peer.requests) == (False, [])


async def test_a_listing_for_another_owner_is_that_of_a_server_that_is_not_there() -> None:
    rig = RemoteRig()
    messages = []
    for name, owner in ((SERVER.id, "victoria"), ("mcp_nobodys", SERVER.owner)):
        with pytest.raises(StaleError) as raised:
            await refresh_server(rig.remote, name, owner=owner)
        messages.append(str(raised.value))
    assert (messages[0], rig.peer.requests, rig.server) == (messages[1], [], SERVER)


async def test_a_fault_that_lists_for_anybody_is_found() -> None:
    fault = InjectedFault(
        title="servers of all owners are listed",
        where="ferryman.tools.mcp.refreshing:refresh_server",
        sound="stored.owner != owner",
        faulty="False",
        relation="",
        kind="",
    )
    rig = RemoteRig()
    with inject(fault):
        await refresh_server(rig.remote, SERVER.id, owner="victoria")
    assert rig.peer.requests


@pytest.mark.parametrize("step", ["discover", "finish"])
async def test_a_consent_for_another_owner_is_that_of_a_server_that_is_not_there(step: str) -> None:
    rig, messages = RemoteRig(), list[str]()
    rig.memory.mcp_servers[SERVER.id] = replace(SERVER, auth=ServerAuth.OAUTH, headers={})
    connecting = ServerConnecting(deps=rig.tools, servers=rig.remote.servers, gate=rig.gate)
    for name, owner in ((SERVER.id, "victoria"), ("mcp_nobodys", SERVER.owner)):
        fields: dict[str, Any] = {"request": REQUEST} if step == "discover" else FINISH
        with pytest.raises(NotConnectedError) as raised:
            await getattr(connecting, step)(name, owner=owner, **fields)
        messages.append(str(raised.value))
    assert (messages[0], rig.peer.requests) == (messages[1], [])
