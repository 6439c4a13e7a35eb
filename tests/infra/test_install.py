"""`make install` shows how far it is, with nothing but the standard library, and stops at the first step that fails."""

from __future__ import annotations

import ast
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from infra import install

UV = """#!{python} -S
import sys
from pathlib import Path
packages = Path(sys.argv[0]).parents[1] / "lib/python3.11/site-packages"
cache = Path(sys.argv[0]).parents[2] / "cache"
if sys.argv[1] == "cache":
    print(cache)
elif "--editable" not in sys.argv:
    print("Resolved 2 packages in 1ms", file=sys.stderr)
    {fails}
    for name in ("one", "two"):
        (cache / "archive-v0" / name).mkdir(parents=True)
        (packages / f"{{name}}-1.dist-info").mkdir(parents=True)
        (packages / f"{{name}}.py").touch()
    print("Prepared 2 packages in 1ms\\nInstalled 2 packages in 1ms\\nBytecode compiled 2 files in 1ms", file=sys.stderr)
"""
RUN = """
from pathlib import Path
import sys
from infra import install
install.ROOT = Path(sys.argv[1])
raise SystemExit(install.main())
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout whose environment is there already, with programs that act as pip and uv do."""
    _write(tmp_path / ".venv/bin/python", "#!/bin/sh\n")
    _write(tmp_path / ".venv/bin/uv", UV.format(python=sys.executable, fails=""))
    return tmp_path


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def _command(checkout: Path) -> list[str]:
    # without site-packages, as on a machine that has Python alone
    return [sys.executable, "-S", "-c", RUN, str(checkout)]


def test_nothing_is_imported_that_a_fresh_python_lacks() -> None:
    tree = ast.parse(Path(install.__file__).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names


def test_on_a_pipe_each_step_is_a_line(checkout: Path) -> None:
    ran = subprocess.run(_command(checkout), capture_output=True, text=True, check=True, cwd=install.ROOT)
    assert ran.stdout.splitlines() == [
        "1 of 4: making .venv …",
        "2 of 4: fetching uv, which installs the rest …",
        "3 of 4: packages …",
        "   Resolved 2 packages in 1ms",
        "   Prepared 2 packages in 1ms",
        "   Installed 2 packages in 1ms",
        "   Bytecode compiled 2 files in 1ms",
        "4 of 4: installing Ferryman itself …",
    ]
    assert ran.stderr == ""


def test_on_a_terminal_the_last_line_is_a_bar_and_each_step_leaves_one(checkout: Path) -> None:
    terminal, child_side = pty.openpty()
    ran = subprocess.run(_command(checkout), stdout=subprocess.PIPE, stderr=child_side, text=True, check=True, cwd=install.ROOT)
    screen = os.read(terminal, 65_536).decode()
    os.close(child_side)
    os.close(terminal)
    lines = [line.rpartition("\r\x1b[K")[2] for line in screen.split("\r\n")[:-1]]
    assert lines[2:] == [
        "3 of 4: packages: 2 installed and compiled",
        "4 of 4: installing Ferryman itself",
    ]
    assert ran.stdout == ""


def test_the_bar_says_what_is_counted_and_fits_the_terminal() -> None:
    terminal, child_side = pty.openpty()
    with os.fdopen(child_side, "w") as out:
        line = install.ProgressLine(out)
        line.begin(3, "packages")
        line.show(("installed", 57, 114), 4.2)
        screen = os.read(terminal, 65_536).decode()
    os.close(terminal)
    assert "━" * 10 + "┄" * 10 + "  57 of 114 installed" in screen
    assert len(screen.removeprefix("\r\x1b[K")) <= 80


def test_what_is_counted_follows_uv(checkout: Path) -> None:
    packages = install._Packages(str(checkout / ".venv/bin/uv"), checkout / ".venv")
    resolved, site = "Resolved 2 packages in 1ms\n", checkout / ".venv/lib/python3.11/site-packages"
    assert packages.measure("") is None
    (checkout / "cache/archive-v0/one").mkdir(parents=True)
    assert packages.measure(resolved) == ("fetched", 1, 2)
    (site / "one-1.dist-info").mkdir(parents=True)
    assert packages.measure(resolved) == ("installed", 1, 2)
    for name in ("a.py", "b.py", "__pycache__/a.cpython-311.pyc"):
        _write(site / name, "")
    assert packages.measure(f"{resolved}Installed 2 packages in 1ms\n") == ("files compiled", 1, 2)


def test_a_step_that_fails_says_what_its_program_said_and_is_the_last(checkout: Path) -> None:
    _write(checkout / ".venv/bin/uv", UV.format(python=sys.executable, fails='sys.exit("no route to the index")'))
    ran = subprocess.run(_command(checkout), capture_output=True, text=True, check=False, cwd=install.ROOT)
    assert ran.returncode == 1
    assert ran.stderr.endswith("uv ended with 1:\nResolved 2 packages in 1ms\nno route to the index\n")
    assert "4 of 4" not in ran.stdout
