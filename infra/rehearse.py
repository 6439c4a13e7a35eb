"""The rehearsal: what the platform's Python buildpack does with each archive, in a clean environment; then it is called."""

from __future__ import annotations

import base64
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Mapping
from os import environ  # noqa: TID251 - where pip finds the registry
from pathlib import Path
from tempfile import TemporaryDirectory

from infra import build

STARTS_S = 60.0
INSTALLS_S = 600.0
CALLS = {"api": [("GET", "/healthz", 200), ("GET", "/v1/tasks", 401)]}
"""What is asked of a function and which status it has to answer with; of all others, a call without a token."""

OTHERS = [("POST", "/", 401)]


class RehearsalFailedError(Exception):
    """A step of the rehearsal did not do what it does on the platform; the text says which."""


def variables(function: str) -> dict[str, str]:
    """Return the variables of a deployed function that it needs to be made, with public keys made for this alone."""
    sys.path.insert(0, str(build.ROOT / "lib"))
    from ferryman.vault import seal, sign

    public = base64.b64encode(seal.derive_public_key(seal.generate_private_key())).decode()
    return {
        "K_SERVICE": function,
        "FERRYMAN_FUNCTION": function,
        "GOOGLE_CLOUD_PROJECT": "rehearsal",
        "FERRYMAN_SEALING_PUBLIC_KEY": f"1:{public}",
        "FERRYMAN_RECEIPT_PUBLIC_KEYS": json.dumps({"1": sign.derive_public_key(sign.generate_private_key()).hex()}),
        "FERRYMAN_DECISION_PUBLIC_KEYS": json.dumps({"1": sign.derive_public_key(sign.generate_private_key()).hex()}),
        "FERRYMAN_FUNCTION_URLS": json.dumps({name: f"https://{name}.example" for name in build.functions()}),
        "FERRYMAN_CALLERS": json.dumps(["somebody@rehearsal.iam.gserviceaccount.com"]),
        # as the platform starts it: bare, told by variables
        "FUNCTION_TARGET": "main",
        "FUNCTION_SIGNATURE_TYPE": "http",
        "CLOUD_RUN_TIMEOUT_SECONDS": "60",
    }


def installed(source: Path, place: Path) -> Path:
    """Return a clean environment with the archive's requirements, by the buildpack's own commands; the folder of its programs.

    The buildpack installs with --user into an image that holds nothing else; a venv is that, and takes no --user.
    """
    venv.create(place, with_pip=True)
    programs = place / "bin"
    python = str(programs / "python3")
    _run([python, "-m", "pip", "install", "--requirement", "requirements.txt", "--upgrade", "--force-reinstall"], source)
    _run([python, "-m", "pip", "check"], source)
    return programs


def check_function(function: str, source: Path, programs: Path) -> list[str]:
    """Compile and start the function as the platform does, and ask; a line for each answer. Raises `RehearsalFailedError`."""
    _run([str(programs / "python3"), "-m", "compileall", "-f", "-q", "."], source)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(source), "PORT": str(port), **variables(function)}
    log = source / "rehearsal.log"
    with log.open("wb") as out:
        child = subprocess.Popen(  # noqa: S603 - the environment's own functions-framework
            [str(programs / "functions-framework")],
            cwd=source,
            env=environment,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        _answers(child, port, log)
        answers = []
        for method, path, expected in CALLS.get(function, OTHERS):
            status = _ask(port, method, path)
            if status != expected:
                raise RehearsalFailedError(
                    f"{function}: {method} {path} is answered {status}, not {expected}\n{log.read_text()}"
                )
            answers.append(f"{function}: {method} {path} {status}")
        return answers
    finally:
        os.killpg(child.pid, signal.SIGTERM)
        child.wait(STARTS_S)


def _answers(child: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + STARTS_S
    while time.monotonic() < until and child.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RehearsalFailedError(f"the function did not start:\n{log.read_text()}")


def _ask(port: int, method: str, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=STARTS_S)
    try:
        connection.request(method, path, body=b"{}" if method == "POST" else None)
        return connection.getresponse().status
    finally:
        connection.close()


def _run(command: list[str], folder: Path) -> None:
    ran = subprocess.run(  # noqa: S603 - our own commands
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=INSTALLS_S, env=_bare()
    )
    if ran.returncode:
        raise RehearsalFailedError(f"{' '.join(command)} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")


def _bare() -> Mapping[str, str]:
    """Return where the registry is, and nothing else of this machine's Python."""
    variables = ("PATH", "HOME", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE", "PIP_TRUSTED_HOST", "SSL_CERT_FILE")
    return {name: environ[name] for name in variables if name in environ}


def main() -> int:
    """Rehearse every function; the last line tells how many were called."""
    environments: dict[bytes, Path] = {}
    names = sys.argv[1:] or build.functions()
    with TemporaryDirectory(prefix="rehearsal-") as folder:
        for name in names:
            archive = build.archive(name)
            source = Path(folder) / name
            packed = source.with_suffix(".zip")
            packed.write_bytes(archive.packed())
            with zipfile.ZipFile(packed) as file:
                file.extractall(source)
            requirements = archive.files["requirements.txt"]
            try:
                if requirements not in environments:
                    began = time.monotonic()
                    environments[requirements] = installed(source, Path(folder) / f"venv-{name}")
                    seconds = time.monotonic() - began
                    sys.stdout.write(f"{name}: {len(archive.packages)} packages installed and checked in {seconds:.0f} s\n")
                sys.stdout.writelines(f"{line}\n" for line in check_function(name, source, environments[requirements]))
            except RehearsalFailedError as error:
                sys.stderr.write(f"{error}\n")
                return 1
            sys.stdout.flush()
    sys.stdout.write(f"{len(names)} functions, {len(names)} called\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
