"""The functions of a stack: started, and connected before anybody is told that they are ready."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

from ferryman.settings import WARM_PATH, WORKER_PATH
from ferryman.stack.admin import Admin, trust_nobody
from ferryman.stack.environment import WARMER, build_account
from ferryman.stack.process import CloudNotStartedError

WARM_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StackFunctions:
    """The functions of the local cloud that `admin` is of, at their `urls`, with their logs in `logs`."""

    admin: Admin
    urls: Mapping[str, str]
    logs: Path
    project: str

    async def start(self, environments: Mapping[str, Mapping[str, str]], tell: Callable[[str], None]) -> None:
        """Start them all with these variables. Raise `AdminRefusedError` or `CloudNotStartedError`."""
        ready = 0

        async def start(name: str, env: Mapping[str, str]) -> None:
            nonlocal ready
            await self.admin.start(name, env)
            await self._warm(name)
            ready += 1
            tell(f"{name} is ready, {ready} of {len(environments)}")

        await asyncio.gather(*(start(name, env) for name, env in environments.items()))

    async def restart(self, name: str) -> None:
        """Start one that died again, as it was. Raise `AdminRefusedError` or `CloudNotStartedError`."""
        await self.admin.change(name, {})
        await self._warm(name)

    async def warm_workers(self, names: Iterable[str]) -> None:
        """Have functions start what reads long texts, one after the other. Raise `AdminRefusedError` or
        `CloudNotStartedError`."""
        for name in names:
            await self._warm(name, WORKER_PATH)

    async def _warm(self, name: str, path: str = WARM_PATH) -> None:
        """Have a function import and connect what its first request would wait for. A function starts before it is made, and a
        setting that it cannot use shows only here."""
        url = self.urls[name]
        token = await self.admin.create_token(build_account(WARMER, self.project), url)
        async with httpx.AsyncClient(verify=trust_nobody(), trust_env=False, timeout=WARM_S) as http:
            answer = await http.post(url + path, headers={"Authorization": f"Bearer {token}"}, json={})
        if answer.is_error:
            log = self.logs / f"{name}.log"
            last = (log.read_text(errors="replace").strip().splitlines() or ["nothing"])[-1]
            raise CloudNotStartedError(f"{name} answers {answer.status_code}; the last line of {log} is: {last}")
