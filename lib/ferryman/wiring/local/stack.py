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

from ferryman.gcp.clients import Clients
from ferryman.settings import Settings
from ferryman.wiring.local import environment, hello, leftovers, provision
from ferryman.wiring.local.admin import Admin, Refused
from ferryman.wiring.local.hold import hold
from ferryman.wiring.local.process import Cloud, NotStarted, spawn

PROJECT = "ferryman-local"
TEND_S = 2.0
GREETING_S = 30.0

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a stack is to be: `data` is a resolved folder, `digest` the API key's, `hosts` maps names to loopback ports.

    `scripts` are the model's by name; `authorities` are absolute paths of PEM files.
    `environment` is that of whoever starts it; `api_port` 0 is any free one; `firestore` is ours, official or external.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A running stack. `functions` maps names to URLs, `env` are the variables that point a client at the cloud."""

    url: str
    data: Path
    project: str
    env: Mapping[str, str]
    functions: Mapping[str, str]
    admin: Admin
    clients: Clients
    cloud: Cloud

    async def tend(self, tell: Tell) -> int:
        """Start functions that died anew, as the platform would; returns the cloud's exit code when that ends."""
        ended = asyncio.create_task(self.cloud.ended())
        try:
            while not (await asyncio.wait([ended], timeout=TEND_S))[0]:
                with suppress(httpx.TransportError, Refused):
                    await self._revive(tell)
            return ended.result()
        finally:
            ended.cancel()

    async def _revive(self, tell: Tell) -> None:
        for function in (await self.admin.status())["functions"]:
            if function["state"] == "died":
                tell(f"{function['name']} died (exit code {function['exit']}); starting it anew")
                await self.admin.change(function["name"], {})


@asynccontextmanager
async def stack(wanted: Wanted, tell: Tell = lambda _: None) -> AsyncIterator[Stack]:
    """A stack while inside; `tell` hears of each stage. Raises `Held` or `NotStarted`, and leaves nothing running."""
    data = wanted.data
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with hold(data):
        left = await leftovers.recover(data)
        if left is not None:
            tell(left)
        async with _running(wanted, tell) as running:
            yield running


@asynccontextmanager
async def _running(wanted: Wanted, tell: Tell) -> AsyncIterator[Stack]:
    data = wanted.data
    _ask_port(data, wanted.api_port)
    tell("starting the local cloud")
    cloud = await spawn(data, PROJECT, wanted.firestore)
    clients = provision.connect(cloud.ready["env"])
    try:
        async with Admin(cloud.ready["admin"]) as admin:
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
            if wanted.api_port and not running.url.endswith(f":{wanted.api_port}"):
                raise _busy(wanted.api_port)
            try:
                await _set_up(running, wanted, tell)
            except Refused as error:
                raise NotStarted(str(error)) from error
            _leave_note(running, wanted.key_file)
            yield running
    finally:
        (data / leftovers.NOTE).unlink(missing_ok=True)
        await clients.close()
        await cloud.end()


async def _set_up(running: Stack, wanted: Wanted, tell: Tell) -> None:
    tell("provisioning the keys, the queues and the owner")
    public, receipts, _, _ = await asyncio.gather(
        provision.sealing_key(running.clients, PROJECT, Settings().sealing_key_secret),
        provision.receipt_keys(running.clients, PROJECT, Settings().receipt_key_secret),
        provision.queues(running.clients, PROJECT),
        provision.owner(running.clients, wanted.digest),
    )
    await hello.load(running.admin)
    for host, port in wanted.hosts.items():
        await running.admin.map(host, port)
    for path in wanted.authorities:
        await running.admin.trust(path)
    for name, script in wanted.scripts.items():
        await running.admin.script(name, script)
    around = environment.Surroundings(
        project=PROJECT,
        urls=running.functions,
        sealing_public_key=public,
        receipt_public_keys=receipts,
        scripted_model_url=running.env["ANTHROPIC_BASE_URL"],
        hosts=tuple(wanted.hosts),
        caller=wanted.environment,
    )
    rows = environment.table()
    tell(f"starting {len(rows)} functions: {', '.join(row['name'] for row in rows)}")
    await asyncio.gather(*(running.admin.start(row["name"], environment.of(row, around)) for row in rows))
    await _greet(running)
    await provision.sweep(running.clients, PROJECT, running.functions)


async def _greet(running: Stack) -> None:
    """Ask the API whether it is well: a function starts before it is made, and a setting it cannot use shows only then."""
    async with httpx.AsyncClient(trust_env=False, timeout=GREETING_S) as http:
        answer = await http.get(f"{running.url}/healthz")
    if answer.is_error:
        log = running.data / "logs" / "api.log"
        last = (log.read_text(errors="replace").strip().splitlines() or ["nothing"])[-1]
        raise NotStarted(f"the api answers {answer.status_code}; the last line of {log} is: {last}")


def _leave_note(running: Stack, key_file: Path) -> None:
    known = {"url": running.url, "key_file": str(key_file.resolve()), "admin": running.admin.url, "pid": os.getpid()}
    more = {"project": running.project, "env": running.env, "functions": running.functions}
    (running.data / leftovers.NOTE).write_text(json.dumps({**known, **more}, indent=1))


def _ask_port(data: Path, port: int) -> None:
    # the local cloud keeps the ports it had in this file, and takes them again where they are free
    file = data / "ports.json"
    if port:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                raise _busy(port) from error
        known = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps({**known, "functions/api": port}))


def _busy(port: int) -> NotStarted:
    return NotStarted(f"port {port} is busy; choose another with --api-port, or leave it out for a free one")
