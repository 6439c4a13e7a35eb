"""The service: whose API a command asks, and with which key."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from os import environ  # noqa: TID251 - the command line's own variables, and what `up` passes on to the functions
from pathlib import Path
from typing import Any

from ferryman.stack import leftovers
from ferryman.stack.private import is_private

NEAREST = ".ferryman"


class UnknownServiceError(RuntimeError):
    """Nothing says which service to ask; the text says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A URL and the API key for it."""

    url: str
    key: str = field(repr=False)


def read_environment() -> dict[str, str]:
    """Return the caller's whole environment."""
    return dict(environ)


def find_service() -> Service:
    """Return the service of FERRYMAN_URL and FERRYMAN_KEY, or else of the local stack. Raise `UnknownServiceError`."""
    url, key = environ.get("FERRYMAN_URL"), environ.get("FERRYMAN_KEY")
    if url and key:
        return Service(url=url.rstrip("/"), key=key)
    if url or key:
        present, missing = ("FERRYMAN_URL", "FERRYMAN_KEY") if url else ("FERRYMAN_KEY", "FERRYMAN_URL")
        raise UnknownServiceError(f"{present} is set and {missing} is not; set both, or neither for the local stack")
    return find_local_service(find_folder())


def is_local() -> bool:
    """Tell whether `find_service` finds that of the local stack."""
    return not environ.get("FERRYMAN_URL") and not environ.get("FERRYMAN_KEY")


def find_service_to_join() -> Service:
    """Return the service as `find_service` does; who has no API key yet names its URL alone. Raise `UnknownServiceError`."""
    url, key = environ.get("FERRYMAN_URL"), environ.get("FERRYMAN_KEY")
    return Service(url=url.rstrip("/"), key="") if url and not key else find_service()


def find_folder() -> Path:
    """Return the data folder of the local stack: FERRYMAN_DATA, or the nearest .ferryman, or one to be made here."""
    if environ.get("FERRYMAN_DATA"):
        return Path(environ["FERRYMAN_DATA"])
    here = Path.cwd()
    return next((place / NEAREST for place in (here, *here.parents) if _is_stack(place / NEAREST)), here / NEAREST)


def _is_stack(data: Path) -> bool:
    # a note that another user left in a folder above could have a key sent anywhere
    try:
        return (data / leftovers.NOTE).exists() and is_private(data)
    except OSError:
        return False


def read_note() -> dict[str, Any]:
    """Return what the local stack noted about itself. Raise `UnknownServiceError` when none runs."""
    note = leftovers.read_note(find_folder())
    if note is None:
        raise UnknownServiceError(f"no stack runs on {find_folder()} any more")
    return note


def find_local_service(data: Path) -> Service:
    """Return the service of the stack that runs on `data`. Raise `UnknownServiceError`, also for a folder that other users may
    enter."""
    try:
        if not is_private(data):
            raise UnknownServiceError(f"{data} is open to other users of this machine: whose service it names cannot be known")
        note = json.loads((data / leftovers.NOTE).read_text())
        return Service(url=note["url"], key=Path(note["key_file"]).read_text().strip())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnknownServiceError(
            f"no stack runs on {data}. Start one with `ferryman up`, name its folder in FERRYMAN_DATA, "
            "or set FERRYMAN_URL and FERRYMAN_KEY."
        ) from error
