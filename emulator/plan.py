"""The plan of a local cloud: its folder, project, functions and options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HERE = Path(__file__).resolve().parent

Backend = Literal["ours", "official", "external"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudPlan:
    """
    What a cloud is made of: the folder of its files (`durable`: the services' data too, else in memory), the project's
    id, the operator's gRPC port (0: a free one), the table of functions and the folder with their sources.

    `indexes` is the file that declares Firestore's indexes, None serves every query; `permissions` holds each function
    to what its row grants; `limits` are production's on sizes. `open` has our Firestore serve, at the operator's port,
    those too who have no token. `freezes` lets no function run that has no open request. `firestore` is ours, or Google's
    emulator, or one that runs already at `firestore_host`.
    """

    folder: Path
    durable: bool
    project: str
    table: Path
    source: Path
    port: int = 0
    indexes: Path | None = None
    permissions: bool = True
    limits: bool = True
    open: bool = False
    freezes: bool = False
    firestore: Backend = "ours"
    firestore_host: str | None = None


def find_shipped(in_checkout: str, in_wheel: str) -> Path:
    """Return the file of the checkout when this runs from one, else the copy in the wheel."""
    file = HERE.parent / in_checkout
    return file if file.exists() else HERE / "shipped" / in_wheel
