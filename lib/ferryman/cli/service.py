"""The service: whose API a command asks, and with which key."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from os import environ  # noqa: TID251 - the command line's own variables, and what `up` passes on to the functions
from pathlib import Path

NEAREST = ".ferryman"
NOTE = "stack.json"


class Unknown(RuntimeError):  # noqa: N818 - reads as the fact it states
    """Nothing says which service to ask; the text says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A URL and the API key for it."""

    url: str
    key: str = field(repr=False)


def variables() -> dict[str, str]:
    """The caller's whole environment."""
    return dict(environ)


def find() -> Service:
    """The service of FERRYMAN_URL and FERRYMAN_KEY, or else of the local stack. Raises `Unknown`."""
    url, key = environ.get("FERRYMAN_URL"), environ.get("FERRYMAN_KEY")
    if url and key:
        return Service(url=url.rstrip("/"), key=key)
    if url or key:
        given, missing = ("FERRYMAN_URL", "FERRYMAN_KEY") if url else ("FERRYMAN_KEY", "FERRYMAN_URL")
        raise Unknown(f"{given} is set and {missing} is not; set both, or neither for the local stack")
    return of_stack(folder())


def folder() -> Path:
    """The data folder of the local stack: FERRYMAN_DATA, or the nearest .ferryman, or one to be made here."""
    if environ.get("FERRYMAN_DATA"):
        return Path(environ["FERRYMAN_DATA"])
    here = Path.cwd()
    return next((place / NEAREST for place in (here, *here.parents) if (place / NEAREST / NOTE).exists()), here / NEAREST)


def of_stack(data: Path) -> Service:
    """The service of the stack that runs on `data`. Raises `Unknown`."""
    try:
        note = json.loads((data / NOTE).read_text())
        return Service(url=note["url"], key=Path(note["key_file"]).read_text().strip())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unknown(
            f"no stack runs on {data}. Start one with `ferryman up`, name its folder in FERRYMAN_DATA, "
            "or set FERRYMAN_URL and FERRYMAN_KEY."
        ) from error
