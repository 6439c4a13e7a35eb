"""Usable alone: the clients' factory and the fixtures, as a stranger's project would use them."""

import textwrap
from pathlib import Path
from typing import Any

import pytest
from google.api_core.exceptions import NotFound
from google.auth.credentials import AnonymousCredentials

from emulator.clients import build_clients
from emulator.pytest_plugin import LocalCloud, local_cloud, local_cloud_options, local_project

__all__ = ["local_cloud", "local_cloud_options", "local_project"]

AUTOMATIC: dict[str, Any] = {"replication": {"automatic": {}}}


def test_every_client_reaches_the_local_cloud(local_cloud: LocalCloud, local_project: str) -> None:
    clients = local_cloud.clients(local_project)
    clients.firestore.document("c/x").set({"a": 1})
    assert clients.firestore.document("c/x").get().to_dict() == {"a": 1}
    parent = f"projects/{local_project}"
    assert clients.secrets.create_secret(parent=parent, secret_id="s", secret=AUTOMATIC).name == f"{parent}/secrets/s"
    with pytest.raises(NotFound):
        clients.tasks.get_queue(name=f"{parent}/locations/here/queues/q")
    clients.close()


async def test_every_async_client_reaches_it_too(local_cloud: LocalCloud, local_project: str) -> None:
    clients = local_cloud.clients(local_project)
    await clients.firestore_async.document("c/x").set({"a": 1})
    assert (await clients.firestore_async.document("c/x").get()).to_dict() == {"a": 1}
    parent = f"projects/{local_project}"
    assert await clients.secrets_async.create_secret(parent=parent, secret_id="s", secret=AUTOMATIC)
    with pytest.raises(NotFound):
        await clients.tasks_async.get_queue(name=f"{parent}/locations/here/queues/q")
    await clients.aclose()


def test_a_project_is_empty(local_cloud: LocalCloud, local_project: str) -> None:
    clients = local_cloud.clients(local_project)
    assert list(clients.firestore.collections()) == []
    clients.close()


def test_the_clock_is_turned_for_a_test(local_cloud: LocalCloud, local_project: str) -> None:
    clients = local_cloud.clients(local_project)
    before = clients.firestore.document("c/x").set({}).update_time
    local_cloud.advance(86_400)
    after = clients.firestore.document("c/x").set({"a": 1}).update_time
    assert (after - before).total_seconds() >= 86_400
    clients.close()


def test_without_variables_the_clients_are_the_real_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", "127.0.0.1:1")
    monkeypatch.setattr("google.auth.default", lambda **_: (AnonymousCredentials(), "p"))
    clients = build_clients({}, project="p")
    assert clients.firestore._emulator_host is None
    assert clients.secrets.transport.host == "secretmanager.googleapis.com:443"
    assert clients.tasks.transport.host == "cloudtasks.googleapis.com:443"
    clients.close()


def test_the_plugin_is_found_by_its_documented_name(tmp_path: Path) -> None:
    import subprocess
    import sys

    (tmp_path / "conftest.py").write_text('pytest_plugins = ["emulator.pytest_plugin"]\n')
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent("""
            def test_it(local_cloud, local_project):
                asked = local_cloud.clients(local_project)
                asked.firestore.document("c/x").create({"a": 1})
                asked.close()
        """)
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
