"""The harness: a local stack for the scenarios, with functions served from a folder of choice."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from ferryman.gcp.clients import GoogleClients
from ferryman.settings import Settings
from ferryman.stack import environment, provision
from ferryman.stack.admin import Admin
from tests.campaigns.hostile.scenario import BEARER, HEADER, HOOK, PARAM, PUBLIC
from tests.campaigns.hostile.upstream import Upstream

PROJECT = "hostile"
AUTHORITY = "internet"
"""Where in its folder the local cloud keeps the CA that functions trust: the upstream's certificates come from it."""

STARTS_S = 60
TIMEOUT_S = 60
ENDS_S = 30
OWN_HOSTS = (PUBLIC, BEARER, HEADER, PARAM, HOOK)
SURROUNDINGS = {"FERRYMAN_LEASE_S": "30", "FERRYMAN_RETRY_AFTER_S": "1", "FERRYMAN_POLL_S": "0.2", "FERRYMAN_REQUEST_S": "15"}
SURROUNDINGS |= {"FERRYMAN_DIRECT_LINKS": "1"}
"""A call that drips is to end soon; everything else has time, on a machine that has other things to do as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """A running stack: the API's URL, the functions', the folder with everything kept, and the simulated internet around it.

    `places` are all that an attacker may ask straight, by name: the functions, and the ports of the local cloud.
    """

    url: str
    project: str
    functions: Mapping[str, str]
    places: Mapping[str, str]
    data: Path
    admin: Admin
    clients: GoogleClients
    upstream: Upstream
    http: httpx.AsyncClient

    async def map_host(self, host: str, addresses: tuple[str, ...]) -> None:
        """Have a name lead to the upstream: at an address of its own, or at `addresses`; "stranger" is its second port."""
        port = self.upstream.stranger_port if addresses == ("stranger",) else self.upstream.port
        if not addresses or addresses == ("stranger",):
            await self.admin.map_host(host, port)
            return
        await self.admin.put_host(host, {"port": port, "addresses": addresses, "dial": list(addresses)})


@asynccontextmanager
async def start_harness(source: Path | None = None) -> AsyncIterator[Harness]:
    """Run a harness whose functions are those of `source`, or of the checkout; nothing remains of it afterwards."""
    with tempfile.TemporaryDirectory(prefix="ferryman-hostile-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        async with _cloud(folder, source) as ready, AsyncExitStack() as closing:
            data = folder / "data"
            clients = provision.connect(ready["env"])
            closing.push_async_callback(clients.close)
            upstream = await closing.enter_async_context(Upstream(data / AUTHORITY))
            admin = await closing.enter_async_context(Admin.from_note(ready))
            await _provision(ready, admin, clients, upstream)
            async with build_harness(ready["functions"], ready["project"], data, admin, clients, upstream) as harness:
                yield harness


@asynccontextmanager
async def build_harness(
    functions: Mapping[str, str], project: str, data: Path, admin: Admin, clients: GoogleClients, upstream: Upstream
) -> AsyncIterator[Harness]:
    """Build a harness on a running stack: its usual hosts lead to `upstream`."""
    for host in OWN_HOSTS:
        await admin.map_host(host, upstream.port)
    async with httpx.AsyncClient(trust_env=False, timeout=TIMEOUT_S, limits=httpx.Limits(max_keepalive_connections=0)) as http:
        harness = Harness(
            url=functions["api"],
            project=project,
            functions=functions,
            places={**functions, **await _ports(admin)},
            data=data,
            admin=admin,
            clients=clients,
            upstream=upstream,
            http=http,
        )
        upstream.rename = harness.map_host
        yield harness


async def _ports(admin: Admin) -> dict[str, str]:
    """Return the URLs at which anyone can reach the local cloud itself."""
    ports = (await admin.read_status())["ports"]
    others = {"grpc": ports["grpc"], "metadata": ports["metadata"]["orchestrator"], "bucket": ports["objects"]["files"]}
    return {"admin": admin.url, **{name: f"http://127.0.0.1:{port}" for name, port in others.items()}}


@asynccontextmanager
async def _cloud(folder: Path, source: Path | None) -> AsyncIterator[Mapping[str, Any]]:
    ready, log = folder / "ready.json", folder / "cloud.log"
    command = [sys.executable, "-m", "emulator", "--data", str(folder / "data"), "--project", PROJECT]
    command += ["--ready-file", str(ready), *(("--source", str(source)) if source else ())]
    with log.open("wb") as out:
        cloud = await asyncio.create_subprocess_exec(*command, stdout=out, stderr=out, start_new_session=True)
    try:
        async with asyncio.timeout(STARTS_S):
            while not ready.exists():
                assert cloud.returncode is None, log.read_text()
                await asyncio.sleep(0.05)
        yield json.loads(ready.read_text())
    finally:
        if cloud.returncode is None:
            cloud.terminate()
        try:
            await asyncio.wait_for(cloud.wait(), ENDS_S)
        except TimeoutError:
            cloud.kill()


async def _provision(ready: Mapping[str, Any], admin: Admin, clients: GoogleClients, upstream: Upstream) -> None:
    public = await provision.provision_sealing_key(clients, PROJECT, Settings().sealing_key_secret)
    receipts = await provision.provision_receipt_keys(clients, PROJECT, Settings().receipt_key_secret)
    decisions = await provision.provision_decision_keys(clients, PROJECT, Settings().api_key_secret)
    await provision.provision_request_key(clients, PROJECT, Settings().platform_key_secret)
    await provision.provision_queues(clients, PROJECT)
    await provision.provision_bucket(ready["env"])
    around = environment.StackEnvironment(
        project=PROJECT,
        urls=ready["functions"],
        sealing_public_key=public,
        receipt_public_keys=receipts,
        decision_public_keys=decisions,
        scripted_model_url=ready["env"]["ANTHROPIC_BASE_URL"],
        caller={**SURROUNDINGS, "FERRYMAN_SEARXNG_ENDPOINT": f"http://127.0.0.1:{upstream.engine_port}"},
    )
    await asyncio.gather(
        *(admin.start(row["name"], environment.build_environment(row, around)) for row in environment.load_functions())
    )


def new_key(length: int = 33) -> str:
    """Return a credential's value as no program has seen it before.

    One character in every four is a digit: a piece without any may read like a word, and such pieces are not counted.
    """
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    parts = [[secrets.choice("23456789"), *(secrets.choice(letters) for _ in range(3))] for _ in range(-(-length // 4))]
    return "".join(character for part in parts for character in part)[:length]
