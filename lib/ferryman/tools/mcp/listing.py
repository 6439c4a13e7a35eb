"""Storing what an MCP server lists: judged in a worker process, compared with the pins, and stored where anything changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ferryman import offload
from ferryman.catalog.tools import LISTED
from ferryman.domain.problem import build_input_error
from ferryman.domain.remote_servers.lookalikes import Neighbours
from ferryman.domain.remote_servers.offered import name_model_text
from ferryman.domain.remote_servers.pins import compare_pins
from ferryman.domain.remote_servers.server import (
    DETAIL_CHARACTERS_MAX,
    INSTRUCTIONS_CHARACTERS_MAX,
    RemoteServer,
    ServerInfo,
    ServerState,
)
from ferryman.domain.stale import StaleError
from ferryman.framing.frame import remove_invisible
from ferryman.ports.remote_servers import RemoteServers
from ferryman.tools.mcp.judging import Descriptor, JudgedListing, Refusal, judge_listing

ATTEMPTS_MAX = 4
INFO_CHARACTERS_MAX = 200
TICK = timedelta(microseconds=1)

offload.preload(judge_listing)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerListing:
    """What a server has answered: its tools, those that its client could not use, and what it calls itself."""

    tools: Sequence[Descriptor] = field(repr=False)
    refused: Sequence[Refusal] = ()
    info: ServerInfo | None = None
    instructions: str = field(default="", repr=False)
    revision: str | None = None


async def store_listing(servers: RemoteServers, server: RemoteServer, listing: ServerListing, *, now: datetime) -> RemoteServer:
    """Return the server with its pins as the listing leaves them, stored; where nothing changed, only when it was verified.

    Raise `InvalidInputError` for a listing that is over its bounds, and `StaleError` where the server was deleted, or is
    changed by others all the time.
    """
    for _ in range(ATTEMPTS_MAX):
        judged = await _judge(servers, server, listing)
        pins = compare_pins(server.name, server.pins, judged.listing)
        listed = replace(
            server,
            pins=pins,
            info=_cut_info(listing.info),
            instructions=remove_invisible(listing.instructions)[:INSTRUCTIONS_CHARACTERS_MAX],
            revision=listing.revision,
            state=ServerState.LISTED,
            detail="",
            listed_at=now,
            verified_at=now,
            updated_at=max(now, server.updated_at + TICK),
        )
        try:
            return await _store(servers, server, listed, judged)
        except StaleError:
            stored = await servers.get(server.id)
            if stored is None or stored.url != server.url:
                raise
            server = stored
    raise StaleError("the MCP server is changed by others all the time")


async def note_failure(
    servers: RemoteServers, server: RemoteServer, state: ServerState, detail: str, *, now: datetime
) -> RemoteServer:
    """Return the server with what its listing failed with, stored; as it is where somebody changes it meanwhile."""
    detail = detail[:DETAIL_CHARACTERS_MAX]
    failed = replace(server, state=state, detail=detail, updated_at=max(now, server.updated_at + TICK))
    try:
        return await servers.update(failed, ["state", "detail"], since=server.generation)
    except StaleError:
        return server


async def _judge(servers: RemoteServers, server: RemoteServer, listing: ServerListing) -> JudgedListing:
    others = await servers.list(server.agent, owner=server.owner, workspace=server.workspace)
    neighbours = Neighbours(
        server=server.name,
        others={other.name: tuple(pin.tool for pin in other.pins) for other in others if other.id != server.id},
        built_in=tuple(LISTED),
        accepted=tuple(pin.tool for pin in server.pins if pin.digest is not None),
    )
    try:
        return await offload.run(
            server.owner, offload.DOCUMENT, judge_listing, [*listing.tools], [*listing.refused], neighbours
        )
    except offload.OverBudgetError as error:
        raise build_input_error("tools", f"the tools of the server cannot be read: {error}") from None


async def _store(servers: RemoteServers, server: RemoteServer, listed: RemoteServer, judged: JudgedListing) -> RemoteServer:
    if server.listed_at is not None and _is_same(server, listed):
        return await servers.update(listed, ["verified_at"], since=server.generation)
    named = {digest for pin in listed.pins for digest in (pin.digest, pin.pending) if digest is not None}
    texts = {name: text for name, text in judged.texts.items() if name.partition(".")[0] in named}
    missing = [name for digest in named - set(texts) for name in (digest, name_model_text(digest))]
    texts |= await servers.descriptors(server.id, missing)
    return await servers.put_listing(listed, texts, since=server.generation)


def _is_same(server: RemoteServer, listed: RemoteServer) -> bool:
    fields = ("pins", "info", "instructions", "revision", "state", "detail")
    return all(getattr(server, name) == getattr(listed, name) for name in fields)


def _cut_info(info: ServerInfo | None) -> ServerInfo | None:
    if info is None:
        return None
    name, title, version = (remove_invisible(text)[:INFO_CHARACTERS_MAX] for text in (info.name, info.title, info.version))
    return ServerInfo(name=name, title=title, version=version)
