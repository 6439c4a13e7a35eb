"""Rug pull protection at the moment of a call: the tool is the one that a person accepted, and the server still lists it so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.remote_servers.names import split_name
from ferryman.domain.remote_servers.pin import PinState, ToolPin
from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.domain.stale import StaleError
from ferryman.ports.errors import NotSentError, UnavailableError
from ferryman.ports.gate import CallPolicy
from ferryman.ports.tickets import ClaimedCall
from ferryman.tools.mcp.contacting import (
    RemoteCallDependencies,
    ServerContact,
    UnauthorizedServerError,
    UnreachableServerError,
    list_with,
)
from ferryman.tools.mcp.listing import store_listing
from ferryman.tools.mcp.protocol.client import McpClient

FRESH = timedelta(seconds=60)
"""For how long a listing is taken for the server's present one."""

FORGET_ATTEMPTS_MAX = 3
"""How often it is tried to have a listing forgotten while others write the server: who writes it now has just listed it."""

AGAIN = "A person has to look at it: ferryman mcp show"


async def find_server(deps: RemoteCallDependencies, claimed_call: ClaimedCall) -> tuple[RemoteServer, ToolPin]:
    """Return the server of a claimed call and the pin of its tool, by the name of the tool alone.

    Raise `CallRefusedError` unless a person has accepted the tool, and it is the one that the execution began with.
    """
    name, policy, context = claimed_call.ticket.tool, claimed_call.policy, claimed_call.context
    server = await deps.servers.find(context.agent, split_name(name)[0], owner=policy.owner, workspace=context.workspace)
    if server is None:
        raise CallRefusedError(
            refusal.refuse_changed_tool(name) if name in policy.remote else refusal.refuse_unknown_tool(name)
        )
    return server, check_pin(server, name, policy)


def check_pin(server: RemoteServer, name: str, policy: ExecutionPolicy) -> ToolPin:
    """Return the pin of the tool `name`. Raise `CallRefusedError` unless it is accepted, and as the execution began with it."""
    pin = server.find_pin(name)
    if pin is None:
        raise CallRefusedError(refusal.refuse_unknown_tool(name))
    if not server.enabled:
        raise CallRefusedError(refusal.refuse_disabled_tool(name, f"the MCP server {server.name} is switched off"))
    if pin.state is not PinState.ACCEPTED:
        raise CallRefusedError(_refuse_state(server, name, pin))
    if policy.remote.get(name) != server.fingerprint_of(pin):
        raise CallRefusedError(refusal.refuse_changed_tool(name))
    return pin


async def verify_listing(deps: RemoteCallDependencies, contact: ServerContact, call: CallPolicy, *, name: str) -> RemoteServer:
    """Return the server once its listing is at most `FRESH` old, and has the tool `name` as it was accepted.

    Where it was listed longer ago it is listed again, once for all calls of this process that wait for that; a difference is
    stored and disables the tool. Raise `CallRefusedError` then, and where the server cannot be listed: nothing is called.
    """
    server, now = contact.server, deps.tools.clock.now()
    if server.verified_at is None or now - server.verified_at > FRESH:
        server = await deps.listings.share(server.id, lambda: _list_again(deps, contact, call))
    check_pin(server, name, call.execution)
    return server


@asynccontextmanager
async def forgetting_listing(deps: RemoteCallDependencies, server: RemoteServer, client: McpClient) -> AsyncIterator[None]:
    """Have the next call list the server's tools, whatever the age of the listing, where the server says meanwhile to `client`
    that they have changed. Nothing is listed here: a server has one listing made by each call at most."""
    try:
        yield
    finally:
        if client.has_other_tools:
            await _forget_listing(deps, server)


async def _forget_listing(deps: RemoteCallDependencies, server: RemoteServer) -> None:
    for _ in range(FORGET_ATTEMPTS_MAX):
        try:
            current = await deps.servers.get(server.id)
            if current is not None and current.verified_at is not None:
                await deps.servers.update(replace(current, verified_at=None), ["verified_at"], since=current.generation)
        except StaleError:
            continue
        except UnavailableError as error:
            deps.tools.tracer.line("listing.not_forgotten", server=server.id, error=type(error).__name__, severity="WARNING")
        return


async def _list_again(deps: RemoteCallDependencies, contact: ServerContact, call: CallPolicy) -> RemoteServer:
    server = contact.server
    try:
        listing = await list_with(deps, contact, call)
        return await store_listing(deps.servers, server, listing, now=deps.tools.clock.now())
    except UnauthorizedServerError:
        raise CallRefusedError(refusal.refuse_unconnected_server(server.name)) from None
    except (UnreachableServerError, InvalidInputError) as error:
        raise CallRefusedError(refuse_unreachable(server.name, str(error))) from None
    except StaleError as stale:
        raise NotSentError(str(stale)) from None


def refuse_unreachable(server: str, why: str) -> Refusal:
    """Refuse a call whose server could not be listed: nothing was called. `why` is our own text."""
    message = f"Error: not called -- the MCP server {server} could not be asked what its tools are now: {why}"
    return Refusal(reason="server_unreachable", message=message)


def _refuse_state(server: RemoteServer, name: str, pin: ToolPin) -> Refusal:
    why = {
        PinState.CHANGED: "its server describes it otherwise than people accepted it",
        PinState.MISSING: "its server does not list it any longer",
        PinState.NEW: "nobody has accepted it",
        PinState.DISABLED: "a person has disabled it",
        PinState.REFUSED: "its description cannot be accepted",
    }[pin.state]
    return refusal.refuse_disabled_tool(name, f"{why}. {AGAIN} {server.name}")
