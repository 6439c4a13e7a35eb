"""The cloud: all services of one local Google Cloud, composed, started and ended together."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Self

from starlette.applications import Starlette
from starlette.routing import Mount

from emulator.access import TOKEN, TOKEN_FILE, PortToken, new_token
from emulator.admin import admin_app
from emulator.backend import Backend, run_firestore
from emulator.callers import CallerPorts
from emulator.clock import EmulatorClock
from emulator.files import private_folder
from emulator.forking import TemplateProcess
from emulator.functions import FunctionFailedError, Functions
from emulator.identity import IdentityTokens, certs_app, metadata_app
from emulator.internet import Internet
from emulator.lock import Lock
from emulator.messages import Messages
from emulator.objects import ObjectStoreEmulator
from emulator.objects.callers import OPERATOR, StorageCaller
from emulator.permissions import read_grants
from emulator.plan import CloudPlan
from emulator.ports import Ports
from emulator.secrets import SecretManagerEmulator
from emulator.table import NOTHING, account, read_table
from emulator.tasks import CloudTasksEmulator
from emulator.triggers import Triggers
from emulator.triggers.official import relay_app
from emulator.web import LOOPBACK, App, Web, behind_path, port_of

__all__ = ["CloudPlan", "EmulatedCloud"]


EVENT_LATENCY = timedelta(milliseconds=250)
"""How long after its commit an event is delivered: Eventarc takes some hundred milliseconds at best, and what a program does
right after its commit comes first there."""


class EmulatedCloud:
    """`async with EmulatedCloud(plan) as cloud`: it answers inside, and functions are started by `run`. `stopping` asks for the
    end."""

    internet: Internet
    functions: Functions
    tokens: IdentityTokens
    triggers: Triggers
    tasks: CloudTasksEmulator
    clock: EmulatorClock
    token: PortToken
    env: dict[str, str]
    admin: str

    def __init__(
        self, plan: CloudPlan, *, clock: EmulatorClock | None = None, templates: Mapping[str, TemplateProcess] | None = None
    ) -> None:
        self._plan = plan
        self._templates = templates
        self.clock = clock or EmulatorClock()
        self._rows = read_table(plan.table)
        self._metadata: dict[str, int] = {}
        self._storage: dict[str, int] = {}
        self._environments: dict[str, dict[str, str]] = {}
        self._search = ""
        self._firestore = Backend()
        self._closing = AsyncExitStack()
        self.messages = Messages(self._opens_messages, self.clock.now)
        self.stopping = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Start all services. Raise InUseError when another cloud has the folder, OSError when others may enter it or the port
        is taken."""
        async with AsyncExitStack() as closing:
            await self._start(closing)
            self._closing = closing.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._closing.aclose()

    def status(self) -> dict[str, object]:
        """Return everything another program may want to know, without secrets."""
        return {
            "project": self._plan.project,
            "pid": os.getpid(),
            "admin": self.admin,
            "data": str(self._plan.folder.resolve()),
            "durable": self._plan.durable,
            "services": ["firestore", "secretmanager", "cloudtasks", "triggers", "objects", "metadata", "internet", "messages"],
            "ports": {
                "grpc": self._callers.port,
                "callers": self._callers.ports,
                "internet": self.internet.port,
                "metadata": self._metadata,
                "objects": self._storage,
            },
            "permissions": self._plan.permissions,
            "firestore": self._plan.firestore,
            "env": self.env,
            "functions": [self.functions.status(name) for name in self._rows],
        }

    def warning(self) -> str | None:
        """Return what anyone on this machine may do without the token, None where that is nothing."""
        host = self.env["FIRESTORE_EMULATOR_HOST"]
        if self._plan.firestore != "ours":
            return f"Firestore at {host} is not ours and knows no token: every user of this machine can read and write there"
        return f"--open: Firestore at {host} answers every user of this machine, without a token" if self._plan.open else None

    def abandon(self) -> None:
        """Ask for the end at once: functions are killed, and the services close their files."""
        self.functions.kill_all()
        self.stopping.set()

    async def run(self, name: str, env: Mapping[str, str]) -> dict[str, object]:
        """Start a function, or restart it, with its trigger. Raise FunctionFailedError."""
        row = self._rows[name]
        self._environments[name] = dict(env)
        if row.trigger:
            caller = account(row.callers[0], self._plan.project)
            url = self.functions.url(name)
            try:
                self.triggers.add(name, event=row.trigger.event, document=row.trigger.document, url=url, caller=caller)
            except ValueError as error:
                raise FunctionFailedError(f"the trigger of {name} cannot be set: {error}") from error
        shared = {key: value for key, value in self.env.items() if key != TOKEN_FILE}
        return await self.functions.run(name, {**shared, **self._own_env(name), **env})

    async def change(self, name: str, env: Mapping[str, str]) -> dict[str, object]:
        """Restart a function with these variables changed. Raise FunctionFailedError, and KeyError if it was never started."""
        return await self.run(name, {**self._environments[name], **env})

    async def stop(self, name: str) -> bool:
        """End a function and its trigger; false if it was not started."""
        if self._rows[name].trigger:
            self.triggers.remove(name)
        return await self.functions.stop(name)

    async def _start(self, closing: AsyncExitStack) -> None:
        plan, clock = self._plan, self.clock
        lock = Lock(private_folder(plan.folder))
        lock.take()
        closing.callback(lock.release)
        self.token, self._token_file = closing.enter_context(new_token(plan.folder))
        ports = Ports(plan.folder / "ports.json")
        closing.callback(ports.close)
        path = plan.folder if plan.durable else None

        self.tokens = IdentityTokens(path=path, clock=EmulatorClock())  # tokens are verified against the real time
        secrets = SecretManagerEmulator(path=path, clock=clock)
        self.tasks = CloudTasksEmulator(path=path, clock=clock, tokens=self.tokens)
        self.triggers = Triggers(path=path, clock=clock, tokens=self.tokens, latency=EVENT_LATENCY)
        self.triggers.retain([row.name for row in self._rows.values() if row.trigger])
        self.internet = Internet(plan.folder, clock=clock, sock=ports.bind("internet"), clear=ports.bind("internet/clear"))
        self._objects = ObjectStoreEmulator(path=path, clock=clock)
        for service in (secrets, self.tasks, self.triggers, self._objects, self.internet):
            closing.push_async_callback(service.close)
            await service.start()

        web = Web()
        closing.push_async_callback(web.close)
        events, trigger = 0, f"relay{self.token.derive('events').value}"
        if plan.firestore != "ours":
            events = port_of(web.add(relay_app(self.triggers, trigger), ports.bind("events")))
        backend = run_firestore(plan, clock=clock, triggers=self.triggers, events=events, trigger=trigger)
        self._firestore = await closing.enter_async_context(backend)

        self._callers = CallerPorts(plan, self._rows, ports, self.token)
        closing.push_async_callback(self._callers.close)
        await self._callers.start((*self._firestore.handlers, secrets.handler(), self.tasks.handler()))

        # Functions end before what they use, and start after it.
        self.functions = Functions(
            self._rows,
            source=plan.source,
            folder=plan.folder,
            ports=ports,
            templates=self._templates,
            freezes=plan.freezes,
        )
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
            routes = [
                *certs_app(self.tokens).routes,
                Mount("/", metadata_app(self.tokens, account(row.identity, project), project)),
            ]
            app = behind_path(Starlette(routes=routes), self._metadata_token(row.name))
            self._metadata[row.name] = serve(f"metadata/{row.name}", app)
        callers = self._list_storage_callers()
        accounts = {caller.email: caller for caller in callers}
        for caller in callers:
            purpose = "objects" if caller.key == OPERATOR else f"objects/{caller.key}"
            self._storage[caller.key] = serve(purpose, self._objects.app(caller, accounts))
        messages = serve("messages", self.messages)
        self.internet.serve_pages()
        search = serve("search", behind_path(self.internet.search, self._search_token))
        self._search = f"http://{LOOPBACK}:{search}/{self._search_token.value}"
        self.admin = f"http://{LOOPBACK}:{serve('admin', admin_app(self))}"
        target = f"{LOOPBACK}:{self._callers.port}"
        self.env = {
            "GOOGLE_CLOUD_PROJECT": project,
            "FIRESTORE_EMULATOR_HOST": self._firestore.host or target,
            "SECRET_MANAGER_EMULATOR_HOST": target,
            "CLOUD_TASKS_EMULATOR_HOST": target,
            "STORAGE_EMULATOR_HOST": f"http://{LOOPBACK}:{self._storage[OPERATOR]}",
            TOKEN_FILE: str(self._token_file),
            "FERRYMAN_PRETEND_INTERNET": str(self.internet.table.resolve()),
            "ANTHROPIC_BASE_URL": f"http://{LOOPBACK}:{messages}",
        }

    def _own_env(self, name: str) -> dict[str, str]:
        metadata = f"{LOOPBACK}:{self._metadata[name]}/{self._metadata_token(name).value}"
        target = self._callers.address(name)
        # Another's Firestore knows no callers; a caller that may not use it is not told of it.
        trusted = self._rows[name].firestore != NOTHING or not self._plan.permissions
        return {
            "FIRESTORE_EMULATOR_HOST": (self._firestore.host if trusted else None) or target,
            "SECRET_MANAGER_EMULATOR_HOST": target,
            "CLOUD_TASKS_EMULATOR_HOST": target,
            "STORAGE_EMULATOR_HOST": f"http://{LOOPBACK}:{self._storage[name]}",
            "GCE_METADATA_HOST": metadata,
            "GCE_METADATA_IP": metadata,
            "FERRYMAN_CERTS_URL": f"http://{metadata}/certs",
            TOKEN: self._callers.token(name).value,
            "FERRYMAN_SEARXNG_ENDPOINT": self._search,
            "FERRYMAN_FUNCTION": name,
        }

    def _list_storage_callers(self) -> list[StorageCaller]:
        """Return who may use objects: the operator, and each function as what its row grants."""
        project = self._plan.project
        operator = StorageCaller(key=OPERATOR, token=self.token, email=account(OPERATOR, project), project=project)
        functions = [
            StorageCaller(
                key=row.name,
                token=self._callers.token(row.name),
                email=account(row.identity, project),
                project=project,
                grants=read_grants(row, project) if self._plan.permissions else None,
            )
            for row in self._rows.values()
        ]
        return [operator, *functions]

    def _metadata_token(self, name: str) -> PortToken:
        # Another than that of the calls: it is part of an address, and clients quote addresses in their errors.
        return self.token.derive(f"metadata/{name}")

    @property
    def _search_token(self) -> PortToken:
        # part of an address, as above
        return self.token.derive("search")

    def _opens_messages(self, key: str) -> bool:
        return any(token.matches(key) for token in (self.token, *map(self._callers.token, self._rows)))
