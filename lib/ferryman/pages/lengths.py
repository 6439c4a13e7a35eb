"""Lengths and numbers of style sheets, in pixels of a usual screen."""

from __future__ import annotations

import re

LENGTH = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,2})?)\s*(px|r?em|ex|ch|pt|pc|cm|mm|q|in|%|v[wh]|vmin|vmax)?")
PX = {
    **{"px": 1.0, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "pt": 4 / 3, "pc": 16.0, "cm": 37.8, "mm": 3.78, "q": 0.95},
    **{"in": 96.0, "%": 10.0, "vw": 12.8, "vh": 8.0, "vmin": 8.0, "vmax": 12.8},
}
"""The pixels of each unit; those of the size of something else are of a usual size."""


def read_px(value: str | None) -> float:
    """Return a length in pixels; 0 where it is none."""
    if value is None:
        return 0.0
    if value.startswith("calc("):
        return min((read_px(part) for part in value[5:].strip(" )").split()), default=0.0)
    match = LENGTH.fullmatch(value.strip())
    return float(match[1]) * PX[match[2] or "px"] if match else 0.0


def read_number(value: str, other: float) -> float:
    """Return a number, or a share in %; `other` where it is none."""
    match = LENGTH.fullmatch(value.strip())
    if not match:
        return other
    return float(match[1]) / (100 if match[2] == "%" else 1)
