"""The workspace that a client acts in: named by the program, or else by the environment, in every request."""

from __future__ import annotations

import httpx
import pytest

from ferryman.client import AsyncClient, Client
from ferryman.client.request import build_headers
from ferryman.settings import WORKSPACE_VARIABLES, MisconfiguredError

OURS, OTHERS = WORKSPACE_VARIABLES


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in WORKSPACE_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def name_workspace(workspace: str | None) -> str | None:
    return build_headers("fm_key", workspace).get("Ferryman-Workspace")


def test_without_a_workspace_no_request_names_one() -> None:
    assert name_workspace(None) is None


def test_the_environment_names_the_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OTHERS, "ws_2")
    assert name_workspace(None) == "ws_2"
    monkeypatch.setenv(OURS, "ws_1")
    assert name_workspace(None) == "ws_1"


@pytest.mark.parametrize(("workspace", "named"), [("ws_3", "ws_3"), ("", None)])
def test_the_program_has_the_last_word(monkeypatch: pytest.MonkeyPatch, workspace: str, named: str | None) -> None:
    monkeypatch.setenv(OURS, "ws_1")
    assert name_workspace(workspace) == named


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("workspace", ["ws 1", "ws_1\r\nx: y", "ä"])
def test_what_can_be_no_workspace_is_not_sent(kind: type, workspace: str) -> None:
    with pytest.raises(ValueError, match=r"^workspace: must be the id of a workspace"):
        kind("http://a", "fm_key", workspace=workspace)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch, kind: type) -> None:
    monkeypatch.setenv(OURS, "ws 1")
    with pytest.raises(MisconfiguredError, match=OURS):
        kind("http://a", "fm_key")


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_every_request_names_it(kind: type) -> None:
    client = kind("http://a", "fm_key", workspace="ws_1")
    inner: httpx.Client | httpx.AsyncClient = client._http
    assert inner.build_request("GET", "/v1/me").headers["ferryman-workspace"] == "ws_1"
