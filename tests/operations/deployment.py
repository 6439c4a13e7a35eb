"""A deployment whose functions are the local stack's: made, and its keys rotated; `make operations`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ferryman.client import Client
from ferryman.gcp.ring import SecretManagerRing
from ferryman.vault import seal, sign
from ferryman.wiring.operator import RECEIPT_KEY, SEALING_KEY
from tests.deploying.doubles import cloud
from tests.journeys.conftest import Journey, says
from tests.journeys.test_command_line import Shell


@pytest.fixture
def ferryman(stack: Any) -> Shell:
    return Shell(stack)


async def test_apply_builds_makes_tries_and_hands_out_a_key_once(
    stack: Any, ferryman: Shell, checkout: Path, tmp_path: Path
) -> None:
    made = cloud(tmp_path / "cloud", stack["functions"], project=stack["project"])
    given = ["--project", stack["project"], "--root", str(checkout), "--pause", "0.1", "--json"]
    around = {**stack["env"], "PATH": f"{made.path}:{os.environ['PATH']}"}

    applied = await ferryman("deploy", "apply", *given, **around)

    assert applied.code == 0, applied.err
    assert {each["of"]: each["grade"] for each in applied.json["findings"]} == dict.fromkeys(stack["functions"], "ok")
    async with Client(applied.json["url"], applied.json["key"]) as client:
        assert (await client.me())["owner"] == "owner"
    manifest = json.loads((checkout / "build/functions.json").read_text())
    assert set(manifest) == set(stack["functions"])
    assert all((checkout / each["archive"]).exists() for each in manifest.values())
    again = await ferryman("deploy", "apply", *given, **around)
    assert (again.code, again.json["key"]) == (0, None)


async def test_the_keys_of_a_deployment_are_rotated_through_terraform_and_the_doctor_agrees(
    journey: Journey, stack: Any, ferryman: Shell, checkout: Path, tmp_path: Path
) -> None:
    project = stack["project"]
    made = cloud(tmp_path / "cloud", stack["functions"], project=project)
    made.change(applied={"project": project}, admin=stack["admin"])
    sealing, receipts = (SecretManagerRing(journey.clients, project, each) for each in (SEALING_KEY, RECEIPT_KEY))
    newest = max(each.number for each in await sealing.versions() if each.enabled)
    halves = {
        "sealing_public_key": seal.text_of(newest, seal.public_of(await sealing.private(newest))),
        "receipt_public_keys": {
            str(each.number): sign.public_of(await receipts.private(each.number)).hex() for each in await receipts.versions()
        },
    }
    (checkout / "build").mkdir()
    file = checkout / "build" / f"keys-{project}.tfvars.json"
    file.write_text(json.dumps(halves))
    task = await journey.task(says("Done."), integrations=["lunarcrush"])
    await journey.credential(task, "LUNARCRUSH_API_KEY", "lunarcrush")
    given = ["--project", project, "--root", str(checkout), "--json"]
    service = {"FERRYMAN_URL": stack["url"], "FERRYMAN_KEY": ferryman.key}
    around = {**stack["env"], **service, "PATH": f"{made.path}:{os.environ['PATH']}"}
    around = {name: value for name, value in around.items() if name != "FERRYMAN_PRETEND_INTERNET"}

    rotated = await ferryman("keys", "rotate", *given, **around)

    assert rotated.code == 0, rotated.err
    assert rotated.json["version"] == newest + 1
    assert json.loads(file.read_text())["sealing_public_key"] == made.known["applied"]["sealing_public_key"]
    assert made.known["applied"]["sealing_public_key"].startswith(f"{newest + 1}:")
    signed = await ferryman("keys", "rotate", "receipts", *given, **around)
    assert signed.code == 0, signed.err
    assert str(signed.json["version"]) in await journey.client.receipt_keys()
    looked = await ferryman("doctor", *given, **around)
    assert [each for each in looked.json["findings"] if each["grade"] == "wrong"] == [], looked.err
