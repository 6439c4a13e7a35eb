"""The Robots Exclusion Protocol (RFC 9309): which paths of a site a program may fetch, in linear time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

BYTES_MAX = 512_000
"""Of a file, as RFC 9309 (2.5) asks for; what comes after them is not read."""

RULES_MAX = 2_000
"""Of a program; the file's later ones are not read."""

_LINE = re.compile(r"[ \t]*([A-Za-z-]{1,32})[ \t]*:[ \t]*([^#\r\n]{0,2048})")


@dataclass(frozen=True, slots=True)
class RobotRules:
    """The rules of one program, as (path, is allowed); none: everything may be fetched."""

    rules: tuple[tuple[str, bool], ...] = ()

    def admits(self, target: str) -> bool:
        """Tell whether the path with its query may be fetched: the longest rule that matches decides, of two the kinder."""
        decoded = unquote(target)
        matching = [(len(path), allowed) for path, allowed in self.rules if _matches(path, decoded)]
        return max(matching, default=(0, True))[1]


def read_robots(text: str, program: str) -> RobotRules:
    """Return the rules of `text` for `program`: those of all groups that name it, else of those for anybody."""
    named_rules: list[tuple[str, bool]] = []
    anybody: list[tuple[str, bool]] = []
    named, is_open, is_named = set[str](), False, False
    for match in map(_LINE.match, text[:BYTES_MAX].splitlines()):
        if match is None:
            continue
        name, value = match[1].lower(), match[2].strip()
        if name == "user-agent":
            named = named if is_open else set()
            named.add(value.lower())
            is_open, is_named = True, is_named or value.lower() == program.lower()
        elif name in ("allow", "disallow"):
            is_open = False
            for agent, rules in ((program.lower(), named_rules), ("*", anybody)):
                if agent in named and value and len(rules) < RULES_MAX:
                    rules.append((unquote(value), name == "allow"))
    return RobotRules(tuple(named_rules if is_named else anybody))


def _matches(path: str, target: str) -> bool:
    """Tell whether a rule's path matches: `*` is any text, and `$` at its end the end of the target."""
    is_anchored = path.endswith("$")
    first, *others = path.removesuffix("$").split("*")
    if not target.startswith(first):
        return False
    if not others:
        return not is_anchored or target == first
    *between, last = others
    place = len(first)
    for part in between:
        place = target.find(part, place)
        if place < 0:
            return False
        place += len(part)
    if is_anchored:
        return len(target) - len(last) >= place and target.endswith(last)
    return target.find(last, place) >= 0
