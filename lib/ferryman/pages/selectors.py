"""Selectors of style sheets: which element a rule means, by names that can be searched in constant time.

The last part is matched against an element; of the parts before it, it is asked only whether each of their names is at some
ancestor, and states and positions are not asked at all. So a rule may hide more than in a browser, and never less.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass

from ferryman.pages.tree import Element

SELECTORS_MAX = 256  # of one rule
PARTS_MAX = 8
CLASSES_MAX = 64

_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_SIMPLE = re.compile(
    r"([.#]?)((?:[\w-]|[^\x00-\x7f]|\\.)+|\*)"
    r"|\[\s*([\w-]+)\s*(?:([~|^$*]?=)([^\[\]]*))?\]"
    r"|(::?[\w-]+(?:\([^()]*\))?)"
)
_COMBINATOR = re.compile(r"(\s*[>+~]\s*|\s+)")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LIST = re.compile(r":(?:is|where|matches|-webkit-any)\(([^()]*)\)")
# States that an element has only while somebody points at it or types, and parts that are not its own text.
_OTHER_STATE = re.compile(
    r":(?:hover|focus|active|target|checked|disabled|invalid|placeholder|:?before|:?after|:?first-l|:?selection|:?marker|empty|:)"
)

_TESTS: Mapping[str, Callable[[str, str], bool]] = {
    "=": lambda value, other: value == other,
    "~=": lambda value, other: other in value.split(),
    "|=": lambda value, other: value == other or value.startswith(f"{other}-"),
    "^=": lambda value, other: bool(other) and value.startswith(other),
    "$=": lambda value, other: bool(other) and value.endswith(other),
    "*=": lambda value, other: bool(other) and other in value,
}


@dataclass(frozen=True, slots=True)
class Selector:
    """Elements that have all `names` (a tag, `.class` or `#id` each) and `conditions`, below ancestors with all of `above`."""

    names: frozenset[str]
    conditions: tuple[tuple[str, str, str], ...]
    above: frozenset[str]
    rank: tuple[int, int, int]

    @property
    def key(self) -> str:
        """The name that the fewest elements have: an id, else a class, else a tag."""
        return min(self.names, key=lambda name: (("#", ".").index(name[0]) if name[0] in "#." else 2, name))

    def means(self, node: Element, above: Set[str]) -> bool:
        """Tell whether it means an element that has its names; `above` are those of its ancestors."""
        if not self.above <= above:
            return False
        for name, test, other in self.conditions:
            value = node.attributes.get(name)
            if value is None or (test and not _TESTS[test](value, other)):
                return False
        return True


def name_element(node: Element) -> list[str]:
    """Return the names by which a selector can mean an element."""
    names = [node.tag]
    if node.attributes:
        if identity := node.attributes.get("id"):
            names.append(f"#{identity.strip()}")
        if classes := node.attributes.get("class"):
            names.extend(f".{name}" for name in classes.split(None, CLASSES_MAX)[:CLASSES_MAX])
    return names


def read_selectors(text: str) -> Iterator[Selector]:
    """Yield the selectors of a rule, without those of states and parts."""
    # an escape by number becomes one by character, so that no space ends it
    text = _ESCAPE.sub(lambda match: f"\\{_write_escaped(match)}", text) if "\\" in text else text
    for item in _split(text)[:SELECTORS_MAX]:
        for selector in _expand(item.strip()):
            if selector and not _OTHER_STATE.search(_ESCAPED.sub("_", selector)):
                yield _read(selector)


def _split(text: str) -> list[str]:
    """Return the parts of `text` between commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"[()\[\],]", text):
        if match[0] in "([":
            depth += 1
        elif match[0] in ")]":
            depth = max(0, depth - 1)
        elif not depth:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _expand(selector: str) -> list[str]:
    """Return one selector for each item of the first list in it, such as `:is(a, b)`."""
    match = _LIST.search(selector)
    if not match:
        return [selector]
    items = match[1].split(",")[:SELECTORS_MAX]
    return [selector[: match.start()] + item.strip() + selector[match.end() :] for item in items]


def _read(selector: str) -> Selector:
    pieces = _COMBINATOR.split(selector)[-2 * PARTS_MAX + 1 :]
    last = [*_SIMPLE.finditer(pieces[-1])]
    # what comes before + and ~ is no ancestor
    before = [
        match
        for part, combinator in zip(pieces[:-1:2], pieces[1::2], strict=False)
        if combinator.strip() not in ("+", "~")
        for match in _SIMPLE.finditer(part)
    ]
    names = frozenset(_unescape(match) for match in last if match[2])
    every = [*before, *last]
    return Selector(
        names=names or frozenset("*"),
        conditions=tuple((match[3].lower(), match[4] or "", _read_value(match[5] or "")) for match in last if match[3]),
        above=frozenset(_unescape(match) for match in before if match[2] and match[2] != "*"),
        rank=(
            sum(match[1] == "#" for match in every),
            sum(match[1] == "." or bool(match[3] or match[6]) for match in every),
            sum(not match[1] and bool(match[2]) and match[2] != "*" for match in every),
        ),
    )


def _read_value(text: str) -> str:
    """Return the value of a condition without its quotes, and what follows them."""
    value = text.strip()
    return value[1:].partition(value[0])[0] if value[:1] in ("'", '"') else value


def _unescape(match: re.Match[str]) -> str:
    name = _ESCAPED.sub(r"\1", match[2])
    return match[1] + name if match[1] else name.lower()


def unescape(text: str) -> str:
    """Return `text` with the escapes of CSS replaced by what they mean."""
    return _ESCAPE.sub(_write_escaped, text) if "\\" in text else text


def _write_escaped(match: re.Match[str]) -> str:
    if match[1]:
        number = int(match[1], 16)
        return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    return match[2]
