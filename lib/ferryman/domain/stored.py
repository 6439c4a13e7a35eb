"""Stored fields: those whose name in documents and records is older than in the code, and those that older records lack."""

from __future__ import annotations

from dataclasses import MISSING, Field
from typing import Any

STORED_NAME = "stored_name"  # the key of a field's metadata that holds the name

LEFT_OUT = {"left_out": True}
"""The metadata of a field that records leave out where it has its default.

Receipts cover the digests of records: those that were signed before there was such a field still fit.
"""


def get_stored_name(field: Field[Any]) -> str:
    """Return the name of a dataclass's field in documents and records."""
    return str(field.metadata.get(STORED_NAME, field.name))


def get_left_out(field: Field[Any]) -> Any:
    """Return the value with which records leave a field of a dataclass out, or NotImplemented where they never do."""
    if "left_out" not in field.metadata:
        return NotImplemented
    return field.default if field.default_factory is MISSING else field.default_factory()
