"""The course of a deployment: check, build, make the secrets, put the keys in, make the rest, try it, hand out a key."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import httpx

from ferryman import settings
from ferryman.domain.finding import DoctorFinding, Grade
from ferryman.domain.owners.owner import Owner
from ferryman.domain.workspaces.adoption import Adoption
from ferryman.gcp.adoption import FirestoreAdoption
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.owners import FirestoreOwners
from ferryman.operations.deploy import keychain
from ferryman.operations.deploy.commands import CommandFailedError, CommandMissingError, Commands, Count, find_commands

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

STAGES_TO_PLAN = ("checking the project", "building the archives", "fetching what Terraform needs", "planning")
STAGES_TO_APPLY = (*STAGES_TO_PLAN[:3], "making the secrets, still empty", "putting the keys in", "making the rest")
STAGES_TO_DESTROY = (*STAGES_TO_PLAN[:3], "destroying")
"""What a command goes through, in this order; each is told with its number when it begins."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One deployment: the programs, the checkout it is built from, who hears of its progress, and the pause between tries.

    `tell` hears of each stage and of what was found, `count` how many resources or functions are done, of all.
    """

    commands: Commands
    root: Path
    tell: Tell
    count: Count = lambda *_: None
    pause_s: float = PAUSE_S

    @classmethod
    def find(cls, project: str, region: str, root: Path, **options: Any) -> Self:
        """Return the deployment of the checkout at `root` in `project`; `options` are the other fields.

        Raise `CommandMissingError`.
        """
        return cls(commands=find_commands(project, region, root / "infra"), root=root, **options)

    @property
    def variables(self) -> dict[str, str]:
        """Terraform's variables besides the keys; it finds the archives through `build/functions.json`."""
        return {"project": self.commands.project, "region": self.commands.region}

    def prepare(self, stages: Iterator[str]) -> None:
        """Check everything, build the archives, and fetch what Terraform needs. Raise `CommandMissingError` or
        `CommandFailedError`."""
        self.tell(next(stages))
        check_prerequisites(self.commands, self.tell)
        self.tell(next(stages))
        built = subprocess.run(
            [sys.executable, "-m", "infra.build"], cwd=self.root, capture_output=True, text=True, check=False
        )
        if built.returncode:
            raise CommandFailedError(f"the build ended with {built.returncode}: {built.stderr.strip()}")
        self.tell(next(stages))
        self.commands.init()

    def plan(self) -> None:
        """Tell what would be made or changed; nothing is, and no key is made."""
        stages = _number(STAGES_TO_PLAN)
        self.prepare(stages)
        self.tell(next(stages))
        self._change("plan", self._keys(make=False))

    def apply(self) -> dict[str, str]:
        """Make it, or bring it up to date; the functions' addresses. Repeatable wherever it broke off."""
        stages = _number(STAGES_TO_APPLY)
        self.prepare(stages)
        self.tell(next(stages))
        if not keychain.has_secrets(self.commands):
            self._change("apply", self._keys(make=False), CONTAINERS)
        self.tell(next(stages))
        keys = self._keys(make=True)
        self.tell(next(stages))
        self._change("apply", keys)
        return self.list_addresses()

    def destroy(self) -> None:
        """Delete all of it. Raise `CommandFailedError` where Terraform protects something, with what it is.

        The archives are built all the same: Terraform reads its files before it deletes anything, and they name them.
        """
        stages = _number(STAGES_TO_DESTROY)
        self.prepare(stages)
        self.tell(next(stages))
        self._change("destroy", self._keys(make=False))

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
        self._change("apply", pending)
        pending.replace(self.keys_file)

    def _change(self, verb: str, keys: Path, *more: str) -> None:
        self.commands.change(verb, self.variables, [keys], self.tell, self.count, *more)

    def _keys(self, *, make: bool) -> Path:
        return keychain.write_public_keys(self.keys_file, keychain.load_public_keys(self.commands, self.tell, make=make))


def _number(stages: Sequence[str]) -> Iterator[str]:
    """Yield each of the stages with its number, of all."""
    return (f"{number} of {len(stages)}: {stage}" for number, stage in enumerate(stages, start=1))


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


async def run_smoke_test(
    urls: Mapping[str, str], *, pause_s: float = PAUSE_S, tries: int = TRIES, count: Count = lambda *_: None
) -> list[DoctorFinding]:
    """Run the smoke test: the API answers, and every other function refuses a request without a token.

    `count` hears of each function once it is decided, of all.
    """
    done = itertools.count(1)

    async def try_one(name: str, url: str) -> DoctorFinding:
        finding = await _try_function(http, name, url, pause_s, tries)
        count(f"tried {name}", next(done), len(urls))
        return finding

    async with httpx.AsyncClient(trust_env=False, timeout=ANSWERS_S, follow_redirects=False) as http:
        return await asyncio.gather(*(try_one(name, url) for name, url in urls.items()))


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


async def adopt_former_documents(project: str, tell: Tell) -> Adoption | None:
    """Put what was stored before there were workspaces into its owner's default one; None where there was nothing to do.

    Instances of the version before may still run. Raise `UnavailableError`: the next run goes on where this one was.
    """
    clients = GoogleClients(replace(settings.read(), project=project))
    try:
        return await FirestoreAdoption(clients).run(tell, lambda: datetime.now(UTC), is_quiet=False)
    finally:
        await clients.close()
