"""A deployment: the API on stores in memory, in which everything that is drawn at random depends on whose request it is.

So the same requests of one side are answered with the same bytes, whether the other side is there or not, unless the API lets
something of the other through.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import httpx
from fastapi import FastAPI

from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Membership, Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.person import Person
from ferryman.inmemory.clock import START
from ferryman.serving import keys
from tests.serving.conftest import Stage, create_app

NOBODY = "nobody"
BETWEEN_S = 61
"""Seconds between two requests, so that no rate of any owner's is reached."""


class SidedDraws:
    """What is drawn at random: ids and keys, of each side in an order of its own."""

    def __init__(self) -> None:
        self.side = NOBODY
        self._drawn: Counter[str] = Counter()

    def draw(self, count: int) -> bytes:
        """Return bytes in the place of `secrets.token_bytes`."""
        self._drawn[self.side] += 1
        return hashlib.shake_256(f"{self.side} {self._drawn[self.side]}".encode()).digest(count or 32)

    def new(self, prefix: str) -> str:
        """Return an id, in the form of those of the product (`ports.Ids`)."""
        return f"{prefix}_{self.draw(15).hex()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: a side, whose it is, the workspace that its requests act in, and their headers."""

    side: str
    owner: str
    workspace: str
    headers: Mapping[str, str] = field(repr=False)
    person: str = ""
    key: str = ""
    """The id of the person's key: "" for the owner's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as it was sent."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    def read(self) -> Any:
        """Return the JSON of the body."""
        return json.loads(self.body)


@dataclass(kw_only=True)
class Deployment:
    """The API and its stores, and a way to ask it."""

    stage: Stage
    app: FastAPI
    client: httpx.AsyncClient
    draws: SidedDraws
    pause_s: int = BETWEEN_S

    def replace(self, **ports: Any) -> None:
        """Put other ports in the place of the API's."""
        self.app.state.deps = dataclasses.replace(self.app.state.deps, **ports)

    def add_owner(self, side: str, name: str) -> Caller:
        """Store an owner, and return who asks with the owner's own key."""
        self.draws.side = side
        with self.drawing():
            return Caller(side=side, owner=name, workspace=derive_default_workspace(name), headers=self.stage.owner(name))

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Have the product draw what is random from the side whose turn it is."""
        with patch("secrets.token_bytes", self.draws.draw):
            yield

    def set_time(self, seconds: float) -> None:
        """Turn the clock to so many seconds after the deployment began."""
        remaining = START + timedelta(seconds=seconds) - self.stage.clock.now()
        assert remaining > timedelta(0), "a clock is not turned back"
        self.stage.clock.turn(remaining)

    def add_person(self, caller: Caller, role: Role) -> Caller:
        """Store a person with this role in the caller's workspace, and return who asks with the person's key."""
        self.draws.side = caller.side
        person, memory = self.draws.new("person"), self.stage.memory
        place = {"owner": caller.owner, "created_at": START}
        memory.people[person] = Person(id=person, name=f"{caller.side} person", **place)
        membership = Membership(workspace=caller.workspace, person=person, role=role, approves=role is Role.ADMIN, **place)
        memory.memberships[caller.workspace, person] = membership
        with self.drawing():
            key, name = keys.generate_key(), self.draws.new("key")
        memory.keys[keys.digest_key(key)] = ApiKey(
            id=name, person=person, workspace=caller.workspace, name=f"{caller.side} key", **place
        )
        return dataclasses.replace(caller, person=person, key=name, headers={"Authorization": f"Bearer {key}"})

    async def send(
        self, caller: Caller, method: str, path: str, *, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request, and return its answer."""
        self.stage.clock.turn(self.pause_s)
        self.draws.side = caller.side
        with self.drawing():
            answer = await self.client.request(method, path, json=body, headers={**caller.headers, **(headers or {})})
        return Answer(status=answer.status_code, headers=tuple(answer.headers.raw), body=answer.content)

    async def ask(self, caller: Caller, method: str, path: str, **more: Any) -> Any:
        """Send a request that has to be accepted, and return what it is answered."""
        answer = await self.send(caller, method, path, **more)
        assert answer.status < 300, f"{method} {path}: {answer.status} {answer.body.decode()}"
        return answer.read() if answer.body else None


@asynccontextmanager
async def build_deployment() -> AsyncIterator[Deployment]:
    """Build a deployment without anybody in it."""
    draws = SidedDraws()
    stage = Stage(ids=draws)  # type: ignore[arg-type] # it counts by side
    # versions of files are moments on Google Cloud and digests on S3: neither counts what others write
    stage.objects._versions = iter(lambda: draws.new("v"), None)  # type: ignore[assignment] # as above
    # nor does a signature tell more than the key does that it is of, which the answer has as well
    stage.objects._sign = lambda _: "signature"  # type: ignore[method-assign]
    app = create_app(stage.deps())
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test") as client:
        yield Deployment(stage=stage, app=app, client=client, draws=draws)
