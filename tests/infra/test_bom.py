"""The software bill of materials: the standard's own schema takes it, and it lists what an archive needs and nothing else."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from infra import bom, build, lock

FUNCTIONS = build.functions()
BILLS = ("sbom.cdx.json", *(f"sbom/{name}.cdx.json" for name in FUNCTIONS))


@pytest.fixture(scope="module")
def archives(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("build")
    build.build(out=out)
    return out


def bill(archives: Path, path: str) -> dict:
    return json.loads((archives / path).read_text())


@pytest.fixture(scope="module")
def validator() -> JsonStrictValidator:
    """The schema, read once."""
    return JsonStrictValidator(SchemaVersion.V1_6)


@pytest.mark.parametrize("path", BILLS)
def test_the_schema_of_the_standard_takes_it(archives, validator, path):
    assert validator.validate_str((archives / path).read_text()) is None


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_bill_of_a_function_lists_the_packages_of_its_archive(archives, function):
    listed = {(item["name"], item["version"]) for item in bill(archives, f"sbom/{function}.cdx.json")["components"]}
    pins = lock.read(build.archive(function).files["requirements.txt"].decode())
    assert listed == {(name, pin.version) for name, pin in pins.items()}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_bill_of_a_function_names_the_archive_by_its_hash(archives, function):
    subject = bill(archives, f"sbom/{function}.cdx.json")["metadata"]["component"]
    archive = next(
        (archives / "functions").glob(f"{function}-????????????????????????????????????????????????????????????????.zip")
    )
    assert subject["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(archive.read_bytes()).hexdigest()}]


@pytest.mark.parametrize("path", BILLS)
def test_every_package_has_its_url_and_the_hashes_of_the_lock(archives, path):
    hashes = {}
    for file in (build.ROOT / "requirements.lock", *(build.ROOT / "locks").glob("*.lock")):
        hashes |= {bom.purl(name, pin): set(pin.hashes) for name, pin in lock.read(file.read_text()).items()}
    for entry in bill(archives, path)["components"]:
        if entry["type"] == "library":
            assert entry["purl"] == f"pkg:pypi/{entry['name']}@{entry['version']}"
            assert {item["content"] for item in entry["hashes"]} == hashes[entry["purl"]]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_package_that_a_function_always_installs_names_its_licence(archives, function):
    required = [item for item in bill(archives, f"sbom/{function}.cdx.json")["components"] if item["scope"] == "required"]
    assert [entry["name"] for entry in required if not entry.get("licenses")] == []


def test_whatever_is_in_any_lock_is_in_the_bill_of_the_whole(archives):
    listed = {item.get("purl") for item in bill(archives, "sbom.cdx.json")["components"]}
    for file in (build.ROOT / "requirements.lock", *(build.ROOT / "locks").glob("*.lock")):
        assert {bom.purl(name, pin) for name, pin in lock.read(file.read_text()).items()} <= listed


def test_what_only_tests_and_tools_need_is_excluded_from_the_scope(archives):
    scopes = {item["name"]: item.get("scope") for item in bill(archives, "sbom.cdx.json")["components"]}
    assert {scopes[name] for name in ("mypy", "hypothesis", "uv", "hatchling", "atheris", "msgpack")} == {"excluded"}
    assert {scopes[name] for name in ("httpx", "cryptography", "anyio")} == {"required"}


@pytest.mark.parametrize("path", BILLS)
def test_every_package_is_needed_by_something_that_the_bill_is_of(archives, path):
    read = bill(archives, path)
    needs = {item["ref"]: item["dependsOn"] for item in read["dependencies"]}
    waiting, reached = [read["metadata"]["component"]["bom-ref"]], set()
    while waiting:
        reached.add(reference := waiting.pop())
        waiting += [need for need in needs[reference] if need not in reached]
    excluded = {entry["bom-ref"] for entry in read["components"] if entry.get("scope") == "excluded"}
    assert set(needs) - excluded <= reached


def test_a_changed_pin_changes_the_serial_number():
    pins = lock.read("left-pad==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\n")
    other = lock.read("left-pad==1.1 \\\n    --hash=sha256:" + "0" * 64 + "\n")
    subject = bom.Subject(name="ferryman", version="0.1.0")
    assert len({json.loads(bom.write(subject, [item], ["left-pad"]))["serialNumber"] for item in (pins, other, pins)}) == 2
