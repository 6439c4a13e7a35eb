"""The stack is closed: without its token every socket it listens on refuses every request of anyone."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest

from emulator.access import PortToken
from ferryman.stack.admin import Admin
from tests.closed import sockets

NOBODY = 65_534
PUBLIC = ("GET /", "GET /docs", "GET /healthz", "GET /openapi.json")
"""What the API tells anyone, in production too."""

ROOT = Path(__file__).parents[2]
ME = "ourselves, without the token"
ANOTHER = "another user of the machine"
ENDS_S = 240


@pytest.fixture(scope="module")
def pids(stack: Mapping[str, Any]) -> set[int]:
    return sockets.family(int(stack["pid"]))


@pytest.fixture(scope="module")
def files(stack: Mapping[str, Any]) -> list[Path]:
    return [path for path in Path(stack["data"]).rglob("*") if path.is_file()]


@pytest.fixture(scope="module", params=[ME, ANOTHER])
def report(request: pytest.FixtureRequest, pids: set[int], files: list[Path]) -> Mapping[str, Any]:
    """Run the attempts of another process on this machine, as this user or as another; return what each port and file gave."""
    uid = os.geteuid() if request.param == ME else NOBODY
    if uid != os.geteuid() and os.geteuid() != 0:
        pytest.skip("the tests do not run as root, and so cannot take another user's id")
    searched = {"ports": sorted(sockets.tcp(pids)), "files": [str(path) for path in files], "pids": sorted(pids)}
    command = [sys.executable, "-m", "tests.closed.trespass", str(uid), json.dumps(searched)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=ENDS_S, check=False)
    assert ran.returncode == 0, ran.stderr
    report: dict[str, Any] = json.loads(ran.stdout)
    assert report["uid"] == uid
    return report


def test_it_listens_on_loopback_alone(pids: set[int]) -> None:
    assert set(sockets.tcp(pids).values()) == {"127.0.0.1"}
    assert sockets.udp(pids) == []


def test_every_socket_is_one_of_those_that_are_listed(stack: Mapping[str, Any], pids: set[int]) -> None:
    listed = json.loads((Path(stack["data"]) / "ports.json").read_text())
    assert set(sockets.tcp(pids)) == set(listed.values())
    kinds = {purpose.partition("/")[0] for purpose in listed}
    assert kinds == {"admin", "functions", "grpc", "internet", "messages", "metadata", "objects", "search"}


def test_its_unix_sockets_lie_in_a_private_folder(stack: Mapping[str, Any], pids: set[int]) -> None:
    data = Path(stack["data"]).resolve()
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    for path in sockets.unix(pids):
        assert path.is_relative_to(data)


def test_nothing_it_keeps_is_for_others(files: list[Path]) -> None:
    assert {str(path) for path in files if path.stat().st_mode & 0o077} == set()


def test_no_port_does_what_is_asked_without_a_token(report: Mapping[str, Any], stack: Mapping[str, Any]) -> None:
    api = stack["functions"]["api"].rpartition(":")[2]
    assert [
        (port, what, answer)
        for port, kinds in report["ports"].items()
        for what, answer in kinds["requests"]
        if isinstance(answer, int) and not 400 <= answer < 500 and not (port == api and what in PUBLIC)
    ] == []


def test_no_call_is_answered_without_a_token(report: Mapping[str, Any]) -> None:
    answers = {(what, answer) for kinds in report["ports"].values() for what, answer in kinds["calls"]}
    assert {answer for _, answer in answers} == {"UNAUTHENTICATED", "speaks no gRPC"}


def test_the_simulated_internet_talks_to_nobody_without_its_certificate(report: Mapping[str, Any]) -> None:
    answers = [(what, answer) for kinds in report["ports"].values() for what, answer in kinds["handshakes"]]
    assert [answer for answer in answers if answer[1].startswith("answered")] == []


def test_no_page_is_let_in(report: Mapping[str, Any]) -> None:
    assert [
        (port, what, answer)
        for port, kinds in report["ports"].items()
        for what, answer in kinds["pages"]
        if isinstance(answer, int) and answer not in (400, 403, 421)
    ] == []


def read_stack_token(stack: Mapping[str, Any]) -> PortToken:
    return PortToken(Path(stack["env"]["LOCAL_CLOUD_TOKEN_FILE"]).read_text().strip())


def secrets_of(stack: Mapping[str, Any]) -> set[bytes]:
    """Return the stack's token, and what its functions are given of it."""
    token = read_stack_token(stack)
    purposes = [f"{kind}/{name}" for kind in ("grpc", "metadata") for name in stack["functions"]]
    return {token.value.encode(), *(token.derive(purpose).value.encode() for purpose in purposes)}


@pytest.mark.parametrize("kind", ["grpc", "metadata"])
async def test_the_secrets_that_are_looked_for_are_those_of_the_functions(
    kind: str, stack: Mapping[str, Any], admin: Admin
) -> None:
    token = read_stack_token(stack)
    for name, port in (await admin.read_status())["ports"]["callers" if kind == "grpc" else "metadata"].items():
        secret = token.derive(f"{kind}/{name}").value
        assert await (calls_as(port, secret) if kind == "grpc" else asks_metadata(port, secret)) == "it is known"


async def asks_metadata(port: int, secret: str) -> str:
    url = f"http://127.0.0.1:{port}/{secret}/computeMetadata/v1/instance/service-accounts/default/email"
    async with httpx.AsyncClient(trust_env=False, verify=False) as client:
        answer = await client.get(url, headers={"Metadata-Flavor": "Google"})
    return "it is known" if answer.is_success else str(answer.status_code)


async def calls_as(port: int, secret: str) -> str:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        call = channel.unary_unary("/google.firestore.v1.Firestore/NoSuchMethod")
        try:
            await call(b"", metadata=[("authorization", f"Bearer {secret}")])
        except grpc.aio.AioRpcError as error:
            return str(error.code()) if error.code() is grpc.StatusCode.UNAUTHENTICATED else "it is known"
    return "it is known"


def test_no_command_line_shows_a_secret(report: Mapping[str, Any], stack: Mapping[str, Any]) -> None:
    secrets = secrets_of(stack) | {Path(stack["key_file"]).read_bytes().strip()}
    command_lines = "\0".join(report["command lines"].values()).encode()
    assert [len(secret) for secret in secrets if secret in command_lines] == []


def test_neither_an_environment_nor_a_file_is_readable_to_another(report: Mapping[str, Any]) -> None:
    if report["uid"] == os.geteuid():
        pytest.skip("our own files are ours to read")
    assert (report["environments"], report["readable"]) == ([], [])


def test_no_log_and_no_file_holds_a_token(stack: Mapping[str, Any]) -> None:
    secrets = secrets_of(stack)
    places = [path for path in Path(stack["data"]).rglob("*") if path.is_file() and path.name != "token"]
    assert [(path.name, len(secret)) for path in places for secret in secrets if secret in path.read_bytes()] == []


async def test_no_answer_of_the_admin_holds_a_token(admin: Admin, stack: Mapping[str, Any]) -> None:
    answers = json.dumps([await admin.read_status(), await admin.list_deliveries(), await admin.list_model_requests()]).encode()
    assert [len(secret) for secret in secrets_of(stack) if secret in answers] == []
