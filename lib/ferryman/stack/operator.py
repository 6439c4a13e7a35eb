"""The operator of a local stack: its functions are given the public halves as a deployment would be."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from ferryman.composition.operator import Operator, build_operator
from ferryman.gcp.http import HttpClient
from ferryman.stack import environment, provision
from ferryman.stack.admin import Admin

SIGNER = "api"
"""The function that signs what people decide. It is restarted last: every sender knows a version before it signs with it."""

SEALS = ("api", "http_tool", "orchestrator")
"""The functions that seal: credentials, fetched tokens, arguments of calls. What they seal to an old version, nobody can open
later."""


class RestartPublication:
    """`rotate.Publication`: functions are restarted with other variables; the ones before are ended by then."""

    drains = timedelta(0)

    def __init__(self, admin: Admin, wire: HttpClient, url: str, key: str) -> None:
        self._admin = admin
        self._wire = wire
        self._url = url
        self._headers = {"Authorization": f"Bearer {key}"}

    async def publish_sealing_key(self, public: str) -> None:
        await self._change({"FERRYMAN_SEALING_PUBLIC_KEY": public})

    async def publish_receipt_keys(self, public: Mapping[int, str]) -> None:
        await self._change(
            {"FERRYMAN_RECEIPT_PUBLIC_KEYS": json.dumps({str(version): half for version, half in public.items()})}
        )

    async def read_receipt_keys(self) -> Mapping[int, str]:
        return await self._read("receipt-keys")

    async def publish_decision_keys(self, public: Mapping[int, str]) -> None:
        env = {"FERRYMAN_DECISION_PUBLIC_KEYS": json.dumps({str(version): half for version, half in public.items()})}
        names = [row["name"] for row in environment.load_functions() if row["unseals"] or row["name"] == "orchestrator"]
        await self._change(env, names)
        await self._change(env, [SIGNER])

    async def read_decision_keys(self) -> Mapping[int, str]:
        return await self._read("decision-keys")

    async def _read(self, kind: str) -> Mapping[int, str]:
        answer = await self._wire.client().get(f"{self._url}/v1/{kind}", headers=self._headers)
        return {int(version): half for version, half in answer.raise_for_status().json()["keys"].items()}

    async def _change(self, env: Mapping[str, str], functions: Sequence[str] = SEALS) -> None:
        await asyncio.gather(*(self._admin.change(function, env) for function in functions))


@asynccontextmanager
async def open_operator(note: Mapping[str, Any], key: str) -> AsyncIterator[Operator]:
    """Yield the operator of the stack that noted this. Raise httpx's TransportError at once when it does not answer."""
    project, wire = note["project"], HttpClient()
    async with Admin.from_note(note) as admin:
        await admin.read_status()  # Google's clients take minutes to say so
        clients = provision.connect(note["env"])

        async def token(identity: str, audience: str) -> str:
            return await admin.create_token(environment.build_account(identity, project), audience)

        try:
            yield build_operator(
                project=project,
                location=environment.LOCATION,
                functions=note["functions"],
                key=key,
                clients=clients,
                wire=wire,
                publication=RestartPublication(admin, wire, note["url"], key),
                token=token,
            )
        finally:
            await wire.close()
            await clients.close()
