"""Guesses: ids that nobody has, in the very form of one that somebody has, and spellings of an id that might be read as it."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Mapping
from urllib.parse import quote

_CLASSES = (string.digits, "abcdef", "ghijklmnopqrstuvwxyz", string.ascii_uppercase)


def draw_ghost(name: str, draw: random.Random) -> str:
    """Return another id of the same form: after its prefix, of the same length and of characters of the same classes."""
    prefix, sign, rest = name.partition("_") if name.partition("_")[2] else ("", "", name)
    if not prefix.islower() or len(rest) < 8:
        prefix, sign, rest = "", "", name
    is_hex = all(character in string.hexdigits.lower() for character in rest)
    return prefix + sign + "".join(_draw_like(character, is_hex, draw) for character in rest)


def _draw_like(character: str, is_hex: bool, draw: random.Random) -> str:
    if is_hex:
        return draw.choice("0123456789abcdef")
    return next((draw.choice(known) for known in _CLASSES if character in known), character)


SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "as it is": lambda name: name,
    "in capitals": str.upper,
    "cut short": lambda name: name[:-1],
    "with more": lambda name: name + "0",
    "percent-encoded": lambda name: "".join(f"%{byte:02x}" for byte in name.encode()),
    "encoded twice": lambda name: "".join(f"%25{byte:02x}" for byte in name.encode()),
    "after a space": lambda name: f"%20{name}",
    "before a null": lambda name: f"{name}%00",
    "before a slash": lambda name: f"{name}%2f",
    "with dots": lambda name: f"x%2f..%2f{name}",
    "in full width": lambda name: quote("".join(chr(ord(character) + 0xFEE0) for character in name)),
}
"""Ways to write an id in a path or a query, by name."""
