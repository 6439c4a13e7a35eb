"""What is uploaded: the same bytes for the same sources, and in each archive what its function needs and nothing else."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from infra import build, imports, lock

FUNCTIONS = build.functions()
TOOLS = ("api_call", "http_get", "http_post", "http_tool", "mcp_tool", "webhook")
SHARE_MAX = 0.6
"""An archive's size, as a share of the whole library's: no function is given all of it. An eighth of the largest archive are
hashes of packages and the ZIP's own tables."""


def measure_library() -> int:
    """Return the bytes of the whole library's files."""
    files = (path for path in (build.ROOT / "lib").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sum(path.stat().st_size for path in files)


@pytest.fixture(scope="module")
def archives() -> dict[str, build.Archive]:
    return {name: build.archive(name) for name in FUNCTIONS}


def copied(to: Path) -> Path:
    """Return the sources that a build reads, copied: other times, other permissions, another place."""
    for part in ("lib", "functions"):
        shutil.copytree(
            build.ROOT / part, to / part, copy_function=shutil.copyfile, ignore=shutil.ignore_patterns("__pycache__")
        )
    (to / "infra").mkdir()
    shutil.copyfile(build.ROOT / "infra/functions.json", to / "infra/functions.json")
    for file in ("requirements.lock", "pyproject.toml"):
        shutil.copyfile(build.ROOT / file, to / file)
    shutil.copytree(build.ROOT / "locks", to / "locks")
    return to


def test_two_builds_in_different_folders_are_the_same_to_the_byte(tmp_path):
    here, there = copied(tmp_path / "here"), copied(tmp_path / "somewhere/else")
    for file in there.rglob("*.py"):
        file.chmod(0o755)
        os.utime(file, (0, 0))
    assert build.build(here) == build.build(there)
    archives = [{item.name: item.read_bytes() for item in (root / "build").rglob("*.*")} for root in (here, there)]
    assert archives[0] == archives[1]
    assert len(archives[0]) == 2 * len(FUNCTIONS) + 2  # an archive and a bill each, the manifest, the bill of the whole


def test_the_name_of_an_archive_has_its_hash_and_the_manifest_says_both(tmp_path):
    root = copied(tmp_path)
    manifest = build.build(root)
    assert json.loads((root / "build/functions.json").read_text()) == manifest
    for name, entry in manifest.items():
        packed = (root / entry["archive"]).read_bytes()
        assert entry["sha256"] == hashlib.sha256(packed).hexdigest()
        assert entry["archive"] == f"build/functions/{name}-{entry['sha256']}.zip"


def test_a_change_in_one_room_changes_the_functions_that_use_it_and_no_other(tmp_path):
    root = copied(tmp_path)
    before = build.build(root)
    gate = root / "lib/ferryman/egress/gate.py"
    gate.write_text(gate.read_text() + "\n# changed\n")
    after = build.build(root)
    assert {name for name in before if before[name] != after[name]} == set(TOOLS)
    assert len(list((root / "build/functions").iterdir())) == len(FUNCTIONS)


def test_files_in_an_archive_have_no_time_no_owner_and_the_same_permissions(archives):
    with zipfile.ZipFile(io.BytesIO(archives["api"].packed())) as file:
        entries = file.infolist()
    assert {(entry.date_time, entry.external_attr >> 16, entry.compress_type) for entry in entries} == {
        (build.EPOCH, build.MODE, zipfile.ZIP_STORED)
    }
    assert [item.filename for item in entries] == sorted(element.filename for element in entries)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_archive_holds_its_main_its_requirements_and_a_part_of_the_library(function, archives):
    archive = archives[function]
    assert archive.files["main.py"] == (build.ROOT / "functions" / function / "main.py").read_bytes()
    rest = set(archive.files) - {"main.py", "requirements.txt"}
    assert rest
    assert all(name.startswith("ferryman/") for name in rest)
    assert not any(
        name.startswith(tuple(f"ferryman/{unit}" for unit in ("cli", "client", "inmemory", "stack", "replay", "operations")))
        for name in rest
    )
    assert len(archive.packed()) < SHARE_MAX * measure_library()


def test_the_api_holds_no_gate_and_nothing_that_opens(archives):
    for module in ("egress/gate.py", "egress/send.py", "vault/vault.py", "gcp/keys.py", "models/anthropic.py"):
        assert f"ferryman/{module}" not in archives["api"].files


def test_the_orchestrator_holds_nothing_that_opens_and_no_way_out(archives):
    files = archives["orchestrator"].files
    assert "ferryman/models/anthropic.py" in files
    assert not [name for name in files if name.startswith(("ferryman/egress", "ferryman/vault/vault", "ferryman/gcp/keys"))]


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_holds_no_model_and_no_loop(tool, archives):
    archive = archives[tool]
    assert "ferryman/egress/gate.py" in archive.files
    assert not [name for name in archive.files if name.startswith(("ferryman/models", "ferryman/loop"))]
    assert "anthropic" not in archive.packages
    assert "fastapi" not in archive.packages


def test_only_the_api_needs_a_web_framework_and_only_the_orchestrator_the_models_sdk(archives):
    assert [name for name in FUNCTIONS if "fastapi" in archives[name].packages] == ["api"]
    assert [name for name in FUNCTIONS if "anthropic" in archives[name].packages] == ["orchestrator"]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_has_the_clients_of_the_services_that_the_table_lets_it_use_and_no_other(function, archives):
    row = next(
        load for load in json.loads((build.ROOT / "infra/functions.json").read_text())["functions"] if load["name"] == function
    )
    uses = {"firestore": row["firestore"] != "-", "secret-manager": bool(row["secrets"]), "tasks": bool(row["enqueues"])}
    clients = {name for name in archives[function].packages if name.startswith("google-cloud-")} - {"google-cloud-core"}
    assert clients == {f"google-cloud-{service}" for service, used in uses.items() if used}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_requirement_is_imported_by_the_archive_or_needed_by_one_that_is(function, archives):
    archive = archives[function]
    imported = {name for path, text in archive.files.items() if path.endswith(".py") for name in imported_by(text.decode())}
    pins = lock.read(archive.files["requirements.txt"].decode())
    stated = {name: Requirement(pin.lines[0].rstrip(" \\")).marker for name, pin in pins.items()}
    here = {name for name, marker in stated.items() if marker is None or marker.evaluate()}  # and not on another system
    assert here == led_to({build.FRAMEWORK} | {item for item in here if modules(item) & imported})


def led_to(roots: set[str]) -> set[str]:
    """Return these packages, with the extras that the project asks for, and all they need, by what their own metadata say."""
    project = tomllib.loads((build.ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    extras_by_name = {lock.canonical(item.name): item.extras for item in map(Requirement, project)}
    waiting = [(name, extra) for name in roots for extra in ("", *extras_by_name.get(name, ()))]
    pins: set[tuple[str, str]] = set()
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in pins:
            continue
        pins.add((name, extra))
        for needed in list_needs(name):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                waiting += [(lock.canonical(needed.name), entry) for entry in ("", *needed.extras)]
    return {name for name, _ in pins}


@cache
def list_needs(package: str) -> list[Requirement]:
    """Return what a package's own metadata ask for."""
    return [*map(Requirement, metadata.requires(package) or ())]


@cache
def imported_by(text: str) -> set[str]:
    """Return the dotted names that a source imports as it runs, wherever in it."""
    imported: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported |= {str(node.module), *(f"{node.module}.{item.name}" for item in node.names)}
        elif isinstance(node, ast.Call) and "import_module" in ast.dump(node):
            imported |= {str(arg.value) for arg in node.args if isinstance(arg, ast.Constant)}
        waiting += ast.iter_child_nodes(node)
    return imported


@cache
def modules(package: str) -> set[str]:
    """Return the dotted names of a package's modules."""
    files = metadata.distribution(package).files or []
    names = (str(file).partition(".")[0].removesuffix("/__init__") for file in files if file.suffix in (".py", ".so"))
    return {name.replace("/", ".") for name in names}


def test_every_requirement_is_pinned_by_hash_and_none_serves_development(archives):
    for archive in archives.values():
        text = archive.files["requirements.txt"].decode()
        pins = lock.read(text)
        assert tuple(sorted(pins)) == archive.packages
        assert "functions-framework" in pins
        assert not {"pytest", "mypy", "ruff", "hypothesis", "import-linter"} & set(pins)
        assert "http" not in text.replace("httpx", "").replace("httpcore", "").split("--hash", maxsplit=1)[0]


@pytest.mark.parametrize("function", ["api", "orchestrator", "on_execution", "webhook"])
def test_an_archive_imports_by_itself_with_nothing_of_the_checkout_on_the_path(function, archives, tmp_path):
    with zipfile.ZipFile(io.BytesIO(archives[function].packed())) as file:
        file.extractall(tmp_path)
    # the checkout is installed as editable by a finder: taken out, so that only the archive's own ferryman is found
    code = (
        "import sys; sys.meta_path = [f for f in sys.meta_path if 'editable' not in repr(f).lower()]; "
        f"sys.path = [{str(tmp_path)!r}, *(p for p in sys.path if not p.endswith('/lib'))]; "
        "import main, ferryman; print(ferryman.__file__)"
    )
    ran = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == str(tmp_path / "ferryman/__init__.py")


def test_an_import_in_the_middle_of_a_call_counts_and_one_for_types_does_not(tmp_path):
    main = tmp_path / "main.py"
    main.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import click\nelse:\n    import rich\n"
        "def main():\n    from google.cloud import tasks_v2\n    import asyncio, importlib\n"
        '    asyncio.to_thread(importlib.import_module, "anthropic")\n'
    )
    modules = imports.closure(main, build.ROOT / "lib")
    assert imports.owners(modules.external) == {"rich", "google-cloud-tasks", "anthropic"}


def test_an_import_by_a_name_that_only_the_running_code_knows_is_refused(tmp_path):
    main = tmp_path / "main.py"
    main.write_text("import importlib\ndef main(name):\n    return importlib.import_module(name)\n")
    with pytest.raises(imports.UnknownImportError, match=r"main\.py:3"):
        imports.closure(main, build.ROOT / "lib")


def test_the_platform_installs_wheels_by_hash_and_builds_nothing(archives):
    for archive in archives.values():
        assert archive.files["requirements.txt"].startswith(b"--require-hashes\n--only-binary :all:\n")


def test_a_package_that_is_not_in_the_lock_is_refused():
    with pytest.raises(lock.UnpinnedError, match="left-pad"):
        lock.needed({}, ["left-pad"])


def test_a_pin_without_a_hash_is_refused():
    with pytest.raises(lock.UnpinnedError, match="httpx"):
        lock.read("httpx==0.28.1\n    # via ferryman (pyproject.toml)\n")
