"""The commands of docs/tutorial.md, typed as they are written, in a folder of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ferryman.stack import report
from tests.journeys.conftest import ENDS_S, FERRYMAN, KEY

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial.md"
SERVERS_PAGE = ROOT / "docs/mcp-servers.md"
CONSOLE_PAGE = ROOT / "docs/console.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which the pet store and `ferryman up` were started as the tutorial has it, but for the port."""
    here = tmp_path_factory.mktemp("walk")
    (here / "emulator").symlink_to(ROOT / "emulator")
    (here / ".venv").symlink_to(FERRYMAN.parents[1])
    serve, start = (line.partition(" #")[0].split() for line in find_block("server.py").splitlines())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with (here / "store.log").open("wb") as log:
        store = subprocess.Popen([*serve, "--port", port], cwd=here, env=bare(), stderr=log)
    try:
        while "certified by" not in (here / "store.log").read_text():
            assert store.poll() is None, (here / "store.log").read_text()
            time.sleep(0.05)
        yield from up(here, [word.replace("8443", port) for word in start])
    finally:
        store.send_signal(signal.SIGINT)
        store.wait(ENDS_S)


def up(here: Path, words: list[str]) -> Iterator[Path]:
    """Yield a stack that runs in folder `here` as long as this does."""
    with (here / "up.log").open("wb") as err:
        stack = subprocess.Popen([*words, "--json"], cwd=here, env=bare(), stdout=subprocess.PIPE, stderr=err)
    assert stack.stdout is not None
    with stack.stdout as out:
        try:
            assert out.readline(), f"the stack did not start:\n{(here / 'up.log').read_text()}"
            yield here
        finally:
            stack.send_signal(signal.SIGINT)
            stack.wait(ENDS_S)


def bare() -> dict[str, str]:
    """Return the environment of somebody who has set nothing, with `ferryman` where the alias finds it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FERRYMAN_", "ANTHROPIC_"))}
    return {**environment, "PATH": f"{FERRYMAN.parent}:{environment['PATH']}"}


def typed(text: str, folder: Path, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**bare(), **variables}
    return subprocess.run(["bash", "-c", text], cwd=folder, env=env, input=stdin, capture_output=True, text=True, check=False)


def find_block(word: str, page: Path = PAGE) -> str:
    """Return the block of `page` that has `word`, as it is typed: with the latest execution."""
    (block,) = [block for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL) if word in block]
    lines = "\n".join(line for line in block.splitlines() if not line.startswith("alias "))
    return lines.replace("EXECUTION", "$(ferryman show --json | grep -o 'exec_[0-9a-f]*' | head -1)")


def test_the_walk_through_works_as_typed(folder: Path) -> None:
    walked = typed(f"set -euo pipefail\n{find_block('ferryman replay EXECUTION')}", folder, stdin=KEY)
    assert walked.returncode == 0, walked.stdout + walked.stderr
    assert "I asked CoinGecko twice" in walked.stdout
    assert walked.stdout.count("gecko_says") >= 2
    assert "COINGECKO_API_KEY" in walked.stdout
    assert KEY not in walked.stdout + walked.stderr


def test_a_report_is_searched_read_written_and_downloaded_as_typed(folder: Path) -> None:
    walked = typed(f"set -euo pipefail\n{find_block('scripted/report')}", folder)
    assert walked.returncode == 0, walked.stdout + walked.stderr
    assert (folder / "ferries.md").read_text() == report.REPORT
    latest = "$(ferryman show --json | grep -o 'exec_[0-9a-f]*' | head -1)"
    calls = json.loads(typed(f"ferryman show --json {latest}", folder).stdout)["tool_calls"]
    assert [(row["tool"], row["ok"]) for row in calls] == [
        ("web_search_tool", True),
        *[("web_fetch", True)] * 3,
        ("file_write", True),
    ]
    assert "22:10 from the southern one" in calls[1]["content"]
    assert "348,000 euros" in calls[2]["content"]


def test_an_agent_is_talked_with_as_typed(folder: Path) -> None:
    walked = typed(f"set -euo pipefail\n{find_block('scripted/chat')}", folder, stdin="Hello?")
    assert walked.returncode == 0, walked.stdout + walked.stderr
    assert walked.stdout.count("The answer is **42**.") == 2
    assert walked.stderr.count("→ calculator") == 2


def test_an_mcp_server_is_added_accepted_called_and_removed_as_typed(folder: Path) -> None:
    block = find_block("scripted/mcp", SERVERS_PAGE).replace("accept demo echo", "accept demo echo --all")  # nobody types y
    walked = typed(f"set -euo pipefail\n{block}", folder)
    assert walked.returncode == 0, walked.stdout + walked.stderr
    assert "← ferries" in walked.stderr
    assert "demo is removed." in walked.stdout


def test_a_client_lists_and_calls_a_tool_with_what_is_printed_for_it(folder: Path) -> None:
    walked = typed(f"set -euo pipefail\n{find_block('mcp config')}", folder)
    assert walked.returncode == 0, walked.stdout + walked.stderr
    server = json.loads((folder / ".mcp.json").read_text())["mcpServers"]["ferryman"]
    begin = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    call = {"name": "calculator", "arguments": {"expression": "6 * 7"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call},
    ]
    ran = subprocess.run(
        [server["command"], *server["args"]],
        cwd="/",
        env={**bare(), **server["env"]},
        input="".join(f"{json.dumps(message)}\n" for message in messages),
        capture_output=True,
        text=True,
        check=False,
    )
    answers = {line["id"]: line["result"] for line in map(json.loads, ran.stdout.splitlines())}
    assert "calculator" in [tool["name"] for tool in answers[2]["tools"]]
    assert "42" in answers[3]["content"][0]["text"]


def test_the_console_is_opened_by_each_link_once_as_typed(folder: Path) -> None:
    walked = typed(f"set -euo pipefail\n{find_block('ferryman console', CONSOLE_PAGE)}", folder, BROWSER="true")
    assert walked.returncode == 0, walked.stdout + walked.stderr
    links = [re.split(r"\?code=", link) for link in re.findall(r"http\S+/console/enter\?code=\S+", walked.stdout)]
    same_site = {"Sec-Fetch-Site": "same-origin"}
    used = [httpx.post(url, data={"code": code}, headers=same_site).status_code for url, code in [*links, *links]]
    assert used == [303, 303, 403, 403]
    sessions = json.loads(typed("ferryman sessions list --json", folder).stdout)
    assert len([row for row in sessions if "httpx" in row["browser"]]) == 2


def test_others_are_let_in_as_typed(folder: Path) -> None:
    url = json.loads((folder / ".ferryman/stack.json").read_text())["url"]
    owner, bea, after = (find_block(word) for word in ("workspace create", "member join", "workspace export"))
    bea = bea.replace("=URL", f"={url}")
    keys = "ferryman receipts --output keys.txt"
    walked = typed(
        f"set -euo pipefail\n{keys}\n{owner}\n(unset TASK SCOUT SHOP FERRYMAN_WORKSPACE_ID\nset +e\n{bea}\nexit 0)\n{after}",
        folder,
    )
    assert walked.returncode == 0, walked.stdout + walked.stderr
    assert "the agent's allowed_tools do not name it" in walked.stdout
    assert "1 of them whole and genuine" in walked.stdout
    assert "this needs the right run, which your role viewer in this workspace does not have" in walked.stderr
    assert "createInvitation" in walked.stdout
    assert "deleted: " in walked.stdout
    assert (folder / "token.txt").read_text().strip() not in walked.stdout + walked.stderr


def test_an_api_becomes_tools_as_typed(folder: Path) -> None:
    walked = typed(f"set -euo pipefail\n{find_block('ferryman tools import')}", folder, stdin=KEY)
    assert walked.returncode == 0, walked.stdout + walked.stderr
    assert "Swagger Petstore: 20 tools, 9 of them disabled" in walked.stdout
    assert "Nothing was stored: this was a dry run." in walked.stdout
    assert "\npetstore: 20 tools\n" in walked.stdout
    assert "▼ petstore (20 tools)\n" in walked.stdout
    assert "  GET /v2/pet/{petId} - Find pet by ID  [getPetById]\n" in walked.stdout
    assert "Rex, a dog, is for sale; there is no pet 43." in walked.stdout
    assert "Error: HTTP 404" in walked.stdout
    assert "The cluster petstore is deleted, with all its tools." in walked.stdout
    requests = re.findall(r'"GET (\S+) HTTP/1.1" (\d+)', (folder / "store.log").read_text())
    assert requests == [("/v2/pet/findByStatus?status=available", "200"), ("/v2/pet/42", "200"), ("/v2/pet/43", "404")]
    assert KEY not in walked.stdout + walked.stderr


def test_the_models_are_listed_with_their_prices(folder: Path) -> None:
    listed = typed("ferryman models", folder)
    assert (listed.returncode, re.search(r"^claude-haiku-4-5 +1 +5$", listed.stdout, re.MULTILINE) is not None) == (0, True)


def test_one_owner_never_sees_anothers(folder: Path) -> None:
    added = typed("ferryman owner add ann --plan guru", folder)
    key = added.stdout.strip()
    assert (added.returncode, re.fullmatch(r"fm_[A-Za-z0-9_-]{43}", key) is not None, added.stderr) == (0, True, "")
    mine = typed("ferryman task create --name mine --model scripted/hello --prompt Do.", folder).stdout.strip()
    as_ann = {"FERRYMAN_URL": json.loads((folder / ".ferryman/stack.json").read_text())["url"], "FERRYMAN_KEY": key}
    assert typed("ferryman task list --json", folder, **as_ann).stdout.strip() == "[]"
    assert typed(f"ferryman task show {mine}", folder, **as_ann).returncode == 5
    assert typed(f"ferryman run {mine}", folder, **as_ann).returncode == 5
    listed = [owner["owner"] for owner in json.loads(typed("ferryman owner list --json", folder, **as_ann).stdout)]
    assert listed[:2] == ["local", "ann"]
    files = [path for path in (folder / ".ferryman").rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert files == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("owner add local --plan pro", "name: is an owner's already"),
        ("owner add bob --plan free", "plan: is not a known plan; known are: guru, pro"),
        ("owner add a/b --plan pro", "name: must be letters"),
    ],
)
def test_an_owner_that_cannot_be_is_not_added(folder: Path, command: str, message: str) -> None:
    tried = typed(f"ferryman {command}", folder)
    assert (tried.returncode, tried.stdout, message in tried.stderr) == (5, "", True)
    listed = [owner["owner"] for owner in json.loads(typed("ferryman owner list --json", folder).stdout)]
    assert "bob" not in listed


def test_without_a_stack_there_are_no_owners(tmp_path: Path) -> None:
    tried = typed("ferryman owner list", tmp_path)
    assert (tried.returncode, "no stack runs" in tried.stderr) == (1, True)
