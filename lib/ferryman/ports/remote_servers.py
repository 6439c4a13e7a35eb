"""The port of the MCP servers of agents, with the descriptors of their tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.remote_servers.server import SERVERS_PER_AGENT_MAX, RemoteServer


class RemoteServers(Protocol):
    """The MCP servers of agents.

    `list` and `find` know those of an agent in its place, `list` in the order of their names; `get` knows all, so that its
    caller compares owner, workspace and agent. `create` raises `LimitReachedError` where the agent has `most` already,
    `InvalidInputError` where one of them has that name or looks like it, `AgentGoneError` and `WorkspaceGoneError` where its
    place is going, and `AnsweredError` where the request was answered. `update` stores the `fields` of `server`, and
    `put_listing` its pins with the texts of all descriptors that they name, by digest; both return the server as it is stored
    then, of a generation that was never used before, and raise `StaleError` where it is not of the generation `since`, or was
    deleted. `delete` leaves nothing, no credential either, and returns whether there was a server. `list_versions` returns the
    versions that the credentials of each server of an agent must have, by its id, and `descriptors` those texts that are
    there, of the `digests`.
    """

    async def list(self, agent: str, *, owner: str, workspace: str) -> Sequence[RemoteServer]: ...
    async def get(self, server: str) -> RemoteServer | None: ...
    async def find(self, agent: str, name: str, *, owner: str, workspace: str) -> RemoteServer | None: ...
    async def create(
        self, server: RemoteServer, *, most: int = SERVERS_PER_AGENT_MAX, done: Completion | None = None
    ) -> None: ...
    async def update(self, server: RemoteServer, fields: Collection[str], *, since: int) -> RemoteServer: ...
    async def put_listing(self, server: RemoteServer, descriptors: Mapping[str, str], *, since: int) -> RemoteServer: ...
    async def delete(self, server: str) -> bool: ...
    async def list_versions(self, agent: str, *, owner: str, workspace: str) -> Mapping[str, Mapping[str, int]]: ...
    async def descriptors(self, server: str, digests: Collection[str]) -> Mapping[str, str]: ...


class ServerLister(Protocol):
    """Has a key holder list the tools of an MCP server of `owner`, and store what it lists, or why it could not.

    Raises `UnavailableError`.
    """

    async def list_tools(self, server: str, *, owner: str) -> None: ...
