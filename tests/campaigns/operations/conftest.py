"""The stack of the journeys, and a copy of the checkout for what is typed beside it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journeys.conftest import (
    KEY,
    admin,
    clients,
    journey,
    key,
    new_client,
    new_key,
    served_model,
    stack,
    unreachable_models,
)

__all__ = ["admin", "clients", "journey", "key", "new_client", "new_key", "served_model", "stack", "unreachable_models"]

ROOT = Path(__file__).parents[3]
PARTS = ("lib", "functions", "infra", "locks")
FILES = ("Makefile", "pyproject.toml", "requirements.lock")


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "checkout"
    for part in PARTS:
        shutil.copytree(ROOT / part, place / part, ignore=shutil.ignore_patterns("__pycache__", ".terraform*"))
    for file in FILES:
        shutil.copy2(ROOT / file, place / file)
    (place / ".venv").symlink_to(ROOT / ".venv")
    value = place / "key.txt"
    value.write_text(KEY)
    yield place
    value.unlink()  # what tests plant may stand nowhere when they are over
