"""Caller ports: a gRPC port for the operator and one for each function, each of which accepts the token of its caller alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import grpc

from emulator.access import PortToken
from emulator.firestore import SERVER_OPTIONS
from emulator.permissions import FIRESTORE, PermissionCheck, TokenCheck, read_grants
from emulator.plan import CloudPlan
from emulator.ports import Ports
from emulator.table import FunctionRow
from emulator.web import LOOPBACK

GRACE_S = 1.0
OPTIONS = (*SERVER_OPTIONS, ("grpc.so_reuseport", 0))


class CallerPorts:
    """The same services on several ports; `port` is the operator's, who may do everything, `ports` the functions'."""

    def __init__(self, plan: CloudPlan, rows: Mapping[str, FunctionRow], ports: Ports, token: PortToken) -> None:
        """Raise OSError when the operator's port is taken."""
        self._plan = plan
        self._rows = rows
        self._reserved_ports = ports
        self._token = token
        self._servers: list[grpc.aio.Server] = []
        self.port = ports.hold("grpc", plan.port)
        self.ports = {name: ports.hold(f"grpc/{name}") for name in rows}

    def address(self, name: str) -> str:
        """Return the address that a function calls."""
        return f"{LOOPBACK}:{self.ports[name]}"

    def token(self, name: str) -> PortToken:
        """Return the token that a function sends to its port."""
        return self._token.derive(f"grpc/{name}")

    async def start(self, handlers: Iterable[grpc.GenericRpcHandler]) -> None:
        """Return when all ports answer."""
        handlers = tuple(handlers)
        open_to_all = frozenset({FIRESTORE} if self._plan.open else ())
        await self._serve("grpc", self.port, TokenCheck(handlers, self._token, without=open_to_all))
        for name, port in self.ports.items():
            permitted = (
                (PermissionCheck(handlers, read_grants(self._rows[name], self._plan.project)),)
                if self._plan.permissions
                else handlers
            )
            await self._serve(f"grpc/{name}", port, TokenCheck(permitted, self.token(name)))

    async def close(self) -> None:
        """End the calls that are open after a second."""
        for server in self._servers:
            await server.stop(GRACE_S)

    async def _serve(self, purpose: str, port: int, handler: grpc.GenericRpcHandler) -> None:
        self._reserved_ports.release(purpose)
        server = grpc.aio.server(options=OPTIONS)
        server.add_generic_rpc_handlers((handler,))
        server.add_insecure_port(f"{LOOPBACK}:{port}")
        self._servers.append(server)
        await server.start()
        self._reserved_ports.secure(purpose)
