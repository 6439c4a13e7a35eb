"""The course of a deployment: check, build, make the secrets, put the keys in, make the rest, try it, hand out a key."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from ferryman.domain.finding import Finding, Grade
from ferryman.domain.owner import Owner
from ferryman.gcp.clients import Clients
from ferryman.gcp.owners import FirestoreOwners
from ferryman.settings import Settings
from ferryman.wiring.deploying import checks, keychain
from ferryman.wiring.deploying.commands import Commands, Failed, Missing

CONTAINERS = "-target=google_secret_manager_secret.this"
ANSWERS_S = 30.0
TRIES = 12
PAUSE_S = 10.0
"""Permissions take up to two minutes until they count everywhere."""

OWNER, PLAN = "owner", "pro"
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One deployment: the programs, the checkout it is built from, who hears of its progress, and the pause between tries."""

    commands: Commands
    root: Path
    tell: Tell
    pause_s: float = PAUSE_S

    @property
    def variables(self) -> dict[str, str]:
        """Terraform's variables besides the keys; it finds the archives through `build/functions.json`."""
        return {"project": self.commands.project, "region": self.commands.region}

    def prepared(self) -> None:
        """Check everything, build the archives, and fetch what Terraform needs. Raises `Missing` or `Failed`."""
        checks.check(self.commands, self.tell)
        self.tell("building the archives")
        built = subprocess.run(
            [sys.executable, "-m", "infra.build"], cwd=self.root, capture_output=True, text=True, check=False
        )
        if built.returncode:
            raise Failed(f"the build ended with {built.returncode}: {built.stderr.strip()}")
        self.commands.init()

    def plan(self) -> None:
        """Tell what would be made or changed; nothing is, and no key is made."""
        self.prepared()
        self.commands.change("plan", self.variables, [self._keys(make=False)], self.tell)

    def apply(self) -> dict[str, str]:
        """Make it, or bring it up to date; the functions' addresses. Repeatable wherever it broke off."""
        self.prepared()
        if not keychain.there(self.commands):
            self.tell("making the secrets, still empty")
            self.commands.change("apply", self.variables, [self._keys(make=False)], self.tell, CONTAINERS)
        self.commands.change("apply", self.variables, [self._keys(make=True)], self.tell)
        return self.addresses()

    def destroy(self) -> None:
        """Unmake all of it. Raises `Failed` where Terraform protects something, with what it is.

        The archives are built all the same: Terraform reads its files before it unmakes anything, and they name them.
        """
        self.prepared()
        self.commands.change("destroy", self.variables, [self._keys(make=False)], self.tell)

    def addresses(self) -> dict[str, str]:
        """The address of each function; empty where nothing is deployed."""
        return dict(self.commands.output().get("urls", {}))

    @property
    def keys_file(self) -> Path:
        """Where the public halves are kept, as Terraform reads them."""
        return self.root / "build" / f"keys-{self.commands.project}.tfvars.json"

    def halves(self) -> dict[str, Any]:
        """The public halves as they were given to Terraform last. Raises `Missing`."""
        try:
            halves: dict[str, Any] = json.loads(self.keys_file.read_text())
        except OSError:
            raise Missing(f"{self.keys_file} is not there; run `ferryman deploy apply`, which makes it anew") from None
        return halves

    def change(self, halves: Mapping[str, Any]) -> None:
        """Apply other public halves and nothing else: no checks, no build, no new keys. Raises `Failed`.

        They are what `halves` answers only once they are applied.
        """
        pending = self.keys_file.with_name(f"pending-{self.keys_file.name}")
        pending.write_text(json.dumps(halves, indent=1) + "\n")
        self.commands.change("apply", self.variables, [pending], self.tell)
        pending.replace(self.keys_file)

    def _keys(self, *, make: bool) -> Path:
        return keychain.kept(self.keys_file, keychain.public_halves(self.commands, self.tell, make=make))


async def tried(urls: Mapping[str, str], *, pause_s: float = PAUSE_S, tries: int = TRIES) -> list[Finding]:
    """The smoke test: the API answers, and every other function refuses whoever has no token."""
    async with httpx.AsyncClient(trust_env=False, timeout=ANSWERS_S, follow_redirects=False) as http:
        return await asyncio.gather(*(_tried(http, name, url, pause_s, tries) for name, url in urls.items()))


async def _tried(http: httpx.AsyncClient, name: str, url: str, pause_s: float, tries: int) -> Finding:
    path, wanted = ("/healthz", (200,)) if name == "api" else ("/", (401, 403))
    seen = ""
    for attempt in range(tries):
        if attempt:
            await asyncio.sleep(pause_s)
        try:
            status = (await http.get(url + path)).status_code
        except httpx.HTTPError as error:
            seen = f"{url} does not answer ({type(error).__name__})"
            continue
        seen = f"{url}{path} answers {status}"
        if status in wanted:
            return Finding(of=name, what="smoke test", grade=Grade.WELL, seen=seen)
    return Finding(of=name, what="smoke test", grade=Grade.WRONG, seen=seen)


async def first_key(project: str, digest: str) -> bool:
    """Store the first owner with the API key of this digest; False, with nothing stored, where there is an owner already.

    Google's own client finds the database with the application's default credentials.
    """
    clients = Clients(Settings(project=project))
    try:
        owners, now = FirestoreOwners(clients), datetime.now(UTC)
        if await owners.get(OWNER) is not None:
            return False
        # the key first: one that leads to nobody opens nothing
        await owners.add_key(digest, OWNER, now)
        await owners.put(Owner(id=OWNER, plan=PLAN, created_at=now))
        return True
    finally:
        await clients.close()
