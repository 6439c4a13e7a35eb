"""The build: one archive per function and what it is made of, the same bytes for the same sources; `python -m infra.build`."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from infra import bom, imports, lock

ROOT = Path(__file__).resolve().parent.parent
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest moment that a ZIP file can tell: the same for every file, whenever it was written."""

MODE = 0o100644
FRAMEWORK = "functions-framework"
"""What the platform starts; it puts in one of its own choice where the requirements name none."""

WHEELS = "--require-hashes\n--only-binary :all:\n"
"""How the platform's pip is told to install: nothing without a hash, and nothing whose build would fetch what has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """What is uploaded for one function: the files by their name in it, the packages it needs, and which it imports itself."""

    function: str
    files: Mapping[str, bytes]
    packages: tuple[str, ...]
    imported: tuple[str, ...]

    def packed(self) -> bytes:
        """Return the ZIP file. Nothing in it is compressed: compressors differ from one machine to the next, and it is
        small."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
            for name in sorted(self.files):
                member = zipfile.ZipInfo(name, EPOCH)
                member.create_system = 3  # Unix, wherever this runs
                member.external_attr = MODE << 16
                file.writestr(member, self.files[name])
        return out.getvalue()


def archive(function: str, root: Path = ROOT) -> Archive:
    """Return the archive of `function`: its main.py, of the library what that leads to, and the hash-pinned packages of both.

    Raises `imports.Unknown` or `lock.Unpinned`.
    """
    main, library = root / "functions" / function / "main.py", root / "lib"
    modules = imports.closure(main, library)
    pins = lock.read((root / "requirements.lock").read_text())
    imported = imports.owners(modules.external) | {FRAMEWORK}
    packages = lock.needed(pins, imported)
    files = {"main.py": main.read_bytes(), "requirements.txt": (WHEELS + lock.requirements(pins, packages)).encode()}
    for file in modules.modules.values():
        files[str(file.relative_to(library))] = file.read_bytes()
        if file.name == "__init__.py":
            files |= {str(path.relative_to(library)): path.read_bytes() for path in list_data(file.parent)}
    return Archive(function=function, files=files, packages=tuple(packages), imported=tuple(sorted(imported)))


def list_data(package: Path) -> Iterator[Path]:
    """Yield what a package reads: its tables, and folders of it that are no packages, such as templates."""
    for path in sorted(package.iterdir()):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            yield path
        elif path.is_dir() and path.name != "__pycache__" and not any(path.glob("**/*.py")):
            yield from list_data(path)


def functions(root: Path = ROOT) -> list[str]:
    """Return the functions of the table."""
    return [row["name"] for row in json.loads((root / "infra" / "functions.json").read_text())["functions"]]


def build(root: Path = ROOT, out: Path | None = None) -> dict[str, dict[str, str]]:
    """Write `build/functions/NAME-SHA256.zip` for every function, and `build/functions.json`, which is answered.

    The manifest holds, by function, the `archive` (its path from `root`) and its `sha256`. Archives of earlier builds go.
    `build/sbom/NAME.cdx.json` lists what each archive is made of, `build/sbom.cdx.json` what all of the checkout is.
    """
    out = out or root / "build"
    for folder in (out / "functions", out / "sbom"):
        folder.mkdir(parents=True, exist_ok=True)
    archives = {name: archive(name, root) for name in functions(root)}
    manifest = {}
    for name, built in archives.items():
        packed = built.packed()
        digest = hashlib.sha256(packed).hexdigest()
        (out / f"functions/{name}-{digest}.zip").write_bytes(packed)
        manifest[name] = {"archive": f"build/functions/{name}-{digest}.zip", "sha256": digest}
    current = {Path(archive["archive"]).name for archive in manifest.values()}
    for old in (out / "functions").glob("*.zip"):
        if old.name not in current:
            old.unlink()
    (out / "functions.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    _write_bills(root, out, archives, {name: archive["sha256"] for name, archive in manifest.items()})
    return manifest


def _write_bills(root: Path, out: Path, archives: Mapping[str, Archive], digests: Mapping[str, str]) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    version = project["version"]
    locks = [lock.read(file.read_text()) for file in (root / "requirements.lock", *sorted((root / "locks").glob("*.lock")))]
    parts = []
    for name, archive in archives.items():
        subject = bom.Subject(name=f"ferryman-{name}", version=version, digest=digests[name], needs=archive.imported)
        pins = {package: locks[0][package] for package in archive.packages}
        (out / f"sbom/{name}.cdx.json").write_text(bom.write(subject, [pins], archive.packages))
        parts.append(subject)
    direct = tuple(lock.canonical(Requirement(line).name) for line in project["dependencies"])
    whole = bom.Subject(name="ferryman", version=version, needs=direct)
    (out / "sbom.cdx.json").write_text(bom.write(whole, locks, lock.needed(locks[0], direct), parts))


def main() -> int:
    """Build, and tell each archive's name and size."""
    try:
        manifest = build()
    except (imports.UnknownImportError, lock.UnpinnedError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for archive in manifest.values():
        sys.stdout.write(f"{(ROOT / archive['archive']).stat().st_size / 1024:6.0f} KiB  {archive['archive']}\n")
    sys.stdout.write(
        f"what they are made of: build/sbom.cdx.json, and build/sbom/NAME.cdx.json for each ({bom.FORMAT} {bom.VERSION})\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
