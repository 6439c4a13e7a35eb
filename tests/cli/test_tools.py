"""`ferryman tools`: an API becomes tools, which are listed, added and deleted; what is wrong is named, with an exit code."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from click.testing import CliRunner, Result

from ferryman.catalog.agents import AGENTS
from ferryman.catalog.tools import CATEGORIES, LISTED, TOOLS
from ferryman.cli import main
from ferryman.inmemory.clock import ManualClock
from ferryman.serving import api
from tests.canaries import canary
from tests.serving.conftest import TASK, Stage

HOST = "api.github.com"
STORE = """\
openapi: 3.0.3
info: {title: Store, version: "1"}
servers: [{url: https://api.github.com/store}]
paths:
  /pets:
    get: {operationId: listPets, summary: List all pets}
    post: {operationId: createPet, summary: Create a pet, requestBody: {content: {text/csv: {}}}}
  /pets/{petId}:
    get:
      operationId: getPet
      summary: Get pet by ID
      parameters: [{name: petId, in: path, required: true, schema: {$ref: "parts/pet.yaml#/Id"}}]
  /elsewhere:
    get: {operationId: far, summary: Far away, servers: [{url: https://evil.example}]}
"""
ENTRY = {"kind": "http", "name": "status", "url": f"https://{HOST}/status", "headers": {"X-A": "{{secrets.GITHUB_KEY}}"}}

Typed = Callable[..., Result]


@pytest.fixture(scope="module")
def clock() -> ManualClock:
    """The API's clock."""
    return ManualClock()


@pytest.fixture(scope="module")
def service(clock: ManualClock) -> Iterator[dict[str, str]]:
    """The variables that name an API on doubles."""
    stage = Stage(clock=clock)
    key = stage.owner("ann")["Authorization"].removeprefix("Bearer ")
    server = uvicorn.Server(uvicorn.Config(api.create(stage.deps()), port=0, log_config=None))
    begun = threading.Event()
    startup = server.startup

    async def started(sockets: Any = None) -> None:
        await startup(sockets)
        begun.set()

    server.startup = started  # type: ignore[method-assign]  # there is no other way to hear of it
    serving = threading.Thread(target=server.run)
    serving.start()
    assert begun.wait(30)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield {"FERRYMAN_URL": f"http://127.0.0.1:{port}", "FERRYMAN_KEY": key}
    server.should_exit = True
    serving.join()


@pytest.fixture
def typed(service: dict[str, str], clock: ManualClock) -> Typed:
    def typed(*words: str, stdin: str | None = None, **variables: str) -> Result:
        clock.turn(60)  # what is typed comes a minute after the last, and so within every rate
        return CliRunner().invoke(main, words, input=stdin, env={**service, "COLUMNS": "160", **variables})

    return typed


@pytest.fixture(scope="module")
def http_client(service: dict[str, str]) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {service['FERRYMAN_KEY']}"}
    with httpx.Client(base_url=service["FERRYMAN_URL"], headers=headers) as client:
        yield client


@pytest.fixture
def task(http_client: httpx.Client) -> str:
    """A new task's id."""
    return str(http_client.post("/v1/tasks", json=TASK).json()["task_id"])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "pet.yaml").write_text("Id: {type: integer, minimum: 1}\n")
    (folder / "store.yaml").write_text(STORE)
    return folder / "store.yaml"


def test_the_catalog_is_shown_by_category_and_what_is_not_implemented_is_named_with_the_reason(typed: Typed) -> None:
    lines = typed("tools").stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("▼")] == sorted(CATEGORIES)
    words = {line.split()[0] for line in lines if line.strip()}
    assert set(TOOLS) <= words
    rest = {}
    for reason, names in re.findall(r"^  not implemented \((.*)\): (.*)$", "\n".join(lines), re.MULTILINE):
        rest |= dict.fromkeys(names.split(", "), reason)
    assert rest == {tool.name: tool.reason for tool in LISTED.values() if not tool.implemented}


def test_the_agents_are_shown_with_the_number_of_their_tools(typed: Typed) -> None:
    lines = typed("agents").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == sorted((agent.name for agent in AGENTS.values()), key=str.lower)
    for agent in AGENTS.values():
        implemented = [name for name in agent.allowed_tools if name in TOOLS]
        (line,) = (line for line in lines if line.startswith(f"{agent.name} "))
        assert f" {len(agent.allowed_tools)}, {len(implemented)} implemented " in line
    assert {agent["id"]: tuple(agent["allowed_tools"]) for agent in json.loads(typed("agents", "--json").stdout)} == {
        agent.id: agent.allowed_tools for agent in AGENTS.values()
    }


def test_without_a_task_the_tools_of_the_catalog_are_listed(typed: Typed) -> None:
    listed = typed("tools", "--json")
    assert {"api_call", "http_get"} <= {load["name"] for load in json.loads(listed.stdout)}
    assert typed("tools", "list", "--json").stdout == listed.stdout


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


def test_the_tools_of_a_task_are_listed_by_cluster(typed: Typed, task: str, store: Path) -> None:
    typed("tools", "import", str(store), "--task", task, "--cluster", "pets")
    typed("tools", "add", "-", "--task", task, stdin=json.dumps(ENTRY))
    assert typed("tools", "--task", task).stdout.splitlines() == [
        "▼ pets (4 tools)",
        "  GET /elsewhere - Far away  [far]  (disabled: evil.example is not approved for this task;"
        " approved: api.calendar.test, api.github.com, api.openweathermap.org, uploads.github.com)",
        "  POST /store/pets - Create a pet  [createPet]"
        "  (disabled: takes text/csv, which is not sent: only JSON, forms and multipart/form-data are)",
        "  GET /store/pets - List all pets  [listPets]",
        "  GET /store/pets/{petId} - Get pet by ID  [getPet]",
        "▼ Ungrouped (1 tool)",
        "  status",
    ]
    assert typed("tools", "list", "--task", task).stdout == typed("tools", "--task", task).stdout


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


def test_tools_are_added_all_or_none(typed: Typed, task: str, tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text(json.dumps([ENTRY, {**ENTRY, "name": "far", "url": "https://evil.example/"}]))
    tried = typed("tools", "add", str(file), "--task", task)
    assert (tried.exit_code, "tools.1.url: host evil.example is not approved" in tried.stderr) == (5, True)
    assert "no tools of its own" in typed("tools", "--task", task).stdout
    file.write_text(f"tools:\n  - {json.dumps(ENTRY)}\n  - {json.dumps({**ENTRY, 'name': 'near'})}\n")
    assert typed("tools", "add", str(file), "--task", task).stdout.splitlines() == [
        "▼ Ungrouped (2 tools)",
        "  near",
        "  status",
    ]
    assert json.loads(typed("task", "show", task, "--json").stdout)["tools"] == TASK["tools"]


def test_a_tool_and_a_cluster_are_deleted(typed: Typed, task: str, store: Path) -> None:
    typed("tools", "import", str(store), "--task", task)
    assert typed("tools", "delete", "getPet", "--task", task).exit_code == 0
    assert "▼ Store (3 tools)" in typed("tools", "--task", task).stdout
    assert typed("tools", "delete", "--cluster", "Store", "--task", task).exit_code == 0
    assert "no tools of its own" in typed("tools", "--task", task).stdout
    assert typed("tools", "delete", "getPet", "--task", task).exit_code == 5
    assert typed("tools", "delete", "--cluster", "Store", "--task", task).exit_code == 5


def test_a_task_comes_from_a_file_in_yaml_with_its_tools(typed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    file.write_text(
        "name: on\nmodel: scripted/x\ntask_prompt: |\n  Do it.\nintegrations: [github]\ntools:\n  - http_get\n"
        f"  - kind: http\n    name: status\n    url: https://{HOST}/status\n"
    )
    created = json.loads(typed("task", "create", "--file", str(file), "--json").stdout)
    assert (created["name"], created["task_prompt"], created["tools"]) == ("on", "Do it.\n", ["http_get"])
    assert "▼ Ungrouped (1 tool)" in typed("tools", "--task", created["task_id"]).stdout


@pytest.mark.parametrize(
    ("words", "stdin", "code", "text"),
    [
        (("add", "-", "--task", "TASK"), "a: [\n", 2, "is neither JSON nor YAML: line 2, column 1"),
        (("add", "-", "--task", "TASK"), "7", 2, "must hold a declared tool, or a list of them"),
        (("add", "-", "--task", "TASK"), STORE, 2, "is an OpenAPI document: ferryman tools import"),
        (("add", "-", "--task", "TASK"), '{"kind": "http", "name": "a", "url": "http://x.test"}', 5, "tools.0.url: "),
        (("add", "-", "--task", "none"), json.dumps(ENTRY), 5, "there is no such task"),
        (("import", "nowhere.yaml", "--task", "TASK"), "", 2, "nowhere.yaml cannot be read: No such file"),
        (("import", "https://x.example/a.json", "--task", "TASK"), "", 5, "url: Error: request failed"),
        (("delete", "--task", "TASK"), "", 2, "give either the NAME of a tool, or --cluster NAME"),
        (("delete", "a", "--cluster", "b", "--task", "TASK"), "", 2, "give either"),
        (("list", "--task", "none"), "", 5, "there is no such task"),
        (("call", "-", "b"), json.dumps({**ENTRY, "name": "a"}), 2, "has no tool of the name b"),
        (("call", "-", "status"), json.dumps(ENTRY), 5, "write {{env.NAME}}"),
        (("call", "-", "status", "--arguments", "[]"), json.dumps(ENTRY), 2, "must be a JSON object"),
    ],
)
def test_what_is_wrong_is_named(
    words: tuple[str, ...], stdin: str, code: int, text: str, typed: Typed, task: str, tmp_path: Path
) -> None:
    tried = typed("tools", *(task if word == "TASK" else word for word in words), stdin=stdin)
    assert (tried.exit_code, text in " ".join(tried.stderr.split())) == (code, True), tried.stderr


@pytest.mark.parametrize(
    "words",
    [
        *("tools", "tools list --task TASK", "integrations", "models", "plans", "ledger", "schedules", "show", "task list"),
        *("task show TASK", "task update TASK --name b", "credential list TASK", "receipts", "halt", "resume"),
        *("tools import STORE --task TASK", "tools import STORE --task TASK --dry-run", "tools delete getPet --task TASK"),
    ],
)
def test_json_is_one_document_on_one_line(words: str, typed: Typed, task: str, store: Path) -> None:
    if "delete" in words:
        typed("tools", "import", str(store), "--task", task)
    printed = typed(*(word.replace("TASK", task).replace("STORE", str(store)) for word in words.split()), "--json")
    assert (printed.exit_code, printed.stdout.count("\n")) == (0, 1), printed.output
    json.loads(printed.stdout)


def test_the_file_of_task_init_is_accepted(typed: Typed, tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    assert typed("task", "init", str(file), "--name", "mine").exit_code == 0
    file.write_text(file.read_text().replace("coingecko", "github"))  # the catalog of the doubles
    created = json.loads(typed("task", "create", "--file", str(file), "--json").stdout)
    assert (created["name"], created["tools"]) == ("mine", ["http_get", "api_call"])
    updated = typed("task", "update", created["task_id"], "--file", str(file), "--name", "other", "--json")
    assert json.loads(updated.stdout)["name"] == "other"


def test_an_option_before_the_command_is_not_passed_over(typed: Typed) -> None:
    assert typed("tools", "--task", "a", "list").exit_code == 2


def test_a_call_without_a_stack_needs_its_variables_and_shows_none(typed: Typed, tmp_path: Path) -> None:
    value, table = canary.create_key("a variable", 24), tmp_path / "internet.json"
    table.write_text('{"names": {}}')
    entry = json.dumps({**ENTRY, "headers": {"X-A": "{{env.STATUS_KEY}}"}})
    missing = typed("tools", "call", "-", "status", stdin=entry, STATUS_KEY="")
    assert (missing.exit_code, "env.STATUS_KEY: is not set in the environment" in missing.stderr) == (5, True)
    nowhere = {"FIRESTORE_EMULATOR_HOST": "127.0.0.1:1", "FERRYMAN_PRETEND_INTERNET": str(table)}
    blocked = typed("tools", "call", "-", "status", "--json", stdin=entry, STATUS_KEY=value, **nowhere)
    text = json.loads(blocked.stdout)
    assert (blocked.exit_code, text["block_reason"], text["credential_used"]) == (5, "dns_validation_failed", "STATUS_KEY")
    assert value not in blocked.output


def test_a_password_is_read_and_stored_with_the_user_name_that_was_typed(typed: Typed, task: str) -> None:
    value = canary.create_key("cli, a password")
    words = ("credential", "set", task, "DESK", "--service", "github", "--json")
    stored = typed(*words, "--user", "me@shop.test", stdin=f"{value}\n")
    assert (stored.exit_code, json.loads(stored.stdout)["auth_type"]) == (0, "basic")
    whole = typed(*words, "--auth-type", "basic", stdin=f"me:{value}\n")
    assert (whole.exit_code, json.loads(whole.stdout)["version"]) == (0, 2)


@pytest.mark.parametrize("words", [("--user", "a:b"), ("--user", "me", "--auth-type", "bearer")])
def test_a_user_name_is_for_basic_and_has_no_colon(typed: Typed, task: str, words: tuple[str, ...]) -> None:
    refused = typed("credential", "set", task, "DESK", "--service", "github", *words, stdin="unread")
    assert (refused.exit_code, "--user is for auth type basic" in refused.stderr) == (2, True)


def test_words_find_the_tools_of_a_task_that_fit_them(typed: Typed, task: str, store: Path) -> None:
    typed("tools", "import", str(store), "--task", task, "--cluster", "pets")
    answer = typed("tools", "search", "create", "a", "pet", "--task", task, "--json")
    assert (answer.exit_code, json.loads(answer.stdout)[0]["name"]) == (0, "createPet")
    table = typed("tools", "search", "createPet", "--task", task)
    assert [line.split() for line in table.stdout.splitlines()] == [
        ["name", "cluster", "description"],
        ["createPet", "pets", "Create", "a", "pet."],
    ]


def test_words_that_fit_no_tool_are_told_so(typed: Typed, task: str) -> None:
    answer = typed("tools", "search", "weather", "--task", task)
    assert (answer.exit_code, answer.stdout) == (0, "No tool of the task fits these words.\n")
