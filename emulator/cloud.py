"""The cloud: all services of one local Google Cloud, composed, started and ended together."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Self

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from emulator.admin import admin_app
from emulator.backend import Backend, firestore
from emulator.callers import Callers
from emulator.clock import Clock
from emulator.functions import Failed, Functions
from emulator.identity import Tokens, metadata_app
from emulator.internet import Internet
from emulator.lock import Lock
from emulator.messages import Messages
from emulator.plan import Plan
from emulator.ports import Ports
from emulator.secrets import SecretManager
from emulator.table import account, read_table
from emulator.tasks import CloudTasks
from emulator.triggers import Triggers
from emulator.triggers.official import relay_app
from emulator.web import LOOPBACK, App, Web, port_of

__all__ = ["Cloud", "Plan"]


class Cloud:
    """`async with Cloud(plan) as cloud`: it answers inside, and functions are started by `run`. `stopping` asks for the end."""

    internet: Internet
    functions: Functions
    tokens: Tokens
    triggers: Triggers
    tasks: CloudTasks
    clock: Clock
    env: dict[str, str]
    admin: str

    def __init__(self, plan: Plan, *, clock: Clock | None = None) -> None:
        self._plan = plan
        self.clock = clock or Clock()
        self._rows = read_table(plan.table)
        self._metadata: dict[str, int] = {}
        self._given: dict[str, dict[str, str]] = {}
        self._firestore = Backend()
        self._closing = AsyncExitStack()
        self.messages = Messages()
        self.stopping = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Raises InUse when another cloud has the folder, OSError when the port is taken."""
        async with AsyncExitStack() as closing:
            await self._start(closing)
            self._closing = closing.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._closing.aclose()

    def status(self) -> dict[str, object]:
        """Everything another program may want to know, without secrets."""
        return {
            "project": self._plan.project,
            "pid": os.getpid(),
            "admin": self.admin,
            "data": str(self._plan.folder.resolve()),
            "durable": self._plan.durable,
            "services": ["firestore", "secretmanager", "cloudtasks", "triggers", "metadata", "internet", "messages"],
            "ports": {
                "grpc": self._callers.port,
                "callers": self._callers.ports,
                "internet": self.internet.port,
                "metadata": self._metadata,
            },
            "permissions": self._plan.permissions,
            "firestore": self._plan.firestore,
            "env": self.env,
            "functions": [self.functions.status(name) for name in self._rows],
        }

    async def run(self, name: str, env: Mapping[str, str]) -> dict[str, object]:
        """Start a function, or start it anew; its trigger finds it then. Raises Failed."""
        row = self._rows[name]
        self._given[name] = dict(env)
        if row.trigger:
            caller = account(row.callers[0], self._plan.project)
            url = self.functions.url(name)
            try:
                self.triggers.add(name, event=row.trigger.event, document=row.trigger.document, url=url, caller=caller)
            except ValueError as error:
                raise Failed(f"the trigger of {name} cannot be set: {error}") from error
        return await self.functions.run(name, {**self.env, **self._own_env(name), **env})

    async def change(self, name: str, env: Mapping[str, str]) -> dict[str, object]:
        """Start a function anew as it was started last, but for these variables. Raises Failed, KeyError if it never was."""
        return await self.run(name, {**self._given[name], **env})

    async def stop(self, name: str) -> bool:
        """End a function and its trigger; false if it was not started."""
        if self._rows[name].trigger:
            self.triggers.remove(name)
        return await self.functions.stop(name)

    async def _start(self, closing: AsyncExitStack) -> None:
        plan, clock = self._plan, self.clock
        plan.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = Lock(plan.folder)
        lock.take()
        closing.callback(lock.release)
        ports = Ports(plan.folder / "ports.json")
        closing.callback(ports.close)
        path = plan.folder if plan.durable else None

        self.tokens = Tokens(path=path, clock=Clock())  # whoever checks a token goes by the real time
        secrets = SecretManager(path=path, clock=clock)
        self.tasks = CloudTasks(path=path, clock=clock, tokens=self.tokens)
        self.triggers = Triggers(path=path, clock=clock, tokens=self.tokens)
        self.triggers.retain([row.name for row in self._rows.values() if row.trigger])
        self.internet = Internet(plan.folder, clock=clock, sock=ports.bind("internet"))
        for service in (secrets, self.tasks, self.triggers, self.internet):
            closing.push_async_callback(service.close)
            await service.start()

        events = ports.bind("events")
        closing.callback(events.close)
        backend = firestore(plan, clock=clock, triggers=self.triggers, events=port_of(events))
        self._firestore = await closing.enter_async_context(backend)

        self._callers = Callers(plan, self._rows, ports)
        closing.push_async_callback(self._callers.close)
        await self._callers.start((*self._firestore.handlers, secrets.handler(), self.tasks.handler()))

        # Functions end before what they use, and start after it.
        self.functions = Functions(self._rows, source=plan.source, folder=plan.folder, ports=ports)
        web = Web()
        closing.push_async_callback(web.close)
        web.add(relay_app(self.triggers), events)
        self._open(web, ports)
        closing.push_async_callback(self.functions.close)
        await self.functions.start()
        if self._firestore.group is not None:
            self.functions.guard(self._firestore.group)
            closing.callback(self.functions.unguard, self._firestore.group)
        await web.start()

    def _open(self, web: Web, ports: Ports) -> None:
        """Give each application of ours its port, and so know the environment."""

        def serve(purpose: str, app: App) -> int:
            return port_of(web.add(app, ports.bind(purpose)))

        project = self._plan.project
        for row in self._rows.values():
            app = metadata_app(self.tokens, account(row.identity, project), project)
            self._metadata[row.name] = serve(f"metadata/{row.name}", app)
        certs = serve("certs", _certs_app(self.tokens))
        messages = serve("messages", self.messages)
        self.admin = f"http://{LOOPBACK}:{serve('admin', admin_app(self))}"
        target = f"{LOOPBACK}:{self._callers.port}"
        self.env = {
            "GOOGLE_CLOUD_PROJECT": project,
            "FIRESTORE_EMULATOR_HOST": self._firestore.host or target,
            "SECRET_MANAGER_EMULATOR_HOST": target,
            "CLOUD_TASKS_EMULATOR_HOST": target,
            "FERRYMAN_CERTS_URL": f"http://{LOOPBACK}:{certs}/certs",
            "FERRYMAN_PRETEND_INTERNET": str(self.internet.table.resolve()),
            "ANTHROPIC_BASE_URL": f"http://{LOOPBACK}:{messages}",
        }

    def _own_env(self, name: str) -> dict[str, str]:
        metadata, target = f"{LOOPBACK}:{self._metadata[name]}", self._callers.address(name)
        # Another's Firestore knows no callers; who may not use it is not told of it.
        trusted = self._rows[name].firestore or not self._plan.permissions
        return {
            "FIRESTORE_EMULATOR_HOST": (self._firestore.host if trusted else None) or target,
            "SECRET_MANAGER_EMULATOR_HOST": target,
            "CLOUD_TASKS_EMULATOR_HOST": target,
            "GCE_METADATA_HOST": metadata,
            "GCE_METADATA_IP": metadata,
            "FERRYMAN_FUNCTION": name,
        }


def _certs_app(tokens: Tokens) -> App:
    # On a port of its own: what a function may ask for must not lead it to the admin.
    async def certs(_: Request) -> JSONResponse:
        return JSONResponse(tokens.certs())

    async def jwks(_: Request) -> JSONResponse:
        return JSONResponse(tokens.jwks())

    return Starlette(routes=[Route("/certs", certs), Route("/jwks", jwks)])
