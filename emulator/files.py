"""Files: written so that whoever reads them, or starts again after a kill, finds the old one or the new one, whole."""

from __future__ import annotations

import os
from pathlib import Path


def replace(path: Path, text: str) -> None:
    """Write a file at one stroke."""
    draft = path.with_name(path.name + ".new")
    draft.write_text(text)
    os.replace(draft, path)
