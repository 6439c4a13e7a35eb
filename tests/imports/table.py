"""The tables of what functions import, and how they are made: on a running stack, in a process for each function."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from emulator.access import PortToken
from ferryman.domain.signed_request import IDENTITY_HEADER
from ferryman.gcp.platform import PLATFORM_FUNCTION
from ferryman.settings import Settings
from ferryman.stack import environment, provision
from ferryman.stack.admin import Admin
from ferryman.vault import seal

ROOT = Path(__file__).parents[2]
FUNCTIONS = (
    "api",
    "api_call",
    "concierge",
    "files",
    "http_tool",
    "local_tools",
    "mcp_tool",
    "on_execution",
    "orchestrator",
    "platform",
    "platform_call",
    "search",
    "web",
)
"""One of the built-in tools is enough for all of them: their modules differ in a name."""

LOCAL_CALL = {"call": "c", "tool": "none", "arguments": {}, "user": str(UUID(int=0)), "within_s": 1.0}

CALLS: dict[str, tuple[str, str, Mapping[str, str], object, int]] = {
    "api": ("GET", "/v1/me", {}, "", 200),
    "api_call": ("POST", "/", {}, {"execution": "none", "call": 0, "epoch": 1, "task": "none", "owner": "none"}, 409),
    "http_tool": ("POST", "/", {}, {"execution": "none", "call": 0, "epoch": 1, "task": "none", "owner": "none"}, 409),
    "mcp_tool": ("POST", "/", {}, {"execution": "none", "call": 0, "epoch": 1, "task": "none", "owner": "none"}, 409),
    "concierge": ("POST", "/", {}, LOCAL_CALL, 200),
    "files": (
        "POST",
        "/",
        {},
        {**LOCAL_CALL, "workspace": "none", "write": "none.0", "is_done": False, "integrity": "trusted"},
        200,
    ),
    "local_tools": ("POST", "/", {}, LOCAL_CALL, 200),
    "platform": ("POST", "/mcp", {"content-type": "application/json"}, {}, 401),
    "platform_call": ("POST", "/", {}, {**LOCAL_CALL, "execution": "none", "seq": 0, "epoch": 1}, 409),
    "search": ("POST", "/", {}, LOCAL_CALL, 200),
    "web": ("POST", "/", {}, {**LOCAL_CALL, "origin": "written", "anywhere": True, "domains": [], "most": 30_000}, 200),
    "on_execution": (
        "POST",
        "/",
        {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "s", "ce-type": "t", "ce-document": "executions/none"},
        "",
        200,
    ),
    "orchestrator": ("POST", "/", {}, {"execution": "none", "slice": 0, "waits": 0}, 200),
}
"""The first call of each: method, path, headers, body, and the status of its answer. Nothing of that name is stored."""

FIRST, LAST = "At its first answer", "And after its first call"


@dataclass(frozen=True, slots=True)
class Imports:
    """What a function has imported at its first answer, and in addition after its first call."""

    first: tuple[str, ...]
    more: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCall:
    """A function's environment beside a stack, a request to warm it, its first call, and the status of that one's answer."""

    env: Mapping[str, str]
    warm: Mapping[str, Any]
    call: Mapping[str, Any]
    status: int


def find_file(function: str) -> Path:
    return Path(__file__).parent / f"{function}.txt"


def write_table(function: str, imports: Imports) -> None:
    text = "\n".join([f"{FIRST}:", *imports.first, "", f"{LAST}:", *imports.more])
    find_file(function).write_text(text + "\n")


def read_table(function: str) -> Imports:
    first, _, more = find_file(function).read_text().partition(f"\n\n{LAST}:\n")
    return Imports(tuple(first.split("\n")[1:]), tuple(more.split()))


async def measure(stack: Mapping[str, Any], function: str) -> Imports:
    """Return what a function imports, run beside a stack with the environment that it has there."""
    first = await prepare(stack, function)
    orders = {
        "source": str(ROOT / "functions" / function / "main.py"),
        "requests": [{"method": "GET", "path": "/healthz", "headers": {}, "body": ""}, first.warm, first.call],
    }
    ran = subprocess.run(  # noqa: ASYNC221 - nothing else is under way
        [sys.executable, "-P", str(ROOT / "tests/imports/probe.py")],
        input=json.dumps(orders),
        env=first.env,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    measured = json.loads(ran.stdout)
    assert measured["statuses"] == [200 if function == "api" else 401, 200, first.status], measured["statuses"]
    return Imports(tuple(measured["first"]), tuple(sorted({*measured["last"]} - {*measured["first"]})))


async def prepare(stack: Mapping[str, Any], function: str) -> FirstCall:
    """Return the first call of a function that is to run beside a stack, and the environment that it has there."""
    row = next(row for row in environment.load_functions() if row["name"] == function)
    async with Admin.from_note(stack) as admin:
        port = (await admin.read_status())["ports"]["metadata"][function]
        url, project = stack["functions"][function], stack["project"]
        warmer = await admin.create_token(environment.build_account(environment.WARMER, project), url)
        caller = (
            read_file(stack["key_file"])
            if function == "api"
            else await admin.create_token(environment.build_account(row["callers"][0], project), url)
        )
    clients = provision.connect(stack["env"])
    receipts = await provision.provision_receipt_keys(clients, project, Settings().receipt_key_secret)
    decisions = await provision.provision_decision_keys(clients, project, Settings().api_key_secret)
    await clients.close()
    method, path, headers, body, status = CALLS[function]
    text = body if isinstance(body, str) else json.dumps(body)
    identity = IDENTITY_HEADER if function == PLATFORM_FUNCTION else "authorization"
    return FirstCall(
        env=build_environment(stack, row, port, receipts, decisions),
        warm={"method": "POST", "path": "/warm", "headers": {"authorization": f"Bearer {warmer}"}, "body": ""},
        call={"method": method, "path": path, "headers": {**headers, identity: f"Bearer {caller}"}, "body": text},
        status=status,
    )


def build_environment(
    stack: Mapping[str, Any], row: Mapping[str, Any], port: int, receipts: Mapping[str, str], decisions: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of a function, with the rights of the operator."""
    secret = PortToken(read_file(stack["env"]["LOCAL_CLOUD_TOKEN_FILE"])).derive(f"metadata/{row['name']}").value
    around = environment.StackEnvironment(
        project=stack["project"],
        urls=stack["functions"],
        sealing_public_key=seal.format_public_key(1, seal.derive_public_key(seal.generate_private_key())),
        receipt_public_keys=receipts,
        decision_public_keys=decisions,
        scripted_model_url=stack["env"]["ANTHROPIC_BASE_URL"],
    )
    metadata = f"127.0.0.1:{port}/{secret}"
    return {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        **stack["env"],
        **environment.build_environment(row, around),
        "FERRYMAN_FUNCTION": row["name"],
        "GCE_METADATA_HOST": metadata,
        "FERRYMAN_CERTS_URL": f"http://{metadata}/certs",
    }


def read_file(path: str) -> str:
    return Path(path).read_text().strip()
