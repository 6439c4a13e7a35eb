"""Elements that are hidden with all that they contain: not shown, out of the screen, cut off, moved away."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ferryman.pages.lengths import LENGTH, PX, read_number, read_px

SMALL_PX = 2.0  # what is not larger is not seen
FAR_PX = 400.0  # further left or above than this is outside of the screen
FAR_RIGHT_PX = 4_000.0
OPACITY_MIN = 0.05
_FUNCTION = re.compile(r"(?<![a-z0-9-])([a-z0-9-]+)\(([^()]*)\)")


def is_removed(values: Mapping[str, str]) -> bool:
    """Tell whether an element with these values is hidden with all that it contains."""
    get = values.get
    if get("display") == "none" or get("content-visibility") == "hidden":
        return True
    if "opacity" in values and read_number(values["opacity"], 1.0) < OPACITY_MIN:
        return True
    if "zoom" in values and read_number(values["zoom"], 1.0) < OPACITY_MIN:
        return True
    if get("position") in ("absolute", "fixed", "relative", "sticky") and _is_far(values):
        return True
    if read_px(get("text-indent")) <= -FAR_PX:
        return True
    # margins in % are how columns were once laid out
    margins = [*values.get("margin", "").split(), *(values[name] for name in ("margin-left", "margin-top") if name in values)]
    if any(read_px(part) <= -FAR_PX for part in margins if not part.endswith("%")):
        return True
    return _is_moved(values) or _is_clipped(values)


def _is_far(values: Mapping[str, str]) -> bool:
    near = ("left", "top", "inset-inline-start", "right", "bottom")
    if any(read_px(values.get(name)) <= -FAR_PX or read_px(values.get(name)) >= FAR_RIGHT_PX for name in near):
        return True
    return any(abs(read_px(part)) >= FAR_PX for part in values.get("inset", "").split())


def _is_moved(values: Mapping[str, str]) -> bool:
    for name, arguments in _FUNCTION.findall(f"{values.get('transform', '')} {values.get('filter', '')}"):
        parts = [part for part in re.split(r"[,\s]+", arguments.strip()) if part]
        if name.startswith("translate") and any(_is_far_away(part) for part in parts):
            return True
        if name.startswith("scale") and any(abs(read_number(part, 1.0)) < OPACITY_MIN for part in parts):
            return True
        if name == "opacity" and any(read_number(part, 1.0) < OPACITY_MIN for part in parts):
            return True
    if any(_is_far_away(part) for part in values.get("translate", "").split()):
        return True
    return any(abs(read_number(part, 1.0)) < OPACITY_MIN for part in values.get("scale", "").split())


def _is_far_away(distance: str) -> bool:
    if distance.endswith("%"):  # of its own size: half of it is how something is put in the middle
        return read_number(distance, 0.0) <= -1
    return read_px(distance) <= -FAR_PX or read_px(distance) >= FAR_RIGHT_PX


def _is_clipped(values: Mapping[str, str]) -> bool:
    clip = values.get("clip", "")
    if clip.startswith("rect"):
        sides = [read_px(part) for part in re.split(r"[,\s]+", clip[5:].strip(" )(")) if part]
        if len(sides) == 4 and (abs(sides[1] - sides[3]) <= SMALL_PX or abs(sides[2] - sides[0]) <= SMALL_PX):
            return True
    path = values.get("clip-path") or values.get("-webkit-clip-path") or ""
    if path.startswith(("inset", "circle", "ellipse", "polygon")):
        arguments = path.partition("(")[2].strip(" )")
        first = LENGTH.match(arguments)
        if path.startswith("inset") and first and float(first[1]) >= 49:
            return True
        if path.startswith(("circle", "ellipse")) and first and float(first[1]) <= 1:
            return True
        if path.startswith("polygon") and not re.search(r"[1-9]", arguments):
            return True
    cuts = any(values.get(name, "").startswith(("hidden", "clip")) for name in ("overflow", "overflow-x", "overflow-y"))
    sizes = ("width", "height", "max-width", "max-height")
    return cuts and any(name in values and _is_nothing(values[name]) for name in sizes)


def _is_nothing(value: str) -> bool:
    match = LENGTH.fullmatch(value)
    return match is not None and abs(float(match[1])) * PX[match[2] or "px"] <= SMALL_PX
