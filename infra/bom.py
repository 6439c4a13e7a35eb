"""Software bill of materials (CycloneDX 1.6, JSON): what each archive, and the whole checkout, is made of.

The same bytes for the same sources: the serial number is derived from what is listed, and no time is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from infra.lock import Pin

FORMAT, VERSION = "CycloneDX", "1.6"
SPDX = {
    "Apache 2": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "PSFL": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""How packages older than PEP 639 write a licence that SPDX has an id for."""

CLASSIFIER = "License :: OSI Approved :: "
TEXT_MAX = 64
"""Longer than this, a package wrote its licence's text where its name belongs."""

MARKER = "ferryman:marker"
"""The property of a package that is installed only where this marker (PEP 508) holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a bill is of: its name and version, the SHA-256 of its file where it is one, and what it needs by itself."""

    name: str
    version: str
    digest: str = ""
    needs: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """How the bill refers to it."""
        return f"{self.name}@{self.version}"

    def component(self) -> dict[str, Any]:
        """Return it as CycloneDX has it."""
        hashed = {"hashes": [{"alg": "SHA-256", "content": self.digest}]} if self.digest else {}
        plain = {"type": "application", "bom-ref": self.reference, "name": self.name, "version": self.version}
        return {**plain, **hashed, "licenses": _licences("Apache-2.0")}


def purl(name: str, pin: Pin) -> str:
    """Return the package URL of a pin, which is also how a bill refers to it."""
    return f"pkg:pypi/{name}@{quote(pin.version, safe='.')}"


def write(subject: Subject, locks: Iterable[Mapping[str, Pin]], required: Iterable[str], parts: Iterable[Subject] = ()) -> str:
    """Return the bill of `subject`: every pin of `locks`, which may hold several versions of a package, and its `parts`.

    Pins of the first lock that `required` (canonical names) does not hold, and those of all others, serve building, testing
    and comparing alone: their scope is `excluded`.
    """
    locks = list(locks)
    packages: dict[str, dict[str, Any]] = {}
    needs: dict[str, set[str]] = {}
    names = {purl(name, locks[0][name]) for name in required}
    references: dict[str, set[str]] = {}
    for pins in locks:
        for name, pin in pins.items():
            packages[purl(name, pin)] = _package(name, pin, required=purl(name, pin) in names)
            references.setdefault(name, set()).add(purl(name, pin))
            for parent in pin.needed_by & set(pins):
                needs.setdefault(purl(parent, pins[parent]), set()).add(purl(name, pin))
    for described in (subject, *parts):
        needs[described.reference] = {reference for name in described.needs for reference in references.get(name, ())}
    needs[subject.reference] |= {part.reference for part in parts}
    components = [*(part.component() for part in parts), *(packages[package] for package in sorted(packages))]
    references_sorted = sorted({component["bom-ref"] for component in components} | {subject.reference})
    bill = {
        "metadata": {"component": subject.component()},
        "components": components,
        "dependencies": [{"ref": reference, "dependsOn": sorted(needs.get(reference, ()))} for reference in references_sorted],
    }
    head = {"bomFormat": FORMAT, "specVersion": VERSION, "version": 1}
    serial = uuid5(NAMESPACE_URL, json.dumps({**head, **bill}, sort_keys=True))
    return json.dumps({**head, "serialNumber": f"urn:uuid:{serial}", **bill}, indent=1) + "\n"


def _package(name: str, pin: Pin, *, required: bool) -> dict[str, Any]:
    """Return the component of a pin; `hashes` are those of each of its files, of which one is installed."""
    scope = "excluded" if not required else "optional" if pin.marker else "required"
    return {
        "type": "library",
        "bom-ref": purl(name, pin),
        "name": name,
        "version": pin.version,
        "scope": scope,
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in pin.hashes],
        **({"licenses": _licences(licence)} if (licence := find_licence(name, pin.version)) else {}),
        "purl": purl(name, pin),
        **({"properties": [{"name": MARKER, "value": pin.marker}]} if pin.marker else {}),
    }


@cache
def find_licence(name: str, version: str) -> str:
    """Return the licence that the installed package names, as by its SPDX id where that is known; empty where none is."""
    try:
        fields = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ""  # of another system, or of a group that is not installed
    if fields["Version"] != version:
        return ""
    if expression := "".join(fields.get_all("License-Expression") or ()):
        return expression
    classified = [line.removeprefix(CLASSIFIER) for line in fields.get_all("Classifier") or () if line.startswith(CLASSIFIER)]
    stated = "".join(fields.get_all("License") or ())
    named = stated if stated and len(stated) <= TEXT_MAX and "\n" not in stated and "://" not in stated else ""
    return SPDX.get(named, named) or ", ".join(SPDX.get(licence, licence) for licence in classified)


def _licences(licence: str) -> list[dict[str, Any]]:
    simple = licence in SPDX.values() or licence in {"BSD-2-Clause", "BSD-3-Clause", "MIT-0", "ISC"}
    if simple:
        return [{"license": {"id": licence}}]
    if " OR " in licence:
        return [{"expression": licence}]
    return [{"license": {"name": licence}}]
