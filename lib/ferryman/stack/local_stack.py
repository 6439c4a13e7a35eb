"""The stack: a local cloud, provisioned, with every function of the table running."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from ferryman.gcp.clients import GoogleClients
from ferryman.settings import Settings
from ferryman.stack import environment, hello, leftovers, private, provision, report, webhooks
from ferryman.stack.admin import Admin, AdminRefusedError
from ferryman.stack.functions import StackFunctions
from ferryman.stack.private import lock_folder
from ferryman.stack.process import CloudNotStartedError, LocalCloudProcess, spawn
from ferryman.stack.stack_process import note_process

PROJECT = "ferryman-local"
TEND_S = 2.0
STEPS = 3 + len(environment.load_functions())
"""How often the start of a stack tells of a stage: each function, once it is ready, and three times before."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackOptions:
    """What a stack is to be: `data` is a resolved folder, `digest` the API key's, `hosts` maps names to loopback ports.

    `scripts` are the model's by name; `authorities` are absolute paths of PEM files.
    `environment` is that of the process that starts it; `api_port` 0 is any free one; `firestore` is ours, official or
    external; ours may be `open_to_all` users of the machine, as the others are.
    """

    data: Path
    digest: str
    key_file: Path
    api_port: int = 0
    hosts: Mapping[str, int] = field(default_factory=dict)
    authorities: tuple[Path, ...] = ()
    scripts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    firestore: str = "ours"
    open_to_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A running stack. `functions` maps names to URLs, `env` are the variables that point a client at the cloud."""

    url: str
    data: Path
    project: str
    env: Mapping[str, str]
    functions: Mapping[str, str]
    admin: Admin
    clients: GoogleClients
    cloud: LocalCloudProcess

    @property
    def started(self) -> StackFunctions:
        """The functions, to be started."""
        return StackFunctions(admin=self.admin, urls=self.functions, logs=self.data / "logs", project=self.project)

    async def supervise(self, tell: Tell) -> int:
        """Restart functions that died, as the platform would; return the cloud's exit code when that ends."""
        ended = asyncio.create_task(self.cloud.wait())
        warming = asyncio.create_task(self._warm_workers())
        try:
            while not (await asyncio.wait([ended], timeout=TEND_S))[0]:
                with suppress(httpx.TransportError, AdminRefusedError, CloudNotStartedError):
                    await self._restart_dead(tell)
            return ended.result()
        finally:
            ended.cancel()
            warming.cancel()

    async def _warm_workers(self) -> None:
        """Start what only long texts wait for, now that the stack is ready; where that fails, the first of them starts it."""
        with suppress(httpx.TransportError, AdminRefusedError, CloudNotStartedError):
            await self.started.warm_workers(row["name"] for row in environment.load_functions() if row["unseals"])

    async def _restart_dead(self, tell: Tell) -> None:
        for function in (await self.admin.read_status())["functions"]:
            if function["state"] == "died":
                tell(f"{function['name']} died (exit code {function['exit']}); restarting it")
                await self.started.restart(function["name"])


@asynccontextmanager
async def run_stack(options: StackOptions, tell: Tell = lambda _: None) -> AsyncIterator[Stack]:
    """Run a stack while inside; `tell` hears of each stage. Raise `StackRunningError`, `ExposedFolderError` or
    `CloudNotStartedError`, and leaves nothing running."""
    data = options.data
    with lock_folder(data), note_process(data):
        leftover = await leftovers.recover(data)
        if leftover is not None:
            tell(leftover)
        async with _running(options, tell) as running:
            yield running


@asynccontextmanager
async def _running(options: StackOptions, tell: Tell) -> AsyncIterator[Stack]:
    data = options.data
    _request_port(data, options.api_port)
    tell("starting the local cloud")
    importing = asyncio.create_task(asyncio.to_thread(provision.load))  # while the local cloud starts
    try:
        cloud = await spawn(data, PROJECT, options.firestore, open_to_all=options.open_to_all)
    finally:
        await importing
    clients = provision.connect(cloud.ready["env"])
    try:
        async with Admin.from_note(cloud.ready) as admin:
            functions: dict[str, str] = cloud.ready["functions"]
            running = Stack(
                url=functions["api"],
                data=data,
                project=PROJECT,
                env=cloud.ready["env"],
                functions=functions,
                admin=admin,
                clients=clients,
                cloud=cloud,
            )
            if options.api_port and not running.url.endswith(f":{options.api_port}"):
                raise _report_busy_port(options.api_port)
            try:
                await _provision(running, options, tell)
            except AdminRefusedError as error:
                raise CloudNotStartedError(str(error)) from error
            _write_note(running, options.key_file)
            yield running
    finally:
        (data / leftovers.NOTE).unlink(missing_ok=True)
        await clients.close()
        await cloud.end()


async def _provision(running: Stack, options: StackOptions, tell: Tell) -> None:
    tell("provisioning the keys, the queues and the owner")
    public, receipts, decisions, _ = await asyncio.gather(
        provision.provision_sealing_key(running.clients, PROJECT, Settings().sealing_key_secret),
        provision.provision_receipt_keys(running.clients, PROJECT, Settings().receipt_key_secret),
        provision.provision_decision_keys(running.clients, PROJECT, Settings().api_key_secret),
        provision.provision_request_key(running.clients, PROJECT, Settings().platform_key_secret),
    )
    await provision.adopt_former_documents(running.clients, tell)
    for path in options.authorities:
        await running.admin.trust(path)  # a function reads whom it trusts once
    around = environment.StackEnvironment(
        project=PROJECT,
        urls=running.functions,
        sealing_public_key=public,
        receipt_public_keys=receipts,
        decision_public_keys=decisions,
        scripted_model_url=running.env["ANTHROPIC_BASE_URL"],
        hosts=tuple(options.hosts),
        caller=options.environment,
    )
    environments = {row["name"]: environment.build_environment(row, around) for row in environment.load_functions()}
    tell(f"starting {len(environments)} functions: {', '.join(environments)}")
    await asyncio.gather(running.started.start(environments, tell), _furnish(running, options))
    await provision.start_sweep(running.clients, PROJECT, running.functions)


async def _furnish(running: Stack, options: StackOptions) -> None:
    """Make what requests need, and the start of a function does not."""
    await provision.provision_queues(running.clients, PROJECT)
    await provision.provision_owner(running.clients, options.digest)
    await provision.provision_bucket(running.env)
    await hello.load_hello(running.admin)
    await running.admin.set_script(report.SCRIPT, report.build_script())
    await webhooks.load_catcher(running.admin)
    for host, port in options.hosts.items():
        await running.admin.map_host(host, port)
    for name, script in options.scripts.items():
        await running.admin.set_script(name, script)


def _write_note(running: Stack, key_file: Path) -> None:
    known = {"url": running.url, "key_file": str(key_file.resolve()), "admin": running.admin.url, "pid": os.getpid()}
    more = {"project": running.project, "env": running.env, "functions": running.functions}
    private.write_file(running.data / leftovers.NOTE, json.dumps({**known, **more}, indent=1))


def _request_port(data: Path, port: int) -> None:
    # the local cloud keeps the ports it had in this file, and takes them again where they are free
    file = data / "ports.json"
    if port:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                raise _report_busy_port(port) from error
        known = json.loads(file.read_text()) if file.exists() else {}
        private.write_file(file, json.dumps({**known, "functions/api": port}))


def _report_busy_port(port: int) -> CloudNotStartedError:
    return CloudNotStartedError(f"port {port} is busy; choose another with --api-port, or leave it out for a free one")
