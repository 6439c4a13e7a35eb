"""`--workspace`: which workspace a command acts in, where its request goes out."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner, Result

from ferryman.cli import main
from ferryman.settings import WORKSPACE_VARIABLES

OURS, OTHERS = WORKSPACE_VARIABLES


@pytest.fixture
def asked_for(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str | None]]:
    """The workspaces that requests have named, of a service that answers empty lists."""
    workspaces: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            workspaces.append(self.headers["Ferryman-Workspace"])
            body = json.dumps({"tasks": [], "next": None}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    for name in WORKSPACE_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        monkeypatch.setenv("FERRYMAN_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("FERRYMAN_KEY", "fm_x")
        yield workspaces
        server.shutdown()


def list_tasks(*words: str) -> Result:
    return CliRunner().invoke(main, ["task", "list", *words])


def test_a_command_names_no_workspace_by_itself(asked_for: list[str | None]) -> None:
    assert list_tasks().exit_code == 0
    assert asked_for == [None]


@pytest.mark.parametrize("variable", WORKSPACE_VARIABLES)
def test_a_command_acts_in_the_workspace_of_the_environment(
    asked_for: list[str | None], monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "ws_1")
    list_tasks()
    assert asked_for == ["ws_1"]


def test_the_option_counts_more_than_the_environment(asked_for: list[str | None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OURS, "ws_1")
    list_tasks("--workspace", "ws_2")
    assert asked_for == ["ws_2"]


def test_what_can_be_no_workspace_is_wrong_usage(asked_for: list[str | None]) -> None:
    refused = list_tasks("--workspace", "ws 2")
    assert (refused.exit_code, asked_for) == (2, [])
    assert "1 to 64 ASCII letters" in " ".join(refused.output.split())


def test_a_variable_that_can_be_no_workspace_is_named(asked_for: list[str | None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OTHERS, "ws 2")
    refused = list_tasks()
    assert (refused.exit_code, asked_for) == (1, [])
    assert f"{OTHERS} must be the id of a workspace" in " ".join(refused.output.split())
