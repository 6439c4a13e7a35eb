"""The credentials of an agent's MCP servers, for secret scanning in all calls and texts of an execution that may call them.

A server may echo in a result what it was sent. From there a model could write it into another tool's arguments, or into its
answer: there each value is found like a task's own. No call can name one, and no other tool sends one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.ports.remote_servers import RemoteServers
from ferryman.tools.known_secrets import make_scan_only

OpenServer = Callable[[str, Mapping[str, int]], Awaitable[Mapping[str, Credential]]]
"""Opens the credentials of the server of this id, which must have these versions."""


def may_hold_server_secrets(policy: ExecutionPolicy | None) -> bool:
    """Tell whether an execution may know of values of MCP servers; before it is set up, that is not known yet."""
    return policy is None or bool(policy.remote)


async def open_server_secrets(
    servers: RemoteServers, open_server: OpenServer, *, owner: str, workspace: str, agent: str
) -> dict[str, Credential]:
    """Return the present and former values of the MCP servers of `agent`, each as one that is scanned for alone.

    Raise `CallRefusedError` for one that does not open, and `UnavailableError`: what is not compared does not count as clean.
    """
    known: dict[str, Credential] = {}
    versions = await servers.list_versions(agent, owner=owner, workspace=workspace)
    for server, of_server in sorted(versions.items()):
        for credential in (await open_server(server, of_server)).values() if of_server else ():
            known |= {f"{server}.{name}": secret for name, secret in make_scan_only(credential).items()}
    return known
