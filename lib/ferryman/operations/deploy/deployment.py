"""The course of a deployment: check, build, make the secrets, put the keys in, make the rest, try it, hand out a key."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import httpx

from ferryman import settings
from ferryman.domain.finding import DoctorFinding, Grade
from ferryman.domain.owners.owner import Owner
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.owners import FirestoreOwners
from ferryman.operations.deploy import keychain
from ferryman.operations.deploy.commands import CommandFailedError, CommandMissingError, Commands, find_commands

CONTAINERS = "-target=google_secret_manager_secret.this"
ANSWERS_S = 30.0
TRIES = 12
PAUSE_S = 10.0
"""Permissions take up to two minutes until they count everywhere."""

OWNER, PLAN = "owner", "pro"
NEEDED = (
    "cloudbilling.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "iam.googleapis.com",
    "secretmanager.googleapis.com",
    "serviceusage.googleapis.com",
)
"""APIs that Terraform and these checks talk to before Terraform has enabled any."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One deployment: the programs, the checkout it is built from, who hears of its progress, and the pause between tries."""

    commands: Commands
    root: Path
    tell: Tell
    pause_s: float = PAUSE_S

    @classmethod
    def find(cls, project: str, region: str, root: Path, tell: Tell, pause_s: float = PAUSE_S) -> Self:
        """Return the deployment of the checkout at `root` in `project`. Raise `CommandMissingError`."""
        return cls(commands=find_commands(project, region, root / "infra"), root=root, tell=tell, pause_s=pause_s)

    @property
    def variables(self) -> dict[str, str]:
        """Terraform's variables besides the keys; it finds the archives through `build/functions.json`."""
        return {"project": self.commands.project, "region": self.commands.region}

    def prepare(self) -> None:
        """Check everything, build the archives, and fetch what Terraform needs. Raise `CommandMissingError` or
        `CommandFailedError`."""
        check_prerequisites(self.commands, self.tell)
        self.tell("building the archives")
        built = subprocess.run(
            [sys.executable, "-m", "infra.build"], cwd=self.root, capture_output=True, text=True, check=False
        )
        if built.returncode:
            raise CommandFailedError(f"the build ended with {built.returncode}: {built.stderr.strip()}")
        self.commands.init()

    def plan(self) -> None:
        """Tell what would be made or changed; nothing is, and no key is made."""
        self.prepare()
        self.commands.change("plan", self.variables, [self._keys(make=False)], self.tell)

    def apply(self) -> dict[str, str]:
        """Make it, or bring it up to date; the functions' addresses. Repeatable wherever it broke off."""
        self.prepare()
        if not keychain.has_secrets(self.commands):
            self.tell("making the secrets, still empty")
            self.commands.change("apply", self.variables, [self._keys(make=False)], self.tell, CONTAINERS)
        self.commands.change("apply", self.variables, [self._keys(make=True)], self.tell)
        return self.list_addresses()

    def destroy(self) -> None:
        """Delete all of it. Raise `CommandFailedError` where Terraform protects something, with what it is.

        The archives are built all the same: Terraform reads its files before it deletes anything, and they name them.
        """
        self.prepare()
        self.commands.change("destroy", self.variables, [self._keys(make=False)], self.tell)

    def list_addresses(self) -> dict[str, str]:
        """Return the address of each function; empty where nothing is deployed."""
        return dict(self.commands.output().get("urls", {}))

    @property
    def keys_file(self) -> Path:
        """Where the public halves are kept, as Terraform reads them."""
        return self.root / "build" / f"keys-{self.commands.project}.tfvars.json"

    def read_public_keys(self) -> dict[str, Any]:
        """Return the public halves as they were given to Terraform last. Raise `CommandMissingError`."""
        try:
            halves: dict[str, Any] = json.loads(self.keys_file.read_text())
        except OSError:
            raise CommandMissingError(
                f"{self.keys_file} is not there; run `ferryman deploy apply`, which makes it again"
            ) from None
        return halves

    def apply_public_keys(self, halves: Mapping[str, Any]) -> None:
        """Apply other public halves and nothing else: no checks, no build, no new keys. Raise `CommandFailedError`.

        They are what `halves` answers only once they are applied.
        """
        pending = self.keys_file.with_name(f"pending-{self.keys_file.name}")
        pending.write_text(json.dumps(halves, indent=1) + "\n")
        self.commands.change("apply", self.variables, [pending], self.tell)
        pending.replace(self.keys_file)

    def _keys(self, *, make: bool) -> Path:
        return keychain.write_public_keys(self.keys_file, keychain.load_public_keys(self.commands, self.tell, make=make))


def check_prerequisites(commands: Commands, tell: Tell) -> None:
    """Check account, project, APIs and billing, in the order in which one needs the other. Raise `CommandMissingError`."""
    project = commands.project
    account = commands.ask("auth", "list", "--filter=status:ACTIVE", "--format=value(account)")
    if not account:
        raise CommandMissingError(
            "gcloud has no active account; run `gcloud auth login` and `gcloud auth application-default login`"
        )
    tell(f"acting as {account}")
    try:
        number = commands.ask("projects", "describe", project, "--format=value(projectNumber)")
    except CommandFailedError as error:
        raise CommandMissingError(
            f"the project {project} is not there, or {account} may not see it; `gcloud projects create {project}`\n{error}"
        ) from None
    tell(f"project {project} ({number})")
    enabled = set(commands.ask("services", "list", "--enabled", "--format=value(config.name)").split())
    missing = [api for api in NEEDED if api not in enabled]
    if missing:
        apis = " ".join(missing)
        raise CommandMissingError(f"these APIs are not enabled: {apis}; `gcloud services enable {apis} --project {project}`")
    if commands.ask("billing", "projects", "describe", project, "--format=value(billingEnabled)").lower() != "true":
        raise CommandMissingError(
            f"billing is not enabled for {project}; `gcloud billing projects link {project} --billing-account ACCOUNT`"
        )
    tell("APIs and billing are enabled")


async def run_smoke_test(urls: Mapping[str, str], *, pause_s: float = PAUSE_S, tries: int = TRIES) -> list[DoctorFinding]:
    """Run the smoke test: the API answers, and every other function refuses a request without a token."""
    async with httpx.AsyncClient(trust_env=False, timeout=ANSWERS_S, follow_redirects=False) as http:
        return await asyncio.gather(*(_try_function(http, name, url, pause_s, tries) for name, url in urls.items()))


async def _try_function(http: httpx.AsyncClient, name: str, url: str, pause_s: float, tries: int) -> DoctorFinding:
    path, expected = ("/healthz", (200,)) if name == "api" else ("/", (401, 403))
    seen, grade = "", Grade.WRONG
    for attempt in range(tries):
        if attempt:
            await asyncio.sleep(pause_s)
        try:
            status = (await http.get(url + path)).status_code
        except httpx.HTTPError as error:
            seen = f"{url} does not answer ({type(error).__name__})"
            continue
        seen = f"{url}{path} answers {status}"
        if status in expected:
            grade = Grade.WELL
            break
    return DoctorFinding(of=name, what="smoke test", grade=grade, seen=seen)


async def store_first_key(project: str, digest: str) -> bool:
    """Store the first owner with the API key of this digest; False, with nothing stored, where there is an owner already.

    Google's own client finds the database with the application's default credentials.
    """
    clients = GoogleClients(replace(settings.read(), project=project))
    try:
        return await FirestoreOwners(clients).add(Owner(id=OWNER, plan=PLAN, created_at=datetime.now(UTC)), digest)
    finally:
        await clients.close()
