"""The build: one archive per function, the same bytes for the same sources; `python -m infra.build`."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra import imports, lock

ROOT = Path(__file__).resolve().parent.parent
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest moment that a ZIP file can tell: the same for every file, whenever it was written."""

MODE = 0o100644
FRAMEWORK = "functions-framework"
"""What the platform starts; it puts in one of its own choice where the requirements name none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """What is uploaded for one function: the files by their name in it, and the packages it needs."""

    function: str
    files: Mapping[str, bytes]
    packages: tuple[str, ...]

    def packed(self) -> bytes:
        """The ZIP file. Nothing in it is compressed: compressors differ from one machine to the next, and it is small."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
            for name in sorted(self.files):
                entry = zipfile.ZipInfo(name, EPOCH)
                entry.create_system = 3  # Unix, wherever this runs
                entry.external_attr = MODE << 16
                file.writestr(entry, self.files[name])
        return out.getvalue()


def archive(function: str, root: Path = ROOT) -> Archive:
    """The archive of `function`: its main.py, of the library what that leads to, and the hash-pinned packages of both.

    Raises `imports.Unknown` or `lock.Unpinned`.
    """
    main, library = root / "functions" / function / "main.py", root / "lib"
    found = imports.closure(main, library)
    pins = lock.read((root / "requirements.lock").read_text())
    packages = lock.needed(pins, imports.owners(found.external) | {FRAMEWORK})
    files = {"main.py": main.read_bytes(), "requirements.txt": lock.requirements(pins, packages).encode()}
    for file in found.modules.values():
        files[str(file.relative_to(library))] = file.read_bytes()
        if file.name == "__init__.py":
            # tables and the like that the package reads
            data = (each for each in file.parent.iterdir() if each.is_file() and each.suffix not in (".py", ".pyc"))
            files |= {str(each.relative_to(library)): each.read_bytes() for each in data}
    return Archive(function=function, files=files, packages=tuple(packages))


def functions(root: Path = ROOT) -> list[str]:
    """The functions of the table."""
    return [row["name"] for row in json.loads((root / "infra" / "functions.json").read_text())["functions"]]


def build(root: Path = ROOT, out: Path | None = None) -> dict[str, dict[str, str]]:
    """Write `build/functions/NAME-SHA256.zip` for every function, and `build/functions.json`, which is answered.

    The manifest holds, by function, the `archive` (its path from `root`) and its `sha256`. Archives of earlier builds go.
    """
    out = out or root / "build"
    folder = out / "functions"
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {}
    for name in functions(root):
        packed = archive(name, root).packed()
        digest = hashlib.sha256(packed).hexdigest()
        (folder / f"{name}-{digest}.zip").write_bytes(packed)
        manifest[name] = {"archive": f"build/functions/{name}-{digest}.zip", "sha256": digest}
    current = {Path(each["archive"]).name for each in manifest.values()}
    for old in folder.glob("*.zip"):
        if old.name not in current:
            old.unlink()
    (out / "functions.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    return manifest


def main() -> int:
    """Build, and tell each archive's name and size."""
    try:
        manifest = build()
    except (imports.Unknown, lock.Unpinned) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for entry in manifest.values():
        sys.stdout.write(f"{(ROOT / entry['archive']).stat().st_size / 1024:6.0f} KiB  {entry['archive']}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
