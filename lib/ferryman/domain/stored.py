"""Stored names: a field whose name in documents and records is older than its name in the code."""

from __future__ import annotations

from dataclasses import Field
from typing import Any

STORED_NAME = "stored_name"  # the key of a field's metadata that holds the name


def get_stored_name(field: Field[Any]) -> str:
    """Return the name of a dataclass's field in documents and records."""
    return str(field.metadata.get(STORED_NAME, field.name))
