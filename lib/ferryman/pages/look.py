"""How the text of an element looks: whether a reader can see it, by its size, its colour and that of its background."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ferryman.pages.colours import BLACK, UNKNOWN, WHITE, Colour, are_alike, blend, read_background, read_colour
from ferryman.pages.lengths import LENGTH, PX

SMALL_PX = 2.0  # no reader sees a letter of this size


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How the texts of an element look, by its own style and what it has from those above it. Most elements share one.

    `above` are the names of those above it, as far as any rule asks for them.
    """

    above: frozenset[str]

    is_visible: bool = True
    size_px: float = 16.0
    colour: Colour | None = BLACK
    fill: Colour | None = UNKNOWN
    background: Colour | None = WHITE

    @property
    def shows_text(self) -> bool:
        """Whether a reader sees it."""
        colour = self.colour if self.fill is UNKNOWN else self.fill
        return self.is_visible and self.size_px > SMALL_PX and not are_alike(colour, self.background)


def inherit(values: Mapping[str, str], look: Look) -> Look:
    """Return what the texts and the elements below have."""
    if "visibility" in values and values["visibility"] != "inherit":
        look = replace(look, is_visible=values["visibility"] not in ("hidden", "collapse"))
    size = _read_size(values, look.size_px)
    if size != look.size_px:
        look = replace(look, size_px=size)
    background = read_background(values, look.background)
    if background is not look.background:
        look = replace(look, background=background)
    if "color" in values:
        look = replace(look, colour=blend(read_colour(values["color"], look.colour), look.background))
    if "-webkit-text-fill-color" in values:
        look = replace(look, fill=blend(read_colour(values["-webkit-text-fill-color"], look.colour), look.background))
    return look


def _read_size(values: Mapping[str, str], above: float) -> float:
    value = values.get("font-size")
    if value is None:
        value = next((part.partition("/")[0] for part in values.get("font", "").split() if LENGTH.match(part)), None)
    match = LENGTH.fullmatch(value) if value else None
    if match is None:
        return above if value in (None, "inherit", "smaller", "larger") else 16.0
    if match[2] == "%":
        return above * float(match[1]) / 100
    return float(match[1]) * (above if match[2] == "em" else PX[match[2] or "px"])
