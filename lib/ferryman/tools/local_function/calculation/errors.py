"""The error of an expression that has no value."""

from __future__ import annotations


class CalculationError(ValueError):
    """An expression that has no value here; the text says why, and what is possible."""
