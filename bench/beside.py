"""Functions beside a running stack: processes of functions-framework with a function's environment there, started and ended."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.cpu import measure_tree

ANSWERS_S = 60.0
AGAIN_S = 0.002
OTHERS = {"CLOUD_RUN_TIMEOUT_SECONDS": "60", "HOST": "127.0.0.1", "FUNCTION_TARGET": "main"}


class StartedFunction:
    """A function from the moment on that it was spawned."""

    def __init__(self, child: subprocess.Popen[bytes], port: int, began: float) -> None:
        self.began, self.port, self.process = began, port, child.pid

    @property
    def clock_s(self) -> float:
        """Seconds since it was spawned."""
        return time.perf_counter() - self.began

    @property
    def cpu_s(self) -> float:
        """Seconds of processor time, of itself and its worker."""
        return measure_tree(self.process)

    def ask(self, path: str, method: str = "GET", headers: Mapping[str, str] | None = None, body: str | None = None) -> int:
        """Return the status of the answer, connecting until the function listens. Raise `TimeoutError`."""
        while self.clock_s < ANSWERS_S:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWERS_S)
            try:
                connection.connect()
            except ConnectionRefusedError:
                time.sleep(AGAIN_S)
                continue
            try:
                connection.request(method, path, body=body, headers=dict(headers or {}))
                return connection.getresponse().status
            finally:
                connection.close()
        raise TimeoutError(f"no answer within {ANSWERS_S:g} s")

    def send(self, request: Mapping[str, Any]) -> int:
        """Return the status of the answer to a request with `method`, `path`, `headers` and `body`."""
        return self.ask(request["path"], request["method"], request["headers"], request["body"])


@contextmanager
def start_function(source: Path, env: Mapping[str, str]) -> Iterator[StartedFunction]:
    """Start the function whose `main.py` this is; it ends with the context."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-P", "-m", "functions_framework", "--source", str(source)]
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **env, **OTHERS, "PORT": str(port)}
    began = time.perf_counter()
    with subprocess.Popen(
        command,
        env=environment,
        cwd=source.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as child:
        try:
            yield StartedFunction(child, port, began)
        finally:
            os.killpg(child.pid, signal.SIGKILL)
