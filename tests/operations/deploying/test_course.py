"""The course of a deployment, on doubles of terraform and gcloud that are programs like the real ones."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ferryman.cli import main
from ferryman.operations.deploy import commands, keychain
from ferryman.operations.deploy.deployment import Deployment
from ferryman.vault import seal, sign
from tests.operations.deploying.doubles import PROJECT, Cloud, cloud

ROOT = Path(__file__).parents[3]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    made = cloud(tmp_path / "cloud", {})
    monkeypatch.setenv("PATH", str(made.path))
    return made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout as far as a deployment looks at it: the build itself is tested by its own tests."""
    place = tmp_path / "checkout"
    (place / "infra").mkdir(parents=True)
    (place / "infra" / "functions.json").write_text('{"functions": []}')
    (place / "infra" / "build.py").write_text("")
    return place


def course(root: Path, told: list[str] | None = None) -> Deployment:
    found = commands.find_commands(PROJECT, "us-central1", root / "infra")
    return Deployment(commands=found, root=root, tell=(told if told is not None else []).append)


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
def test_what_is_missing_is_named_with_the_command_that_brings_it(made, root, members, names):
    made.change(**members)
    with pytest.raises(commands.CommandMissingError, match=names):
        course(root).apply()
    assert not [each for each in made.log if each[0] == "terraform"]


@pytest.mark.parametrize("program", ["terraform", "gcloud"])
def test_a_program_that_is_missing_is_named(made, root, program):
    made.without(program)
    with pytest.raises(commands.CommandMissingError, match=program):
        course(root)


def test_outside_a_checkout_it_says_so(made, tmp_path):
    with pytest.raises(commands.CommandMissingError, match="checkout"):
        course(tmp_path)


def test_tofu_does_as_well_as_terraform(made, root):
    (made.path / "terraform").rename(made.path / "tofu")
    assert course(root).commands.terraform.endswith("/tofu")


def test_apply_makes_the_secrets_then_the_keys_then_the_rest(made, root):
    course(root).apply()
    done = [
        (each[0], each[2] if each[0] == "terraform" else " ".join(each[1:4]))
        for each in made.log
        if each[0] == "terraform" or each[1:4] == ["secrets", "versions", "add"]
    ]
    assert done == [
        ("terraform", "init"),
        ("terraform", "apply"),
        ("gcloud", "secrets versions add"),
        ("gcloud", "secrets versions add"),
        ("terraform", "apply"),
        ("terraform", "output"),
    ]
    first, second = (each for each in made.log if each[:1] == ["terraform"] and each[2] == "apply")
    assert "-target=google_secret_manager_secret.this" in first
    assert not [each for each in second if each.startswith("-target")]


def private(made: Cloud, secret: str, version: int = 1) -> bytes:
    text = made.known["secrets"][secret][version - 1]
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_terraform_is_given_the_public_halves_of_what_is_in_the_secrets(made, root):
    course(root).apply()
    applied = made.known["applied"]
    assert applied["sealing_public_key"] == seal.format_public_key(1, seal.derive_public_key(private(made, keychain.SEALING)))
    assert applied["receipt_public_keys"] == {"1": sign.derive_public_key(private(made, keychain.RECEIPTS)).hex()}
    assert (applied["project"], applied["region"]) == (PROJECT, "us-central1")


def test_no_private_half_stands_in_an_argument_a_file_or_what_is_told(made, root):
    told: list[str] = []
    course(root, told).apply()
    said = json.dumps([made.log, told]) + "".join(each.read_text("latin-1") for each in root.rglob("*") if each.is_file())
    for secret in (keychain.SEALING, keychain.RECEIPTS):
        kept = private(made, secret)
        for spelt in (kept.hex(), base64.b64encode(kept).decode()[:-4], base64.urlsafe_b64encode(kept).decode()[:-4]):
            assert spelt not in said


def test_a_second_apply_makes_no_second_key_and_gives_the_same_halves(made, root):
    course(root).apply()
    before = made.known
    course(root).apply()
    assert made.known["secrets"] == before["secrets"]
    assert made.known["applied"] == before["applied"]


def test_a_public_half_of_receipts_is_kept_when_its_version_is_gone(made, root):
    course(root).apply()
    held = made.known["applied"]["receipt_public_keys"]["1"]
    file = root / "build" / f"keys-{PROJECT}.tfvars.json"
    halves = json.loads(file.read_text())
    file.write_text(json.dumps({**halves, "receipt_public_keys": {"9": "ab" * 32, **halves["receipt_public_keys"]}}))
    course(root).apply()
    assert made.known["applied"]["receipt_public_keys"] == {"1": held, "9": "ab" * 32}


def test_a_plan_makes_no_key_and_applies_nothing(made, root):
    told: list[str] = []
    course(root, told).plan()
    assert made.known["secrets"] == {}
    assert [each[2] for each in made.log if each[0] == "terraform"] == ["init", "plan"]
    assert "plan complete: 66 added" in told


def test_what_terraform_finds_wrong_is_told(made, root):
    made.change(diagnostic="googleapi: Error 403: Quota exceeded")
    with pytest.raises(commands.CommandFailedError, match="Quota exceeded"):
        course(root).apply()


def test_an_apply_that_was_broken_off_after_the_secrets_goes_on(made, root):
    made.change(secrets={keychain.SEALING: [], keychain.RECEIPTS: []})
    course(root).apply()
    assert len([each for each in made.log if each[0] == "terraform" and each[2] == "apply"]) == 1
    assert all(len(versions) == 1 for versions in made.known["secrets"].values())


def test_a_build_that_fails_ends_it_before_anything_is_made(made, root):
    (root / "infra" / "build.py").write_text("raise SystemExit('no such module: left-pad')")
    with pytest.raises(commands.CommandFailedError, match="left-pad"):
        course(root).apply()
    assert not [each for each in made.log if each[0] == "terraform"]


def destroyed(root: Path, typed: str) -> Result:
    """`ferryman deploy destroy` with this typed where it asks for the project's id."""
    return CliRunner().invoke(
        main, ["deploy", "destroy", "--project", PROJECT, "--root", str(root), "--json"], input=f"{typed}\n"
    )


def test_destroy_unmakes_what_apply_made(made, root):
    course(root).apply()
    halves = json.loads((root / "build" / f"keys-{PROJECT}.tfvars.json").read_text())
    before = len(made.log)
    ran = destroyed(root, PROJECT)
    assert (ran.exit_code, json.loads(ran.stdout.splitlines()[-1])) == (0, {"destroyed": True})
    assert (made.known["applied"], course(root).list_addresses()) == (None, {})
    (change,) = [each for each in made.log[before:] if each[:1] == ["terraform"] and each[2] not in ("init", "output")]
    assert change[2] == "destroy"
    assert {f"-var=project={PROJECT}", "-var=region=us-central1", "-auto-approve"} <= set(change)
    assert json.loads((root / "build" / f"keys-{PROJECT}.tfvars.json").read_text()) == halves
    assert not [each for each in made.log[before:] if each[1:4] == ["secrets", "versions", "add"]]


@pytest.mark.parametrize("typed", ["another-project", "", "yes"])
def test_nothing_is_destroyed_unless_the_projects_id_was_typed(made, root, typed):
    course(root).apply()
    before = made.known
    ran = destroyed(root, typed)
    assert (ran.exit_code, "destroy" in [each[2] for each in made.log if each[0] == "terraform"]) == (5 if typed else 1, False)
    assert made.known == before


def test_what_terraform_protects_is_not_destroyed_and_it_says_so(made, root):
    course(root).apply()
    made.change(diagnostic="Instance cannot be destroyed: google_firestore_database.this")
    ran = destroyed(root, PROJECT)
    assert (ran.exit_code, "google_firestore_database.this" in ran.stderr) == (1, True)
    assert made.known["applied"]


def test_destroy_builds_since_terraform_reads_the_archives_manifest_before_it_unmakes_anything(made, root):
    (root / "infra" / "build.py").write_text("raise SystemExit('no such module: left-pad')")
    ran = destroyed(root, PROJECT)
    assert (ran.exit_code, "left-pad" in ran.stderr) == (1, True)
    assert not [each for each in made.log if each[0] == "terraform"]


def test_destroy_checks_the_account_first(made, root):
    made.change(account="")
    ran = destroyed(root, PROJECT)
    assert (ran.exit_code, "gcloud auth login" in ran.stderr) == (1, True)
    assert not [each for each in made.log if each[0] == "terraform"]
