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

from emulator.access import find_token
from emulator.clients import EmulatorClients, build_clients

ENDS_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCloud:
    """A running local cloud: the variables of its services, and the URL of its admin, which asks for the `token`."""

    env: dict[str, str]
    admin: str

    @property
    def token(self) -> str:
        """What its ports ask for; the clients below show it."""
        return str(find_token(self.env))

    def clients(self, project: str | None = None) -> EmulatorClients:
        """Return Google's clients of it; the caller closes them."""
        return build_clients(self.env, project=project)

    def advance(self, seconds: float) -> None:
        """Turn its clock forward. Raise httpx.HTTPStatusError for a negative number."""
        bearer = {"Authorization": f"Bearer {self.token}"}
        with httpx.Client(base_url=self.admin, trust_env=False, headers=bearer) as client:
            client.post("/clock/advance", json={"seconds": seconds}).raise_for_status()


@pytest.fixture(scope="session")
def local_cloud_options() -> tuple[str, ...]:
    """What `python -m emulator` is started with; override it with ("--open",) for clients that know no token."""
    return ()


@pytest.fixture(scope="session")
def local_cloud(local_cloud_options: tuple[str, ...]) -> Iterator[LocalCloud]:
    """A local cloud in memory, in a process of its own, that serves every query; it ends with the session."""
    command = [sys.executable, "-m", "emulator", "--memory", "--indexes", "none", *local_cloud_options]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own module
        try:
            env = {}
            assert process.stdout is not None
            while "LOCAL_CLOUD_ADMIN" not in env:
                line = process.stdout.readline()
                if not line:
                    pytest.fail("the local cloud did not start; its output is above", pytrace=False)
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
