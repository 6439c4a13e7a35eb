"""A stack of its own for the commands that run beside the tests: `ferryman up`, as anyone starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ferryman.client import AsyncClient
from ferryman.domain.owners.owner import Owner
from ferryman.gcp.owners import FirestoreOwners
from ferryman.serving import keys
from ferryman.stack import provision

FERRYMAN = Path(sys.executable).with_name("ferryman")
ENDS_S = 60


@contextmanager
def start_stack(data: Path, **variables: str) -> Iterator[Mapping[str, Any]]:
    """Return the document that `ferryman up` prints for a stack in a folder."""
    command = [FERRYMAN, "up", "--data", data, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **variables}) as child:
        assert child.stdout is not None
        try:
            if not child.stdout.readline():
                raise SystemExit("the stack did not start; what it wrote stands above")
            yield {**json.loads((data / "stack.json").read_text()), "data": data}
        finally:
            child.send_signal(signal.SIGINT)
            child.wait(ENDS_S)


async def create_client(stack: Mapping[str, Any], plan: str = "pro") -> AsyncClient:
    """Return a client of a new owner."""
    return AsyncClient(stack["url"], await create_key(stack, plan))


async def create_key(stack: Mapping[str, Any], plan: str = "pro") -> str:
    """Return the API key of a new owner."""
    clients = provision.connect(stack["env"])
    try:
        key, owner, now = keys.generate_key(), f"owner-{os.urandom(6).hex()}", datetime.now(UTC)
        await FirestoreOwners(clients).put(Owner(id=owner, plan=plan, created_at=now))
        await FirestoreOwners(clients).add_key(keys.digest_key(key), owner, now)
    finally:
        await clients.close()
    return key
