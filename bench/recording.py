"""The recording in the README: `make recording` runs the demo and writes what it prints to docs/images/demo.svg."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

PAGE = Path(__file__).parents[1] / "docs/images/demo.svg"
COLUMNS = 120


def draw(output: str, title: str) -> str:
    """Return what a command printed to a terminal, colours included, as an SVG."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(output))
    return console.export_svg(title=title)


def main() -> None:
    command = Path(sys.executable).with_name("ferryman")
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1"}
    demo = subprocess.run([command, "demo"], env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if demo.returncode:
        sys.exit(f"{demo.stdout}\nThe demo failed with exit status {demo.returncode}: nothing is recorded.")
    PAGE.write_text(draw(demo.stdout, "make demo"))
    print(f"written to {PAGE}")


if __name__ == "__main__":
    main()
