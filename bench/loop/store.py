"""A Firestore in memory in a process of its own, for `ours` (FIRESTORE_EMULATOR_HOST)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import grpc

from emulator.firestore import SERVER_OPTIONS, FirestoreEmulator

INDEXES = Path(__file__).parents[2] / "infra/firestore.indexes.json"


async def main() -> None:
    firestore = FirestoreEmulator(path=None, indexes=INDEXES)
    await firestore.start()
    server = grpc.aio.server(options=SERVER_OPTIONS)
    server.add_generic_rpc_handlers((firestore.handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until its parent process ends
    await server.stop(0)
    await firestore.close()


if __name__ == "__main__":
    asyncio.run(main())
