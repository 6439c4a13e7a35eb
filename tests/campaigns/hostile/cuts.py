"""Cuts: the same system without one layer, as a copy of the library in which a line or two is replaced.

The product has no switch for any of this. A cut that does not find its line is an error, so that the table cannot go stale.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = ROOT / "lib" / "ferryman"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """In `file` of the library, `old` (which must stand there exactly once) becomes `new`."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One wall: its name, and what takes it out. `behind` says what still holds where nothing gets through without it."""

    name: str
    cuts: tuple[Cut, ...]
    behind: str = ""


MAIN = """import sys
sys.path.insert(0, {library!r})
from pathlib import Path
exec(compile(Path({main!r}).read_text(), {main!r}, "exec"))
"""


@contextlib.contextmanager
def cut_layer(layer: Layer) -> Iterator[Path]:
    """Yield a folder of functions without `layer`: they import a copy of the library with its cuts made."""
    with tempfile.TemporaryDirectory(prefix="ferryman-hostile-") as folder:
        library, functions = Path(folder) / "lib", Path(folder) / "functions"
        shutil.copytree(LIBRARY, library / "ferryman", ignore=shutil.ignore_patterns("__pycache__"))
        for cut in layer.cuts:
            file = library / "ferryman" / cut.file
            file.write_text(cut_library(cut, file.read_text()))
        for main in sorted((ROOT / "functions").glob("*/main.py")):
            main_copy = functions / main.parent.name / "main.py"
            main_copy.parent.mkdir(parents=True)
            main_copy.write_text(MAIN.format(library=str(library), main=str(main)))
        yield functions


def cut_library(cut: Cut, text: str) -> str:
    """Return `text` with the cut made. Raise LookupError where its line is not there, or not alone."""
    if text.count(cut.old) != 1:
        raise LookupError(f"{cut.file} has {text.count(cut.old)} times: {cut.old.strip()}")
    return text.replace(cut.old, cut.new)
