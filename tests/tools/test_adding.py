"""Adding a built-in tool touches its own file, its entry and its test; a kind adds its package, its root and its function.

Both are added to a copy of the sources, where a call of the new tool is then executed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from infra import build

ROOT = Path(__file__).parents[2]
POLICY = {"network": "registry", "fee": "0", "expense": "api_call_fee", "repeatable": "safe"}
SIGNATURE = {"reads": [], "changes": [], "decided_by": None}

OWN_FILE = """
from ferryman.catalog.tools import TOOLS
from ferryman.domain.http.request import Method
from ferryman.tools.arguments import build_request

def parse(arguments):
    return build_request(TOOLS["http_head"], Method.HEAD, arguments)
"""

OWN_FILE_OF_KIND = """
def answer(arguments):
    return arguments["text"].upper()
"""

KIND = """
from ferryman.domain.calls.call import ToolCallResult
from ferryman.tools.own_files import load_own_files
from ferryman.tools.prepared_call import PreparedCall

ANSWERS = load_own_files("ferryman.tools.letters")

async def prepare(context):
    tool = context.claimed_call.ticket.tool
    async def go(within_s):
        return ToolCallResult(tool, ANSWERS[tool].answer(context.arguments), response_status=200)
    return PreparedCall(go=go, method=None, safe=True, repeatable=True)
"""

COMPOSITION = """
from dataclasses import replace
from ferryman.composition.tool import ToolFunction
from ferryman.tools import letters

class LettersFunction(ToolFunction):
    def __init__(self, settings):
        super().__init__(settings)
        self.dependencies = replace(self.dependencies, prepare=letters.prepare)
"""

MAIN = """
from ferryman.composition.letters import LettersFunction
from ferryman.serving import tool

main = tool.serve_tool("letters", LettersFunction, {})
"""

CALL = """
import asyncio, json, sys
from dataclasses import replace
import ferryman
from ferryman.tools.execute_call import execute_call
from ferryman.tools.registry import ToolRegistry
from ferryman.ports.tickets import CallRequest
from tests.tools.harness import ToolHarness

tool, function, kind, arguments = json.loads(sys.argv[1])
harness = ToolHarness(arguments_=arguments)
execution = harness.memory.executions["e"]
harness.memory.executions["e"] = replace(execution, policy=replace(execution.policy, tools=(tool,)))
harness.ask(tool)
deps = harness.deps()
if kind is not None:
    deps = replace(deps, prepare=__import__(kind, fromlist=["prepare"]).prepare)
request = CallRequest(execution="e", seq=0, epoch=1, task="t", owner="o")
result = asyncio.run(execute_call(deps, function, request)).result
definitions = ToolRegistry(None).get_definitions([tool])
print(json.dumps({
    "place": ferryman.__file__, "content": result.content, "offered": [one["name"] for one in definitions],
    "sent": [[outbound.method, outbound.url] for outbound, _ in harness.sent],
}))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a folder with a copy of what functions are made of."""
    for name in ("lib", "functions"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "infra").mkdir()
    for name in ("requirements.lock", "infra/functions.json"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def write(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    assert not place.exists()
    place.write_text(f'"""Added."""\n{text}')


def add_entry(copy: Path, name: str, kind: str, function: str, argument: str) -> None:
    """Add the entry of a tool that takes one text."""
    place = copy / "lib/ferryman/catalog/tools.json"
    document = json.loads(place.read_text())
    entry = {**document["declared"], "name": name, "description": "Added.", "kind": kind, "function": function}
    entry["policy"] = {**document["declared"]["policy"], **POLICY, **SIGNATURE}
    entry["input_schema"] = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    document["tools"].append(entry)
    place.write_text(json.dumps(document))


def call(copy: Path, tool: str, function: str, arguments: Mapping[str, Any], *, kind: str | None = None) -> dict[str, Any]:
    """Return what came of a call of `tool` in the copy."""
    search = os.pathsep.join((str(copy / "lib"), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": search, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", CALL, json.dumps([tool, function, kind, arguments])]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, cwd=copy, check=False)
    assert ended.returncode == 0, ended.stderr
    came: dict[str, Any] = json.loads(ended.stdout)
    assert came["place"].startswith(str(copy))
    return came


def test_a_tool_of_an_existing_kind_is_its_own_file_and_its_entry(copy: Path) -> None:
    write(copy / "lib/ferryman/tools/http/http_head.py", OWN_FILE)
    add_entry(copy, "http_head", "http", "http_get", "url")
    came = call(copy, "http_head", "http_get", {"url": "https://api.coingecko.com/"})
    assert came["sent"] == [["HEAD", "https://api.coingecko.com/"]]
    assert came["offered"] == ["http_head"]
    assert "ferryman/tools/http/http_head.py" in build.archive("http_get", copy).files


def test_a_kind_is_its_package_its_root_and_its_function(copy: Path) -> None:
    write(copy / "lib/ferryman/tools/letters/__init__.py", KIND)
    write(copy / "lib/ferryman/tools/letters/capitals.py", OWN_FILE_OF_KIND)
    write(copy / "lib/ferryman/composition/letters.py", COMPOSITION)
    write(copy / "functions/letters/main.py", MAIN)
    place = copy / "infra/functions.json"
    table = json.loads(place.read_text())
    row = {**next(row for row in table["functions"] if row["name"] == "http_get"), "name": "letters"}
    place.write_text(json.dumps({**table, "functions": [*table["functions"], row]}))
    add_entry(copy, "capitals", "letters", "letters", "text")
    came = call(copy, "capitals", "letters", {"text": "abc"}, kind="ferryman.tools.letters")
    assert (came["content"], came["sent"], came["offered"]) == ("ABC", [], ["capitals"])
    assert "letters" in build.functions(copy)
    assert "ferryman/tools/letters/capitals.py" in build.archive("letters", copy).files


def test_a_tool_of_the_catalogue_without_its_own_file_does_not_load(copy: Path) -> None:
    add_entry(copy, "http_head", "http", "http_get", "url")
    with pytest.raises(AssertionError, match="http_head"):
        call(copy, "http_head", "http_get", {"url": "https://api.coingecko.com/"})
