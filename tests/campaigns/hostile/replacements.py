"""The same system without one layer: a copy of the library in which a line or two is replaced.

The product has no switch for any of this. A replacement that does not find its line is an error, so that the table stays true.
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
class Replacement:
    """In `file` of the library, `old` (which must occur there exactly once) becomes `new`."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer of defence: its name, and what removes it. `behind` says what still holds where no attack succeeds without it."""

    name: str
    replacements: tuple[Replacement, ...]
    behind: str = ""


MAIN = """import sys
sys.path.insert(0, {library!r})
from pathlib import Path
exec(compile(Path({main!r}).read_text(), {main!r}, "exec"))
"""


@contextlib.contextmanager
def remove_layer(layer: Layer) -> Iterator[Path]:
    """Yield a folder of functions without `layer`: they import a copy of the library with its replacements made."""
    with tempfile.TemporaryDirectory(prefix="ferryman-hostile-") as folder:
        library, functions = Path(folder) / "lib", Path(folder) / "functions"
        shutil.copytree(LIBRARY, library / "ferryman", ignore=shutil.ignore_patterns("__pycache__"))
        for replacement in layer.replacements:
            file = library / "ferryman" / replacement.file
            file.write_text(apply_replacement(replacement, file.read_text()))
        for main in sorted((ROOT / "functions").glob("*/main.py")):
            main_copy = functions / main.parent.name / "main.py"
            main_copy.parent.mkdir(parents=True)
            main_copy.write_text(MAIN.format(library=str(library), main=str(main)))
        yield functions


def apply_replacement(replacement: Replacement, text: str) -> str:
    """Return `text` with the replacement made. Raise LookupError where `old` does not occur in it exactly once."""
    if text.count(replacement.old) != 1:
        raise LookupError(f"{replacement.file} has {text.count(replacement.old)} times: {replacement.old.strip()}")
    return text.replace(replacement.old, replacement.new)
