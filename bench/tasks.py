"""Creates per second of the local Cloud Tasks: into an empty queue, and into one that holds a hundred thousand.

Run with `python -m bench.tasks [PENDING]`. Rates are the server's own: raw calls, 32 in flight, one process on a folder.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import grpc
from google.cloud import tasks_v2

from emulator.access import find_token
from emulator.channels import open_aio_channel

IN_FLIGHT, PENDING, SAMPLE, STRIDE = 32, 100_000, 5_000, 19_000
PARENT = "projects/bench/locations/us-central1"
QUEUE = f"{PARENT}/queues/q"
SERVICE = "/google.cloud.tasks.v2.CloudTasks/"


async def measure_creates(channel: grpc.aio.Channel, total: int) -> float:
    """Return creates per second over `total` tasks."""
    create = channel.unary_unary(
        SERVICE + "CreateTask", request_serializer=tasks_v2.CreateTaskRequest.serialize, response_deserializer=bytes
    )
    task = tasks_v2.Task(http_request=tasks_v2.HttpRequest(url="http://127.0.0.1:9/", body=b"x" * 100))
    request = tasks_v2.CreateTaskRequest(parent=QUEUE, task=task)
    numbers = iter(range(total))

    async def work() -> None:
        for _ in numbers:
            await create(request)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    return total / (time.perf_counter() - started)


async def measure_queue(env: Mapping[str, str], pending: int) -> None:
    async with open_aio_channel(env["CLOUD_TASKS_EMULATOR_HOST"], find_token(env)) as channel:
        for name, request in (
            ("CreateQueue", tasks_v2.CreateQueueRequest(parent=PARENT, queue=tasks_v2.Queue(name=QUEUE))),
            ("PauseQueue", tasks_v2.PauseQueueRequest(name=QUEUE)),
        ):
            await channel.unary_unary(SERVICE + name, request_serializer=type(request).serialize)(request)
        print(f"empty queue            {await measure_creates(channel, SAMPLE):8.0f} creates/s", flush=True)
        for filled in range(SAMPLE, pending, STRIDE):
            print(f"  {filled:7} pending, filling up", flush=True)
            await measure_creates(channel, min(STRIDE, pending - filled))
        print(f"{pending:7} pending        {await measure_creates(channel, SAMPLE):8.0f} creates/s", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready.json"
        command = [
            sys.executable,
            "-m",
            "emulator",
            "--data",
            f"{folder}/data",
            "--ready-file",
            str(ready),
            "--project",
            "bench",
        ]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            while not ready.exists():
                if server.poll() is not None:
                    raise SystemExit("the local cloud did not start")
                time.sleep(0.05)
            env = json.loads(ready.read_text())["env"]
            asyncio.run(measure_queue(env, int(sys.argv[1]) if len(sys.argv) > 1 else PENDING))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
