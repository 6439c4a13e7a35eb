"""What `ferryman up` cannot do is said before anything is started."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

FERRYMAN = Path(sys.executable).with_name("ferryman")
ENDS_S = 40


def ferryman(*arguments: object, data: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [FERRYMAN, *map(str, arguments)]
    env = {**os.environ, "FERRYMAN_DATA": str(data), **variables}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=ENDS_S, check=False)


def test_a_busy_port_is_said(tmp_path: Path) -> None:
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", 0))
        occupied.listen()
        port = occupied.getsockname()[1]
        tried = ferryman("up", "--data", tmp_path, "--api-port", port, data=tmp_path)
    assert (tried.returncode, f"port {port} is busy" in tried.stderr) == (1, True)


def test_a_host_that_is_not_on_loopback_is_wrong_usage(tmp_path: Path) -> None:
    tried = ferryman("up", "--host", "api.mine.example=10.0.0.1:443", data=tmp_path)
    assert (tried.returncode, "NAME=127.0.0.1:PORT" in tried.stderr) == (2, True)


def test_a_folder_that_others_may_enter_is_refused_with_the_command_that_closes_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o755)
    tried = ferryman("up", "--data", data, data=data)
    assert (tried.returncode, list(data.iterdir())) == (1, [])
    assert f"chmod 700 {data}" in " ".join(tried.stderr.split())


def test_only_our_firestore_can_be_opened(tmp_path: Path) -> None:
    tried = ferryman("up", "--open", "--firestore", "official", data=tmp_path)
    assert (tried.returncode, "--open is for our Firestore" in tried.stderr) == (2, True)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("CRAWBL_SPACES_BUCKET", "files", "FERRYMAN_S3_ENDPOINT, FERRYMAN_S3_REGION, FERRYMAN_S3_ACCESS_KEY"),
        ("FERRYMAN_SEARXNG_ENDPOINT", "searxng", "FERRYMAN_SEARXNG_ENDPOINT must be a URL of a host"),
    ],
)
def test_a_bucket_or_an_engine_that_is_not_described_is_said(tmp_path: Path, name: str, value: str, message: str) -> None:
    data = tmp_path / "data"
    tried = ferryman("up", "--data", data, data=data, **{name: value})
    assert (tried.returncode, data.exists()) == (1, False)
    assert message in " ".join(tried.stderr.split())
    assert "Traceback" not in tried.stderr
