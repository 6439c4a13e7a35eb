"""Google's own emulator, which needs Java and gcloud: found where it is installed, started and ended, to compare with."""

import asyncio
import os
import shutil
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import grpc

SDK = Path("/usr/lib/google-cloud-sdk")
SCRIPT = Path("platform/cloud-firestore-emulator/cloud_firestore_emulator")
READY_SECONDS = 60.0
END_SECONDS = 10.0


def find_official() -> Path | None:
    """Return the script that starts it, None when gcloud does not have it here or there is no Java."""
    gcloud = shutil.which("gcloud")
    roots = [SDK] if gcloud is None else [Path(gcloud).resolve().parents[1], SDK]
    scripts = [root / SCRIPT for root in roots if (root / SCRIPT).is_file()]
    return scripts[0] if scripts and shutil.which("java") else None


@asynccontextmanager
async def run_official(script: Path, *options: str) -> AsyncIterator[tuple[str, int]]:
    """Run Google's emulator on a free port; yield its address and the id of its process group, which ends with the block.

    `options` are further ones of its own. Raise TimeoutError when it does not answer within a minute.
    """
    # Not through `gcloud`, which would start a tree of processes; the script is a shell that waits for one Java.
    process = await asyncio.create_subprocess_exec(
        str(script),
        "start",
        "--host=127.0.0.1",
        f"--port={(port := free_port())}",
        *options,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        address = f"127.0.0.1:{port}"
        async with asyncio.timeout(READY_SECONDS):
            await answering(address)
        yield address, process.pid
    finally:
        await end(process)


async def answering(address: str) -> None:
    """Wait until something takes connections at an address."""
    async with grpc.aio.insecure_channel(address, options=[("grpc.initial_reconnect_backoff_ms", 50)]) as channel:
        await channel.channel_ready()


async def end(process: Any) -> None:
    """End a process that leads its own group, and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await process.wait()
                while True:  # Java outlives its shell, and nobody but its group's id tells of it
                    os.killpg(process.pid, 0)
                    await asyncio.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
