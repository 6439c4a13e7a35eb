"""Fixtures for anybody's tests: a local cloud for the session, and a project of its own for each test.

Say `pytest_plugins = ["emulator.pytest_plugin"]` in the topmost conftest.py.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from emulator.clients import Clients, clients

ENDS_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCloud:
    """A running local cloud: the variables of its services, and the URL of its admin."""

    env: dict[str, str]
    admin: str

    def clients(self, project: str | None = None) -> Clients:
        """Google's clients of it; whoever asks closes them."""
        return clients(self.env, project=project)

    def advance(self, seconds: float) -> None:
        """Turn its clock forward. Raises httpx.HTTPStatusError for a negative number."""
        with httpx.Client(base_url=self.admin, trust_env=False) as client:
            client.post("/clock/advance", json={"seconds": seconds}).raise_for_status()


@pytest.fixture(scope="session")
def local_cloud() -> Iterator[LocalCloud]:
    """A local cloud in memory, in a process of its own, that serves every query; it ends with the session."""
    command = [sys.executable, "-m", "emulator", "--memory", "--indexes", "none"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own module
        try:
            env = {}
            assert process.stdout is not None
            while "LOCAL_CLOUD_ADMIN" not in env:
                line = process.stdout.readline()
                if not line:
                    pytest.fail("the local cloud did not start; what it wrote stands above", pytrace=False)
                key, _, value = shlex.split(line)[1].partition("=")
                env[key] = value
            admin = env.pop("LOCAL_CLOUD_ADMIN")
            yield LocalCloud(env=env, admin=admin)
        finally:
            process.terminate()
            try:
                process.wait(ENDS_S)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def local_project() -> str:
    """The id of a project that nobody has used: it is empty, and nothing has to be cleared."""
    return f"p-{uuid.uuid4().hex[:20]}"
