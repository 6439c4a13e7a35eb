"""A plain aiohttp handler: for each request it asks the upstream with one shared session, and returns what came.

    python plain.py CA UPSTREAM_PORT HOST

It runs in an environment of its own with nothing but aiohttp, and prints the port that it listens on.
"""

from __future__ import annotations

import asyncio
import ssl
import sys

import aiohttp
from aiohttp import web

BODY = {"note": "x" * 900, "items": list(range(20))}


async def main() -> None:
    ca, port, host = sys.argv[1:]
    tls = ssl.create_default_context(cafile=ca)
    connector = aiohttp.TCPConnector(limit=0, ssl=tls)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def handle(request: web.Request) -> web.Response:
            call = await request.json()
            url = f"https://127.0.0.1:{port}/{call['execution']}/{call['call']}"
            headers = {"Host": host, "x-cg-demo-api-key": "k" * 40}
            async with session.post(url, json=BODY, headers=headers, server_hostname=host) as response:
                return web.json_response({"status": response.status, "content": (await response.read()).decode()})

        app = web.Application()
        app.router.add_post("/", handle)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        server = await asyncio.get_running_loop().create_server(runner.server, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
