"""The operator of a deployment: its functions are given the public halves by Terraform, and gcloud answers for accounts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from ferryman import settings
from ferryman.composition.operator import Operator, build_operator
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.http import HttpClient
from ferryman.operations.deploy.commands import CommandFailedError, CommandMissingError
from ferryman.operations.deploy.deployment import Deployment

LONGEST_S = 1_800
"""How long an instance of the orchestrator may go on with what it has begun: its function's own limit."""


class RedeployPublication:
    """`rotate.Publication`: a new revision of the functions; the old one ends what it has begun."""

    drains = timedelta(seconds=LONGEST_S)

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment

    async def publish_sealing_key(self, public: str) -> None:
        await self._apply({"sealing_public_key": public})

    async def publish_receipt_keys(self, public: Mapping[int, str]) -> None:
        await self._apply({"receipt_public_keys": {str(version): half for version, half in public.items()}})

    async def read_receipt_keys(self) -> Mapping[int, str]:
        return {int(version): half for version, half in self._deployment.read_public_keys()["receipt_public_keys"].items()}

    async def publish_decision_keys(self, public: Mapping[int, str]) -> None:
        await self._apply({"decision_public_keys": {str(version): half for version, half in public.items()}})

    async def read_decision_keys(self) -> Mapping[int, str]:
        return {int(version): half for version, half in self._deployment.read_public_keys()["decision_public_keys"].items()}

    async def _apply(self, change: Mapping[str, Any]) -> None:
        await asyncio.to_thread(self._deployment.apply_public_keys, {**self._deployment.read_public_keys(), **change})


@asynccontextmanager
async def open_operator(deployment: Deployment, key: str) -> AsyncIterator[Operator]:
    """Yield the operator of what is deployed. Raise `CommandMissingError` where that is nothing."""
    commands, wire = deployment.commands, HttpClient()
    urls = deployment.list_addresses()
    if not urls:
        raise CommandMissingError(f"nothing is deployed in {commands.project}; run `ferryman deploy apply`")
    clients = GoogleClients(replace(settings.read(), project=commands.project))

    async def token(identity: str, audience: str) -> str | None:
        account = f"{identity}@{commands.project}.iam.gserviceaccount.com"
        arguments = ("auth", "print-identity-token", f"--impersonate-service-account={account}", f"--audiences={audience}")
        try:
            return await asyncio.to_thread(commands.ask, *arguments, "--include-email")
        except CommandFailedError:
            return None

    try:
        yield build_operator(
            project=commands.project,
            location=commands.region,
            functions=urls,
            key=key,
            clients=clients,
            wire=wire,
            publication=RedeployPublication(deployment),
            token=token,
        )
    finally:
        await wire.close()
        await clients.close()
