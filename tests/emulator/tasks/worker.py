"""A worker: a function's stand-in that answers as it is told, and remembers what it was asked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import Response

from emulator.web import Web, port_of


class Worker:
    """Answers `answers` in turn, then 200 for ever; `hold` keeps every answer back."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.bodies: list[bytes] = []
        self.answers: list[int] = []
        self.came = asyncio.Condition()
        self.free = asyncio.Event()
        self.free.set()
        self.most = self.now = 0

    async def __call__(self, scope, receive, send) -> None:
        request = Request(scope, receive)
        self.bodies.append(await request.body())
        self.requests.append(request)
        self.now += 1
        self.most = max(self.most, self.now)
        async with self.came:
            self.came.notify_all()
        await self.free.wait()
        self.now -= 1
        status = self.answers.pop(0) if self.answers else 200
        await Response(status_code=status, headers={"Location": "/elsewhere"})(scope, receive, send)

    async def wait_for(self, number: int) -> None:
        """Wait until so many requests have come."""
        async with asyncio.timeout(10), self.came:
            await self.came.wait_for(lambda: len(self.requests) >= number)


@asynccontextmanager
async def serving(worker: Worker) -> AsyncIterator[str]:
    """Yield the URL at which a worker answers."""
    web = Web()
    port = port_of(web.add(worker))
    await web.start()
    yield f"http://127.0.0.1:{port}"
    worker.free.set()
    await web.close()
