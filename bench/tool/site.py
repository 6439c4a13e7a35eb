"""What the load runs against: a local cloud, an upstream, and processes of the real functions-framework."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.tool.journal import HOST, Journal
from emulator.internet.authority import Authority
from ferryman.gcp.clients import GoogleClients
from ferryman.stack import environment, provision
from ferryman.stack.admin import Admin
from ferryman.stack.environment import StackEnvironment, build_account, build_environment
from ferryman.stack.process import spawn
from ferryman.vault.seal import PublicKey

ROOT = Path(__file__).parents[2]
FUNCTION = ROOT / "functions/api_call/main.py"
UPSTREAM = Path(__file__).with_name("upstream.py")
IN_MEMORY = Path(__file__).with_name("in_memory") / "main.py"
PROJECT = "ferryman-local"
READY_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A running local cloud with the upstream behind it; `variables` are those of the function, `token` its caller's."""

    clients: GoogleClients
    journal: Journal
    variables: dict[str, str]
    token: str
    ca: Path
    upstream_port: int
    url: str

    @contextmanager
    def serve(self, main: Path, **more: str) -> Iterator[tuple[int, int]]:
        """Yield the port and the process of the function in `main`."""
        port = _find_port()
        command = [sys.executable, "-P", "-m", "functions_framework", "--target", "main", "--source", str(main)]
        command += ["--host", "127.0.0.1", "--port", str(port)]
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "CLOUD_RUN_TIMEOUT_SECONDS": "60"}
        with (ROOT / "build/tool.log").open("ab") as log, tempfile.TemporaryDirectory() as runtime:
            env = {**env, "XDG_RUNTIME_DIR": runtime, "HOME": runtime, **self.variables, **more}
            child = subprocess.Popen(command, env=env, stdout=log, stderr=log)
            try:
                yield port, child.pid
            finally:
                child.terminate()
                child.wait()


async def wait_for_port(port: int) -> None:
    """Wait until something listens there."""
    async with asyncio.timeout(READY_S):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


@asynccontextmanager
async def run_site() -> AsyncIterator[Site]:
    """Run a local cloud on disk, provisioned, with the upstream in a process of its own."""
    with ExitStack() as closing:
        folder = Path(closing.enter_context(tempfile.TemporaryDirectory()))
        authority = Authority(folder / "authority")
        upstream = start_printing([str(UPSTREAM), str(authority.issue(HOST))], closing)
        (folder / "data").mkdir(mode=0o700)
        cloud = await spawn(folder / "data", PROJECT, "ours")
        clients = provision.connect(cloud.ready["env"])
        try:
            async with Admin.from_note(cloud.ready) as admin, _serve_certificates(await admin.read_certificates()) as certs:
                await admin.map_host(HOST, upstream)
                await admin.trust(authority.path)
                public = await provision.provision_sealing_key(clients, PROJECT, "ferryman-sealing-key")
                url = "http://function.test"
                around = StackEnvironment(
                    project=PROJECT,
                    urls={"api_call": url},
                    sealing_public_key=public,
                    receipt_public_keys={},
                    decision_public_keys={},
                    scripted_model_url="",
                )
                row = next(row for row in environment.load_functions() if row["name"] == "api_call")
                variables = {**cloud.ready["env"], **build_environment(row, around)}
                journal = Journal(PublicKey.parse(public))
                await journal.store(clients)
                yield Site(
                    clients=clients,
                    journal=journal,
                    variables={**variables, "FERRYMAN_FUNCTION": "api_call", "FERRYMAN_CERTS_URL": certs},
                    token=await admin.create_token(build_account("ferryman-orchestrator", PROJECT), url),
                    ca=authority.path,
                    upstream_port=upstream,
                    url=url,
                )
        finally:
            await clients.close()
            await cloud.end()


def start_printing(arguments: list[str], closing: ExitStack, python: str = sys.executable) -> int:
    """Start a Python process that prints its port, and ends with `closing`; return the port."""
    child = subprocess.Popen([python, *arguments], stdout=subprocess.PIPE)
    closing.callback(child.wait)
    closing.callback(child.terminate)
    assert child.stdout is not None
    return int(child.stdout.readline())


@asynccontextmanager
async def _serve_certificates(certificates: dict[str, Any]) -> AsyncIterator[str]:
    content = json.dumps(certificates).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(content) + content)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/certs"


def _find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
