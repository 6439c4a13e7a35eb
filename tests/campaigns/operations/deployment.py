"""A deployment whose functions are the local stack's: made, and its keys rotated; `make operations`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ferryman.client import AsyncClient
from ferryman.composition.operator import RECEIPT_KEY, SEALING_KEY
from ferryman.gcp.key_store import SecretManagerKeyStore
from ferryman.stack.admin import read_token
from ferryman.vault import seal, sign
from tests.journeys.conftest import Journey, says
from tests.journeys.test_command_line import Shell
from tests.operations.deploying.doubles import cloud


@pytest.fixture
def ferryman(stack: Any) -> Shell:
    return Shell(stack)


async def test_apply_builds_makes_tries_and_hands_out_a_key_once(
    stack: Any, ferryman: Shell, checkout: Path, tmp_path: Path
) -> None:
    fake_cloud = cloud(tmp_path / "cloud", stack["functions"], project=stack["project"])
    options = ["--project", stack["project"], "--root", str(checkout), "--pause", "0.1", "--json"]
    around = {**stack["env"], "PATH": f"{fake_cloud.path}:{os.environ['PATH']}"}

    applied = await ferryman("deploy", "apply", *options, **around)

    assert applied.code == 0, applied.err
    assert {item["of"]: item["grade"] for item in applied.json["findings"]} == dict.fromkeys(stack["functions"], "ok")
    async with AsyncClient(applied.json["url"], applied.json["key"]) as client:
        assert (await client.get_me())["owner"] == "owner"
    manifest = json.loads((checkout / "build/functions.json").read_text())
    assert set(manifest) == set(stack["functions"])
    assert all((checkout / entry["archive"]).exists() for entry in manifest.values())
    again = await ferryman("deploy", "apply", *options, **around)
    assert (again.code, again.json["key"]) == (0, None)


async def test_the_keys_of_a_deployment_are_rotated_through_terraform_and_the_doctor_agrees(
    journey: Journey, stack: Any, ferryman: Shell, checkout: Path, tmp_path: Path
) -> None:
    project = stack["project"]
    fake_cloud = cloud(tmp_path / "cloud", stack["functions"], project=project)
    fake_cloud.change(
        applied={"project": project}, admin=stack["admin"], bearer={"Authorization": f"Bearer {read_token(stack['env'])}"}
    )
    sealing, receipts = (SecretManagerKeyStore(journey.clients, project, secret) for secret in (SEALING_KEY, RECEIPT_KEY))
    newest = max(version.number for version in await sealing.list_versions() if version.enabled)
    halves = {
        "sealing_public_key": seal.format_public_key(newest, seal.derive_public_key(await sealing.private(newest))),
        "receipt_public_keys": {
            str(version.number): sign.derive_public_key(await receipts.private(version.number)).hex()
            for version in await receipts.list_versions()
        },
        "decision_public_keys": await journey.client.list_decision_keys(),
    }
    (checkout / "build").mkdir()
    file = checkout / "build" / f"keys-{project}.tfvars.json"
    file.write_text(json.dumps(halves))
    task = await journey.task(says("Done."), integrations=["lunarcrush"])
    await journey.credential(task, "LUNARCRUSH_API_KEY", "lunarcrush")
    options = ["--project", project, "--root", str(checkout), "--json"]
    service = {"FERRYMAN_URL": stack["url"], "FERRYMAN_KEY": ferryman.key}
    around = {**stack["env"], **service, "PATH": f"{fake_cloud.path}:{os.environ['PATH']}"}
    around = {name: value for name, value in around.items() if name != "FERRYMAN_PRETEND_INTERNET"}

    rotated = await ferryman("keys", "rotate", *options, **around)

    assert rotated.code == 0, rotated.err
    assert rotated.json["version"] == newest + 1
    assert json.loads(file.read_text())["sealing_public_key"] == fake_cloud.state["applied"]["sealing_public_key"]
    assert fake_cloud.state["applied"]["sealing_public_key"].startswith(f"{newest + 1}:")
    signed = await ferryman("keys", "rotate", "receipts", *options, **around)
    assert signed.code == 0, signed.err
    assert str(signed.json["version"]) in await journey.client.list_receipt_keys()
    decided = await ferryman("keys", "rotate", "decisions", *options, **around)
    assert decided.code == 0, decided.err
    assert str(decided.json["version"]) in await journey.client.list_decision_keys()
    looked = await ferryman("doctor", *options, **around)
    assert [element for element in looked.json["findings"] if element["grade"] == "wrong"] == [], looked.err
