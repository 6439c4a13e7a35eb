"""The page of operations, typed as it is written: `make operations`. It takes a minute, and so is not among the tests.

Beside a local stack, in a copy of the checkout; terraform and gcloud are the doubles that the tests of `ferryman deploy` use,
whose secrets are the local stack's.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ferryman.composition.operator import DECISION_KEY, RECEIPT_KEY, SEALING_KEY
from ferryman.gcp.key_store import SecretManagerKeyStore
from ferryman.stack.admin import read_token
from ferryman.vault import seal, sign
from ferryman.vault.decision_keys import derive_decision_public_key, select_valid
from tests.campaigns.operations.page import PAGE, Command, commands
from tests.journeys.conftest import FERRYMAN, Journey, asks, call, says
from tests.journeys.test_command_line import Shell
from tests.operations.deploying.doubles import Cloud, cloud

HOST = "lunarcrush.com"
LONGEST_S = 600


@pytest.fixture
def google(stack: Any, tmp_path: Path) -> Cloud:
    fake_cloud = cloud(tmp_path / "cloud", stack["functions"], project=stack["project"])
    fake_cloud.change(admin=stack["admin"], bearer={"Authorization": f"Bearer {read_token(stack['env'])}"})
    return fake_cloud


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """The deployment that the local stack replaces: Google Cloud as two doubles, and the checkout that it was deployed from."""

    journey: Journey
    google: Cloud
    checkout: Path

    async def keep(self) -> None:
        """Tell the deployment what was done beside the local stack, which both share: the versions of the keys."""
        project, secrets, public = self.journey.stack["project"], {}, {}
        for name in (SEALING_KEY, RECEIPT_KEY, DECISION_KEY):
            key_store = SecretManagerKeyStore(self.journey.clients, project, name)
            known = sorted(await key_store.list_versions(), key=lambda version: version.number)
            private = {version.number: await key_store.private(version.number) if version.enabled else b"" for version in known}
            secrets[name] = [base64.urlsafe_b64encode(key).decode().rstrip("=") for key in private.values()]
            public[name] = {number: key for number, key in private.items() if key}
        self.google.change(secrets=secrets)
        file, newest = self.checkout / "build" / f"keys-{project}.tfvars.json", max(public[SEALING_KEY])
        if file.exists():
            sealing = seal.format_public_key(newest, seal.derive_public_key(public[SEALING_KEY][newest]))
            receipts = {str(number): sign.derive_public_key(key).hex() for number, key in public[RECEIPT_KEY].items()}
            decisions = {
                str(number): derive_decision_public_key(public[DECISION_KEY][number]).hex()
                for number in select_valid(public[DECISION_KEY])
            }
            keys = {"receipt_public_keys": receipts, "decision_public_keys": decisions}
            file.write_text(json.dumps({"sealing_public_key": sealing, **keys}))


async def run_execution(journey: Journey) -> tuple[str, str]:
    """Return a task that has a credential, and an execution of it, as the stack's own owner has them."""
    await journey.serve(HOST)
    uses = call("api_call", method="GET", url=journey.url(HOST), credential="LUNARCRUSH_API_KEY")
    task = await journey.task(asks(uses), says("Done."), tools=["api_call"], integrations=["lunarcrush"])
    await journey.credential(task, "LUNARCRUSH_API_KEY", "lunarcrush")
    record = await journey.run(task)
    assert record["status"] == "completed"
    return task, str(record["execution_id"])


def around(stack: Mapping[str, Any], google: Cloud, key: str) -> dict[str, str]:
    """Return the environment of an operator of the deployment that the local stack replaces."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith(("FERRYMAN_", "MAKE", "MFLAGS"))}
    cloud_env = {name: value for name, value in stack["env"].items() if name != "FERRYMAN_PRETEND_INTERNET"}
    path = f"{google.path}:{FERRYMAN.parent}:{os.environ['PATH']}"
    return {**mine, **cloud_env, "FERRYMAN_DATA": str(stack["data"]), "FERRYMAN_KEY": key, "PATH": path}


@pytest.mark.timeout(1_200)
async def test_every_command_of_the_page_does_what_it_says(
    stack: Any, journey: Journey, google: Cloud, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(stack)
    assert (await shell("owner", "add", "ann", "--plan", "guru")).code == 0
    journey.client._http.headers["Authorization"] = f"Bearer {shell.key}"
    task, execution = await run_execution(journey)
    names = {"PROJECT": stack["project"], "TASK": task, "EXECUTION": execution}
    env = {**around(stack, google, shell.key), "FERRYMAN_URL": stack["url"], **names}
    deployment = Deployment(journey=journey, google=google, checkout=checkout)
    known, typed = list(commands(PAGE.read_text())), 0
    for entry in known:
        if entry.assigns is not None:
            assert entry.assigns in env, f"{entry.text}: nobody says what it is"
            continue
        if entry.not_typed is None:
            await deployment.keep()
            await asyncio.to_thread(run, entry, checkout, env)
            typed += 1
    with capsys.disabled():
        others = sum(item.not_typed is not None for item in known)
        sys.stdout.write(f"\n{typed} commands typed, {others} need Google Cloud or are listed with another reason\n")
    document = await journey.clients.firestore().document(f"executions/{execution}").get()
    assert (document.get("expire_at") - document.get("completed_at")).days == 90


def run(command: Command, place: Path, env: Mapping[str, str]) -> None:
    """Type it; what it asks for is answered with the project's id."""
    began = time.monotonic()
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command.text],
        cwd=place,
        env=dict(env),
        input=f"{env['PROJECT']}\n",
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert ran.returncode == 0, f"{command.section}: {command.text}\n{ran.stdout}{ran.stderr}"
    sys.stdout.write(f"{time.monotonic() - began:5.1f} s  {command.text}\n")
