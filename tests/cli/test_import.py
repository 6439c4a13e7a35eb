"""`ferryman tools import`: an OpenAPI document becomes tools, or is tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ferryman.cli import main
from tests.cli.conftest import STORE, Typed


def test_an_import_tells_how_many_tools_it_made_how_many_are_disabled_why_and_what_they_cost(
    typed: Typed, task: str, store: Path
) -> None:
    created = typed("tools", "import", str(store), "--task", task, "--cluster", "pets")
    stages, lines = created.stdout.splitlines()[:2], created.stdout.splitlines()[2:]
    assert stages == [f"reading {store} …", "the service makes tools of its operations …"]
    assert (created.exit_code, lines[0]) == (0, "pets: 4 tools, 2 of them disabled")
    assert lines[1].startswith("the definitions of those that are enabled cost about ")
    assert "1         takes text/csv, which is not sent: only JSON, forms and multipart/form-data are" in lines
    assert any(line.startswith("1         evil.example is not approved for this task") for line in lines)


def test_a_file_comes_with_the_documents_of_its_folder_that_it_refers_to(typed: Typed, task: str, store: Path) -> None:
    typed("tools", "import", str(store), "--task", task)
    listed = json.loads(typed("tools", "list", "--task", task, "--json").stdout)
    (pet,) = [item for item in listed if item["name"] == "getPet"]
    assert pet["parameters"]["properties"]["petId"] == {"type": "integer", "minimum": 1}


def test_a_file_may_refer_to_itself_by_its_name(typed: Typed, task: str, store: Path) -> None:
    store.write_text(
        f"{STORE}components: {{schemas: {{Id: {{type: boolean}}}}}}\n".replace(
            "parts/pet.yaml#/Id", "store.yaml#/components/schemas/Id"
        )
    )
    created = json.loads(typed("tools", "import", str(store), "--task", task, "--json").stdout)
    (pet,) = [item for item in created["data"] if item["name"] == "getPet"]
    assert pet["parameters"]["properties"]["petId"] == {"type": "boolean"}


@pytest.mark.parametrize("way", ["../secret.yaml", "%2e%2e/secret.yaml", "/etc/passwd", "file:///etc/passwd", "link.yaml"])
def test_no_document_outside_of_the_folder_is_read(way: str, typed: Typed, task: str, store: Path) -> None:
    secret = store.parent.parent / "secret.yaml"
    secret.write_text("Id: {type: string, description: outside}\n")
    (store.parent / "link.yaml").symlink_to(secret)
    store.write_text(STORE.replace("parts/pet.yaml", way))
    created = typed("tools", "import", str(store), "--task", task, "--json")
    assert "outside" not in created.output
    if way == "link.yaml":
        assert (created.exit_code, "which is a link out of its folder" in created.output) == (2, True)
    else:
        assert created.exit_code == 0, created.output
        assert "is missing" in created.stdout


def test_a_dry_run_stores_nothing(typed: Typed, task: str, store: Path) -> None:
    created = typed("tools", "import", str(store), "--task", task, "--dry-run")
    assert created.stdout.splitlines()[2].startswith("Store: 4 tools")
    assert created.stdout.endswith("Nothing was stored: this was a dry run.\n")
    assert "The task has no tools of its own" in typed("tools", "--task", task).stdout


def test_a_dry_run_needs_no_task_and_no_service(store: Path) -> None:
    nothing = {"FERRYMAN_URL": "", "FERRYMAN_KEY": "", "FERRYMAN_DATA": str(store.parent), "COLUMNS": "160"}
    tried = CliRunner().invoke(main, ["tools", "import", str(store), "--dry-run"], env=nothing)
    assert tried.exit_code == 0, tried.output
    assert tried.stdout.splitlines()[:4] == [
        f"reading {store} …",
        "finding the hosts that its operations call …",
        "making tools of its operations …",
        "Store: 4 tools, 1 of them disabled",
    ]
    assert "approved for api.github.com (github), evil.example (no integration that is shipped has it)" in tried.stdout


def test_a_dry_run_without_a_task_answers_like_one_with_it(typed: Typed, task: str, store: Path) -> None:
    words = ("tools", "import", str(store), "--only", "*Pet*", "--dry-run", "--json")
    alone, with_task = (json.loads(typed(*words, *options).stdout) for options in ((), ("--task", task)))
    assert alone == with_task


def test_a_document_that_nobody_serves_is_said_without_a_task(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "internet.json").write_text('{"names": {}}')
    nowhere = {"FIRESTORE_EMULATOR_HOST": "127.0.0.1:1", "FERRYMAN_PRETEND_INTERNET": str(tmp_path / "internet.json")}
    tried = typed("tools", "import", "https://x.example/a.json", "--dry-run", **nowhere)
    assert (tried.exit_code, "url: Error" in tried.stderr) == (5, True)


def test_an_import_without_a_task_is_a_dry_run_or_wrong_usage(typed: Typed, store: Path) -> None:
    tried = typed("tools", "import", str(store))
    assert (tried.exit_code, "only --dry-run needs none" in tried.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("--only get*", {"getPet"}),
        ("--only /pets", {"listPets", "createPet"}),
        ("--only /pets* --only far", {"listPets", "createPet", "getPet", "far"}),
        ("--tag shop", {"getPet", "far"}),
        ("--tag shop --only far", {"far"}),
    ],
)
def test_only_some_operations_are_imported(options: str, names: set[str], typed: Typed, task: str, store: Path) -> None:
    text = store.read_text().replace("operationId: getPet\n", "operationId: getPet\n      tags: [shop]\n")
    store.write_text(text.replace("operationId: far,", "operationId: far, tags: [shop],"))
    created = json.loads(typed("tools", "import", str(store), "--task", task, *options.split(), "--json").stdout)
    assert {tool["name"] for tool in created["data"]} == names


def test_a_pattern_that_fits_nothing_is_named(typed: Typed, task: str, store: Path) -> None:
    tried = typed("tools", "import", str(store), "--task", task, "--only", "fly")
    assert (tried.exit_code, "only: fits none of the document's 4 operations" in tried.stderr) == (5, True)


def test_where_a_host_is_not_approved_the_option_for_it_is_named(typed: Typed, task: str, store: Path) -> None:
    assert "hint: --server URL" in typed("tools", "import", str(store), "--task", task).stdout
    assert "hint" not in typed("tools", "import", str(store), "--task", task, "--only", "/pets").stdout


def test_the_owner_may_name_the_server(typed: Typed, task: str, store: Path) -> None:
    options = ("--task", task, "--server", "https://evil.example/v1", "--json")
    created = json.loads(typed("tools", "import", str(store), *options).stdout)
    assert {tool["configuration"]["baseUrl"] for tool in created["data"]} == {"https://evil.example"}
    assert created["disabled"] == created["imported"] == 4
