"""The course of a deployment, on doubles of terraform and gcloud that are programs like the real ones."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ferryman.cli import main
from ferryman.operations.deploy import commands, deployment, keychain
from ferryman.operations.deploy.deployment import Deployment
from ferryman.vault import seal, sign
from ferryman.vault.decision_keys import derive_decision_public_key
from tests.operations.deploying.doubles import PROJECT, Cloud, cloud

ROOT = Path(__file__).parents[3]


@pytest.fixture
def fake_cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    fake_cloud = cloud(tmp_path / "cloud", {})
    monkeypatch.setenv("PATH", str(fake_cloud.path))
    return fake_cloud


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout as far as a deployment looks at it: the build itself is tested by its own tests."""
    place = tmp_path / "checkout"
    (place / "infra").mkdir(parents=True)
    (place / "infra" / "functions.json").write_text('{"functions": []}')
    (place / "infra" / "build.py").write_text("")
    return place


def build_deployment(root: Path, messages: list[str] | None = None) -> Deployment:
    found_commands = commands.find_commands(PROJECT, "us-central1", root / "infra")
    return Deployment(commands=found_commands, root=root, tell=(messages if messages is not None else []).append)


@pytest.mark.parametrize(
    ("members", "names"),
    [
        ({"account": ""}, "gcloud auth login"),
        ({"number": ""}, f"the project {PROJECT} is not there"),
        ({"apis": ["iam.googleapis.com"]}, "gcloud services enable cloudbilling.googleapis.com"),
        ({"billing": "False"}, "gcloud billing projects link"),
    ],
    ids=["account", "project", "APIs", "billing"],
)
def test_what_is_missing_is_named_with_the_command_that_brings_it(fake_cloud, root, members, names):
    fake_cloud.change(**members)
    with pytest.raises(commands.CommandMissingError, match=names):
        build_deployment(root).apply()
    assert not [command for command in fake_cloud.log if command[0] == "terraform"]


@pytest.mark.parametrize("program", ["terraform", "gcloud"])
def test_a_program_that_is_missing_is_named(fake_cloud, root, program):
    fake_cloud.without(program)
    with pytest.raises(commands.CommandMissingError, match=program):
        build_deployment(root)


def test_outside_a_checkout_it_says_so(fake_cloud, tmp_path):
    with pytest.raises(commands.CommandMissingError, match="checkout"):
        build_deployment(tmp_path)


def test_tofu_does_as_well_as_terraform(fake_cloud, root):
    (fake_cloud.path / "terraform").rename(fake_cloud.path / "tofu")
    assert build_deployment(root).commands.terraform.endswith("/tofu")


def test_apply_makes_the_secrets_then_the_keys_then_the_rest(fake_cloud, root):
    build_deployment(root).apply()
    done = [
        (command[0], command[2] if command[0] == "terraform" else " ".join(command[1:4]))
        for command in fake_cloud.log
        if command[0] == "terraform" or command[1:4] == ["secrets", "versions", "add"]
    ]
    assert done == [
        ("terraform", "init"),
        ("terraform", "apply"),
        ("gcloud", "secrets versions add"),
        ("gcloud", "secrets versions add"),
        ("gcloud", "secrets versions add"),
        ("gcloud", "secrets versions add"),
        ("terraform", "apply"),
        ("terraform", "output"),
    ]
    first, second = (command for command in fake_cloud.log if command[:1] == ["terraform"] and command[2] == "apply")
    assert "-target=google_secret_manager_secret.this" in first
    assert not [argument for argument in second if argument.startswith("-target")]


def private(fake_cloud: Cloud, secret: str, version: int = 1) -> bytes:
    text = fake_cloud.state["secrets"][secret][version - 1]
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_terraform_is_given_the_public_halves_of_what_is_in_the_secrets(fake_cloud, root):
    build_deployment(root).apply()
    applied = fake_cloud.state["applied"]
    assert applied["sealing_public_key"] == seal.format_public_key(
        1, seal.derive_public_key(private(fake_cloud, keychain.SEALING))
    )
    assert applied["receipt_public_keys"] == {"1": sign.derive_public_key(private(fake_cloud, keychain.RECEIPTS)).hex()}
    secret = private(fake_cloud, keychain.DECISIONS)
    assert applied["decision_public_keys"] == {"1": derive_decision_public_key(secret).hex()}
    assert (applied["project"], applied["region"]) == (PROJECT, "us-central1")


def test_a_deployment_of_before_the_key_for_decisions_is_planned_without_one(fake_cloud, root):
    deployment = build_deployment(root)
    deployment.apply()
    file = root / "build" / f"keys-{PROJECT}.tfvars.json"
    known = json.loads(file.read_text())
    del known["decision_public_keys"]
    file.write_text(json.dumps(known))
    fake_cloud.change(secrets={**fake_cloud.state["secrets"], keychain.DECISIONS: []})
    deployment.plan()
    assert json.loads(file.read_text()) == {**known, "decision_public_keys": keychain.UNMADE["decision_public_keys"]}


def test_no_private_half_is_in_an_argument_a_file_or_a_message(fake_cloud, root):
    messages: list[str] = []
    build_deployment(root, messages).apply()
    output = json.dumps([fake_cloud.log, messages]) + "".join(
        path.read_text("latin-1") for path in root.rglob("*") if path.is_file()
    )
    for secret in (keychain.SEALING, keychain.RECEIPTS, keychain.DECISIONS):
        private_half = private(fake_cloud, secret)
        for spelt in (
            private_half.hex(),
            base64.b64encode(private_half).decode()[:-4],
            base64.urlsafe_b64encode(private_half).decode()[:-4],
        ):
            assert spelt not in output


def test_a_second_apply_makes_no_second_key_and_gives_the_same_halves(fake_cloud, root):
    build_deployment(root).apply()
    before = fake_cloud.state
    build_deployment(root).apply()
    assert fake_cloud.state["secrets"] == before["secrets"]
    assert fake_cloud.state["applied"] == before["applied"]


def test_a_public_half_of_receipts_is_kept_when_its_version_is_gone(fake_cloud, root):
    build_deployment(root).apply()
    public_half = fake_cloud.state["applied"]["receipt_public_keys"]["1"]
    file = root / "build" / f"keys-{PROJECT}.tfvars.json"
    halves = json.loads(file.read_text())
    file.write_text(json.dumps({**halves, "receipt_public_keys": {"9": "ab" * 32, **halves["receipt_public_keys"]}}))
    build_deployment(root).apply()
    assert fake_cloud.state["applied"]["receipt_public_keys"] == {"1": public_half, "9": "ab" * 32}


def test_a_plan_makes_no_key_and_applies_nothing(fake_cloud, root):
    messages: list[str] = []
    build_deployment(root, messages).plan()
    assert fake_cloud.state["secrets"] == {}
    assert [command[2] for command in fake_cloud.log if command[0] == "terraform"] == ["init", "plan"]
    assert "Plan: 2 to add" in messages


def test_what_terraform_finds_wrong_is_told(fake_cloud, root):
    fake_cloud.change(diagnostic="googleapi: Error 403: Quota exceeded")
    with pytest.raises(commands.CommandFailedError, match="Quota exceeded"):
        build_deployment(root).apply()


def test_an_apply_that_was_broken_off_after_the_secrets_goes_on(fake_cloud, root):
    fake_cloud.change(
        secrets={name: [] for name in (keychain.SEALING, keychain.RECEIPTS, keychain.DECISIONS, keychain.REQUESTS)}
    )
    build_deployment(root).apply()
    assert len([command for command in fake_cloud.log if command[0] == "terraform" and command[2] == "apply"]) == 1
    assert all(len(versions) == 1 for versions in fake_cloud.state["secrets"].values())


def test_a_build_that_fails_ends_it_before_anything_is_made(fake_cloud, root):
    (root / "infra" / "build.py").write_text("raise SystemExit('no such module: left-pad')")
    with pytest.raises(commands.CommandFailedError, match="left-pad"):
        build_deployment(root).apply()
    assert not [command for command in fake_cloud.log if command[0] == "terraform"]


def destroyed(root: Path, typed: str) -> Result:
    """Return `ferryman deploy destroy` with this typed where it asks for the project's id."""
    return CliRunner().invoke(
        main, ["deploy", "destroy", "--project", PROJECT, "--root", str(root), "--json"], input=f"{typed}\n"
    )


def test_destroy_unmakes_what_apply_made(fake_cloud, root):
    build_deployment(root).apply()
    halves = json.loads((root / "build" / f"keys-{PROJECT}.tfvars.json").read_text())
    before = len(fake_cloud.log)
    ran = destroyed(root, PROJECT)
    assert (ran.exit_code, json.loads(ran.stdout.splitlines()[-1])) == (0, {"destroyed": True})
    assert (fake_cloud.state["applied"], build_deployment(root).list_addresses()) == (None, {})
    (change,) = [
        command for command in fake_cloud.log[before:] if command[:1] == ["terraform"] and command[2] not in ("init", "output")
    ]
    assert change[2] == "destroy"
    assert {f"-var=project={PROJECT}", "-var=region=us-central1", "-auto-approve"} <= set(change)
    assert json.loads((root / "build" / f"keys-{PROJECT}.tfvars.json").read_text()) == halves
    assert not [command for command in fake_cloud.log[before:] if command[1:4] == ["secrets", "versions", "add"]]


@pytest.mark.parametrize("typed", ["another-project", "", "yes"])
def test_nothing_is_destroyed_unless_the_projects_id_was_typed(fake_cloud, root, typed):
    build_deployment(root).apply()
    before = fake_cloud.state
    ran = destroyed(root, typed)
    assert (ran.exit_code, "destroy" in [command[2] for command in fake_cloud.log if command[0] == "terraform"]) == (
        5 if typed else 1,
        False,
    )
    assert fake_cloud.state == before


def test_what_terraform_protects_is_not_destroyed_and_it_says_so(fake_cloud, root):
    build_deployment(root).apply()
    fake_cloud.change(diagnostic="Instance cannot be destroyed: google_firestore_database.this")
    ran = destroyed(root, PROJECT)
    assert (ran.exit_code, "google_firestore_database.this" in ran.stderr) == (1, True)
    assert fake_cloud.state["applied"]


def test_destroy_builds_since_terraform_reads_the_archives_manifest_before_it_unmakes_anything(fake_cloud, root):
    (root / "infra" / "build.py").write_text("raise SystemExit('no such module: left-pad')")
    ran = destroyed(root, PROJECT)
    assert (ran.exit_code, "left-pad" in ran.stderr) == (1, True)
    assert not [command for command in fake_cloud.log if command[0] == "terraform"]


def test_destroy_checks_the_account_first(fake_cloud, root):
    fake_cloud.change(account="")
    ran = destroyed(root, PROJECT)
    assert (ran.exit_code, "gcloud auth login" in ran.stderr) == (1, True)
    assert not [command for command in fake_cloud.log if command[0] == "terraform"]


def test_apply_tells_its_stages_by_number_and_counts_the_resources(fake_cloud, root):
    counts: list[tuple[str, int, int]] = []
    messages: list[str] = []
    found_commands = commands.find_commands(PROJECT, "us-central1", root / "infra")
    Deployment(commands=found_commands, root=root, tell=messages.append, count=lambda *count: counts.append(count)).apply()
    stages = [message for message in messages if message[:5] in {f"{number} of " for number in range(1, 7)}]
    assert stages == [f"{number} of 6: {stage}" for number, stage in enumerate(deployment.STAGES_TO_APPLY, start=1)]
    one_change = [
        (f"google_secret_manager_secret.{name}: done", done, 2) for done, name in enumerate(("this", "that"), start=1)
    ]
    assert counts == [*one_change, *one_change]  # the secrets alone, then all


async def test_the_smoke_test_counts_the_functions_that_are_decided():
    counts: list[tuple[int, int]] = []
    urls = dict.fromkeys(("api", "webhook", "http_get"), "http://127.0.0.1:1")
    await deployment.run_smoke_test(urls, tries=1, count=lambda _, done, total: counts.append((done, total)))
    assert counts == [(1, 3), (2, 3), (3, 3)]


def test_deploy_plan_prints_plain_lines_where_there_is_no_terminal(fake_cloud, root):
    ran = CliRunner().invoke(main, ["deploy", "plan", "--project", PROJECT, "--root", str(root)])
    assert ran.stdout.splitlines()[0] == "1 of 4: checking the project …"
    assert ran.stdout.splitlines()[-2:] == ["4 of 4: planning …", "Plan: 2 to add …"]
    assert ran.stderr == ""
