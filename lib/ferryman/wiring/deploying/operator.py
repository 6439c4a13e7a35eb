"""The operator of a deployment: its functions are given the public halves by Terraform, and gcloud answers for accounts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from ferryman import settings
from ferryman.gcp.clients import Clients
from ferryman.gcp.holdings import FirestoreHoldings
from ferryman.gcp.http import Wire
from ferryman.gcp.resealing import RESEALS, RemoteResealer
from ferryman.gcp.ring import SecretManagerRing
from ferryman.ports import Unavailable
from ferryman.vault import seal
from ferryman.wiring.deploying.commands import Failed, Missing
from ferryman.wiring.deploying.course import Course
from ferryman.wiring.operator import RECEIPT_KEY, ROTATOR, SEALING_KEY, Operator

LONGEST_S = 1_800
"""How long an instance of the orchestrator may go on with what it has begun: its function's own limit."""


class Redeploys:
    """`rotate.Publication`: a new revision of the functions; the old one ends what it has begun."""

    drains = timedelta(seconds=LONGEST_S)

    def __init__(self, course: Course) -> None:
        self._course = course

    async def sealing(self, public: str) -> None:
        await self._apply({"sealing_public_key": public})

    async def receipts(self, public: Mapping[int, str]) -> None:
        await self._apply({"receipt_public_keys": {str(each): half for each, half in public.items()}})

    async def receipts_served(self) -> Mapping[int, str]:
        return {int(version): half for version, half in self._course.halves()["receipt_public_keys"].items()}

    async def _apply(self, change: Mapping[str, Any]) -> None:
        await asyncio.to_thread(self._course.change, {**self._course.halves(), **change})


@asynccontextmanager
async def opened(course: Course, key: str) -> AsyncIterator[Operator]:
    """The operator of what this course has deployed. Raises `Missing` where that is nothing."""
    commands, wire = course.commands, Wire()
    urls = course.addresses()
    if not urls:
        raise Missing(f"nothing is deployed in {commands.project}; run `ferryman deploy apply`")
    clients = Clients(replace(settings.read(), project=commands.project))

    async def token(identity: str, audience: str) -> str | None:
        account = f"{identity}@{commands.project}.iam.gserviceaccount.com"
        asked = ("auth", "print-identity-token", f"--impersonate-service-account={account}", f"--audiences={audience}")
        try:
            return await asyncio.to_thread(commands.ask, *asked, "--include-email")
        except Failed:
            return None

    async def rotator(audience: str) -> str:
        found = await token(ROTATOR, audience)
        if found is None:
            raise Unavailable(f"you may not act as {ROTATOR}; grant yourself roles/iam.serviceAccountTokenCreator on it")
        return found

    try:
        yield Operator(
            project=commands.project,
            location=commands.region,
            functions=urls,
            key=key,
            clients=clients,
            sealing=SecretManagerRing(clients, commands.project, SEALING_KEY),
            receipts=SecretManagerRing(clients, commands.project, RECEIPT_KEY),
            holdings=FirestoreHoldings(clients, seal.version_of),
            publication=Redeploys(course),
            resealer=RemoteResealer(wire, urls[RESEALS], rotator),
            token=token,
        )
    finally:
        await wire.close()
        await clients.close()
