"""Colours of style sheets: whether a text has that of its background."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Mapping

Colour = tuple[float, float, float, float]
"""Red, green, blue from 0 to 255, and opacity from 0 to 1."""

UNKNOWN: Colour = (-1.0, -1.0, -1.0, 1.0)
"""A colour that was never set."""

WHITE, BLACK, CLEAR = (255.0, 255.0, 255.0, 1.0), (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 0.0)
DISTANCE_MIN = 24.0
"""How far two colours differ, summed over red, green and blue, before a reader can tell text from its background."""

_NAMES = {
    **{
        "white": WHITE,
        "black": BLACK,
        "transparent": CLEAR,
        "snow": (255.0, 250.0, 250.0, 1.0),
        "ivory": (255.0, 255.0, 240.0, 1.0),
    },
    **{
        "red": (255.0, 0.0, 0.0, 1.0),
        "lime": (0.0, 255.0, 0.0, 1.0),
        "blue": (0.0, 0.0, 255.0, 1.0),
        "green": (0.0, 128.0, 0.0, 1.0),
    },
    **{"yellow": (255.0, 255.0, 0.0, 1.0), "aqua": (0.0, 255.0, 255.0, 1.0), "cyan": (0.0, 255.0, 255.0, 1.0)},
    **{"fuchsia": (255.0, 0.0, 255.0, 1.0), "magenta": (255.0, 0.0, 255.0, 1.0), "navy": (0.0, 0.0, 128.0, 1.0)},
    **{"gray": (128.0, 128.0, 128.0, 1.0), "grey": (128.0, 128.0, 128.0, 1.0), "silver": (192.0, 192.0, 192.0, 1.0)},
    **{
        "whitesmoke": (245.0, 245.0, 245.0, 1.0),
        "ghostwhite": (248.0, 248.0, 255.0, 1.0),
        "mintcream": (245.0, 255.0, 250.0, 1.0),
    },
    **{"floralwhite": (255.0, 250.0, 240.0, 1.0), "azure": (240.0, 255.0, 255.0, 1.0), "aliceblue": (240.0, 248.0, 255.0, 1.0)},
    **{"maroon": (128.0, 0.0, 0.0, 1.0), "purple": (128.0, 0.0, 128.0, 1.0), "olive": (128.0, 128.0, 0.0, 1.0)},
    **{"teal": (0.0, 128.0, 128.0, 1.0), "orange": (255.0, 165.0, 0.0, 1.0), "canvas": WHITE, "canvastext": BLACK},
}
_HEX = re.compile(r"#([0-9a-f]{3,8})")
_FUNCTION = re.compile(r"(rgba?|hsla?)\(([^()]*)\)")
_WORD = re.compile(r"#[0-9a-f]{3,8}|(?:rgba?|hsla?)\([^()]*\)|[a-z-]+")
_SEPARATOR = re.compile(r"[\s,/]+")


def read_colour(value: str, above: Colour | None) -> Colour | None:
    """Return a colour; that of the element above where it is inherited; None where it cannot be told."""
    value = value.strip()
    if value in ("inherit", "currentcolor", "unset"):
        return above
    if value in ("initial", "revert"):
        return BLACK
    if value in _NAMES:
        return _NAMES[value]
    if match := _HEX.fullmatch(value):
        return _read_hex(match[1])
    if match := _FUNCTION.fullmatch(value):
        return _read_function(match[1], match[2])
    return None


def read_background(values: Mapping[str, str], above: Colour | None) -> Colour | None:
    """Return the colour behind the texts of an element; None where it has an image, or cannot be told."""
    if "url(" in values.get("background-image", "") or "gradient(" in values.get("background-image", ""):
        return None
    value = values.get("background-color")
    if value is None:
        value = values.get("background")
        if value is None:
            return above
        if "url(" in value or "gradient(" in value:
            return None
        colours = [colour for word in _WORD.findall(value) if (colour := read_colour(word, None)) is not None]
        return blend(colours[0], above) if colours else above
    if value in ("inherit", "initial", "unset", "none"):
        return above
    return blend(read_colour(value, above), above)


def blend(colour: Colour | None, behind: Colour | None) -> Colour | None:
    """Return the colour that is seen."""
    if colour is None or colour[3] >= 1:
        return colour
    if colour[3] <= 0:
        return behind
    if behind is None:
        return None
    share = colour[3]
    red, green, blue = (share * part + (1 - share) * other for part, other in zip(colour[:3], behind[:3], strict=True))
    return red, green, blue, 1.0


def are_alike(colour: Colour | None, background: Colour | None) -> bool:
    """Tell whether text of a colour cannot be seen."""
    if colour is None or background is None:
        return False
    return sum(abs(part - other) for part, other in zip(colour[:3], background[:3], strict=True)) < DISTANCE_MIN


def _read_hex(digits: str) -> Colour | None:
    if len(digits) in (3, 4):
        digits = "".join(2 * digit for digit in digits)
    if len(digits) not in (6, 8):
        return None
    red, green, blue, share = (float(int(digits[start : start + 2] or "ff", 16)) for start in range(0, 8, 2))
    return red, green, blue, share / 255


def _read_function(name: str, arguments: str) -> Colour | None:
    parts = [part for part in _SEPARATOR.split(arguments.strip()) if part]
    if len(parts) not in (3, 4):
        return None
    try:
        share = _read_share(parts[3]) if len(parts) == 4 else 1.0
        if name.startswith("hsl"):
            hue = float(parts[0].removesuffix("deg")) / 360
            red, green, blue = colorsys.hls_to_rgb(hue % 1, _read_share(parts[2]), _read_share(parts[1]))
            return 255 * red, 255 * green, 255 * blue, share
        red, green, blue = (255 * _read_share(part) if part.endswith("%") else float(part) for part in parts[:3])
        return red, green, blue, share
    except ValueError:
        return None


def _read_share(text: str) -> float:
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
