"""The README's walk-through, typed as it stands there, in a folder of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.conftest import ENDS_S, FERRYMAN, KEY

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which `ferryman up` was typed."""
    here = tmp_path_factory.mktemp("walk")
    with (here / "up.log").open("wb") as err:
        stack = subprocess.Popen([FERRYMAN, "up", "--json"], cwd=here, env=bare(), stdout=subprocess.PIPE, stderr=err)
    assert stack.stdout is not None
    with stack.stdout as out:
        try:
            assert out.readline(), f"the stack did not start:\n{(here / 'up.log').read_text()}"
            yield here
        finally:
            stack.send_signal(signal.SIGINT)
            stack.wait(ENDS_S)


def bare() -> dict[str, str]:
    """The environment of somebody who has set nothing, with `ferryman` where the alias finds it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FERRYMAN_", "ANTHROPIC_"))}
    return {**kept, "PATH": f"{FERRYMAN.parent}:{kept['PATH']}"}


def typed(text: str, folder: Path, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**bare(), **variables}
    return subprocess.run(["bash", "-c", text], cwd=folder, env=env, input=stdin, capture_output=True, text=True, check=False)


def walk() -> str:
    """The block of the README that is typed beside the running stack."""
    (block,) = [each for each in re.findall(r"```sh\n(.*?)```", README.read_text(), re.DOTALL) if "ferryman run" in each]
    return "\n".join(line for line in block.splitlines() if not line.startswith("alias "))


def test_the_walk_through_works_as_typed(folder: Path) -> None:
    whole = walk().replace("EXECUTION", "$(ferryman show --json | grep -o 'exec_[0-9a-f]*' | head -1)")
    walked = typed(f"set -euo pipefail\n{whole}", folder, stdin=KEY)
    assert walked.returncode == 0, walked.stdout + walked.stderr
    assert "I asked CoinGecko twice" in walked.stdout
    assert walked.stdout.count("gecko_says") >= 2
    assert "COINGECKO_API_KEY" in walked.stdout
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
    listed = [each["owner"] for each in json.loads(typed("ferryman owner list --json", folder, **as_ann).stdout)]
    assert listed[:2] == ["local", "ann"]
    kept = [path for path in (folder / ".ferryman").rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert kept == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("owner add local --plan pro", "name: is an owner's already"),
        ("owner add bob --plan free", "plan: is not a known plan; known are: guru, pro"),
        ("owner add a/b --plan pro", "name: must be letters"),
    ],
)
def test_an_owner_that_cannot_be_is_not_added(folder: Path, command: str, said: str) -> None:
    tried = typed(f"ferryman {command}", folder)
    assert (tried.returncode, tried.stdout, said in tried.stderr) == (5, "", True)
    listed = [each["owner"] for each in json.loads(typed("ferryman owner list --json", folder).stdout)]
    assert "bob" not in listed


def test_without_a_stack_there_are_no_owners(tmp_path: Path) -> None:
    tried = typed("ferryman owner list", tmp_path)
    assert (tried.returncode, "no stack runs" in tried.stderr) == (1, True)
