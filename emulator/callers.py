"""Callers: a gRPC port for the operator and one for each function; the port is who calls, for no client says it here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import grpc

from emulator.firestore import SERVER_OPTIONS
from emulator.permissions import Guarded, granted
from emulator.plan import Plan
from emulator.ports import Ports
from emulator.table import Row
from emulator.web import LOOPBACK

GRACE_S = 1.0
OPTIONS = (*SERVER_OPTIONS, ("grpc.so_reuseport", 0))


class Callers:
    """The same services on several ports; `port` is the operator's, who may do everything, `ports` the functions'."""

    def __init__(self, plan: Plan, rows: Mapping[str, Row], ports: Ports) -> None:
        """Raises OSError when the operator's port is taken."""
        self._plan = plan
        self._rows = rows
        self._held = ports
        self._servers: list[grpc.aio.Server] = []
        self.port = ports.hold("grpc", plan.port)
        self.ports = {name: ports.hold(f"grpc/{name}") for name in rows}

    def address(self, name: str) -> str:
        """Where a function calls."""
        return f"{LOOPBACK}:{self.ports[name]}"

    async def start(self, handlers: Iterable[grpc.GenericRpcHandler]) -> None:
        """Return when all ports answer."""
        handlers = tuple(handlers)
        await self._serve("grpc", self.port, handlers)
        for name, port in self.ports.items():
            own = (Guarded(handlers, granted(self._rows[name], self._plan.project)),) if self._plan.permissions else handlers
            await self._serve(f"grpc/{name}", port, own)

    async def close(self) -> None:
        """End the calls that are open after a second."""
        for server in self._servers:
            await server.stop(GRACE_S)

    async def _serve(self, purpose: str, port: int, handlers: tuple[grpc.GenericRpcHandler, ...]) -> None:
        self._held.release(purpose)
        server = grpc.aio.server(options=OPTIONS)
        server.add_generic_rpc_handlers(handlers)
        server.add_insecure_port(f"{LOOPBACK}:{port}")
        self._servers.append(server)
        await server.start()
