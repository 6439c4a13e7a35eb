"""The stage: a local stack of its own, its functions served from a folder that is given, and the plays set on it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from ferryman.gcp.clients import Clients
from ferryman.settings import Settings
from ferryman.wiring.local import environment, provision
from ferryman.wiring.local.admin import Admin
from tests.hostile.play import BEARER, HEADER, HOOK, PARAM, PUBLIC
from tests.hostile.upstream import Upstream

PROJECT = "hostile"
REQUEST_S = "8"
STARTS_S = 60
ENDS_S = 30
OWN_HOSTS = (PUBLIC, BEARER, HEADER, PARAM, HOOK)
SURROUNDINGS = {"FERRYMAN_LEASE_S": "30", "FERRYMAN_RETRY_AFTER_S": "1", "FERRYMAN_POLL_S": "0.2", "FERRYMAN_REQUEST_S": REQUEST_S}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A running stack: the API's URL, the functions', the folder with everything kept, and the pretend world around it."""

    url: str
    project: str
    functions: Mapping[str, str]
    metadata: Mapping[str, int]
    data: Path
    admin: Admin
    clients: Clients
    upstream: Upstream
    http: httpx.AsyncClient
    pids: Mapping[str, int] = field(default_factory=dict)


@contextlib.asynccontextmanager
async def raised(source: Path | None = None) -> AsyncIterator[Stage]:
    """A stage while inside, its functions from `source` (the checkout's own otherwise); nothing is left of it after."""
    folder = Path(tempfile.mkdtemp(prefix="ferryman-hostile-"))
    try:
        async with Upstream(folder / "upstream") as upstream:
            ready_file, data = folder / "ready.json", folder / "data"
            command = [sys.executable, "-m", "emulator", "--data", str(data), "--project", PROJECT]
            command += ["--ready-file", str(ready_file), *(("--source", str(source)) if source else ())]
            with (folder / "cloud.log").open("wb") as log:
                cloud = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            try:
                async with asyncio.timeout(STARTS_S):
                    while not ready_file.exists():
                        assert cloud.poll() is None, (folder / "cloud.log").read_text()
                        await asyncio.sleep(0.05)
                ready = json.loads(ready_file.read_text())
                clients = provision.connect(ready["env"])
                try:
                    limits = httpx.Limits(max_keepalive_connections=0)
                    async with Admin(ready["admin"]) as admin, httpx.AsyncClient(trust_env=False, timeout=60, limits=limits) as http:
                        yield await _set_up(ready, data, admin, clients, upstream, http)
                finally:
                    await clients.close()
            finally:
                cloud.terminate()
                try:
                    await asyncio.to_thread(cloud.wait, ENDS_S)
                except subprocess.TimeoutExpired:
                    cloud.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _set_up(
    ready: Mapping[str, Any], data: Path, admin: Admin, clients: Clients, upstream: Upstream, http: httpx.AsyncClient
) -> Stage:
    public = await provision.sealing_key(clients, PROJECT, Settings().sealing_key_secret)
    await provision.queue(clients, PROJECT)
    await admin.trust(upstream.ca)
    for host in OWN_HOSTS:
        await admin.map(host, upstream.port)
    around = environment.Surroundings(
        project=PROJECT,
        urls=ready["functions"],
        sealing_public_key=public,
        scripted_model_url=ready["env"]["ANTHROPIC_BASE_URL"],
        caller={**{name: value for name, value in os.environ.items() if name in environment.PASSED_ON}, **SURROUNDINGS},
    )
    await asyncio.gather(*(admin.start(row["name"], environment.of(row, around)) for row in environment.table()))
    status = await admin.status()
    return Stage(
        url=ready["functions"]["api"],
        project=PROJECT,
        functions=ready["functions"],
        metadata=status["ports"]["metadata"],
        data=data,
        admin=admin,
        clients=clients,
        upstream=upstream,
        http=http,
        pids={each["name"]: each["pid"] for each in status["functions"]},
    )


def new_key() -> str:
    """A credential's value as no program has seen it before."""
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
    return "".join(secrets.choice(letters) for _ in range(33))
