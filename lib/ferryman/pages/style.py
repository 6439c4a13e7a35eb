"""Style sheets, as far as they hide text: rules of the page itself, in linear time and with a bounded number of them.

Sheets that a page links to are not fetched: what only these hide is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from ferryman.pages.selectors import Selector, name_element, read_selectors, unescape
from ferryman.pages.tree import Element

RULES_MAX = 20_000
SHEETS_CHARACTERS_MAX = 2_097_152
VALUE_MAX = 200
NESTING_MAX = 8  # blocks of @media, @supports and @layer inside each other
WIDTH_PX = 1_280  # of the screen on which a page is imagined

_PROPERTIES = (
    "-webkit-clip-path -webkit-text-fill-color background background-color background-image bottom clip clip-path color"
    " content-visibility display filter font font-size height inset inset-inline-start left margin margin-left margin-top"
    " max-height max-width opacity overflow overflow-x overflow-y position right scale text-indent top transform translate"
    " visibility width zoom"
)
PROPERTIES = frozenset(_PROPERTIES.split())
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_MAX_WIDTH = re.compile(r"max-width\s*:\s*(\d{1,6})")
_MIN_WIDTH = re.compile(r"min-width\s*:\s*(\d{1,6})")
_BRACE = re.compile(r"[{}]")
_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,([^()]*))?\)")
VARIABLES_MAX, CANDIDATES_MAX = 1_000, 10_000

COMPARED_MAX = 1_000_000
"""Comparisons of a rule with an element. After them, an element that rules could mean is taken for hidden."""

Declarations = Mapping[str, tuple[bool, str]]
"""Values by property, each with whether it is !important."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Declarations for what a selector means."""

    selector: Selector
    order: int
    declarations: Declarations


_HIDING = Rule(Selector(frozenset("*"), (), frozenset(), (0, 0, 0)), 0, {"display": (True, "none")})


class Sheet:
    """The rules of a page, found by one name each, and its variables."""

    def __init__(self, rules: Iterable[Rule], variables: Mapping[str, str], *, is_cut: bool) -> None:
        self._variables = variables
        self.is_cut = is_cut
        """Whether there are more rules than are read."""
        self._candidates: dict[tuple[str, str | None, str | None], tuple[Rule, ...]] = {}
        self._compared = 0
        self._rules: dict[str, list[Rule]] = {}
        every = [*rules]
        for rule in every:
            self._rules.setdefault(rule.selector.key, []).append(rule)
        self.names_above = frozenset(name for rule in every for name in rule.selector.above)
        """The names that rules ask for at the ancestors of an element."""
        self._is_universal = "*" in self._rules

    def match(self, node: Element, above: Set[str]) -> dict[str, str] | None:
        """Return the values of an element, whose own style comes last; None where there are none.

        `above` are names of its ancestors.
        """
        attributes = node.attributes
        inline = attributes.get("style") if attributes else None
        rules = self._find_rules(node, above) if attributes or node.tag in self._rules or self._is_universal else ()
        if not rules and not inline:
            return None
        values: dict[str, str] = {}
        important: set[str] = set()
        for declarations in [*(rule.declarations for rule in rules), *([read_declarations(inline)] if inline else ())]:
            for name, (is_important, value) in declarations.items():
                if is_important or name not in important:
                    values[name] = self._resolve(value) if "var(" in value else value
                    if is_important:
                        important.add(name)
        return values

    def _find_rules(self, node: Element, above: Set[str]) -> Sequence[Rule]:
        """Return the rules that mean an element, the weakest first. Elements of the same names have the same candidates."""
        attributes = node.attributes
        key = (node.tag, attributes.get("class"), attributes.get("id")) if attributes else (node.tag, None, None)
        candidates = self._candidates.get(key)
        if candidates is None:
            names = frozenset((*name_element(node), "*"))
            rules = [
                rule for name in names if name in self._rules for rule in self._rules[name] if rule.selector.names <= names
            ]
            rules.sort(key=lambda rule: (rule.selector.rank, rule.order))
            self._compared += sum(len(self._rules.get(name, ())) for name in names)
            candidates = tuple(rules)
            if len(self._candidates) < CANDIDATES_MAX:
                self._candidates[key] = candidates
        if not candidates:
            return ()
        self._compared += len(candidates)
        if self._compared > COMPARED_MAX:
            return (_HIDING,)
        return [rule for rule in candidates if rule.selector.means(node, above)]

    def _resolve(self, value: str) -> str:
        for _ in range(NESTING_MAX):
            value = _VARIABLE.sub(lambda match: self._variables.get(match[1], (match[2] or "").strip()), value)[:256]
        return value


def read_sheets(texts: Iterable[str]) -> Sheet:
    """Return the rules of style sheets that hide or show something."""
    rules: list[Rule] = []
    variables: dict[str, str] = {}
    remaining, is_cut = SHEETS_CHARACTERS_MAX, False
    for text in texts:
        is_cut = is_cut or len(text) > remaining
        clean = _COMMENT.sub(" ", text[:remaining])
        remaining -= min(remaining, len(text))
        for selectors, block in _find_blocks(clean):
            if "--" in block and len(variables) < VARIABLES_MAX:
                variables.update(_read_variables(block))
            declarations = read_declarations(block)
            is_cut = is_cut or len(rules) >= RULES_MAX
            if declarations and len(rules) < RULES_MAX:
                rules.extend(Rule(selector, len(rules), declarations) for selector in read_selectors(selectors))
    return Sheet(rules, variables, is_cut=is_cut)


def _read_variables(block: str) -> Iterator[tuple[str, str]]:
    for part in block.split(";"):
        name, colon, value = part.partition(":")
        if colon and name.strip().startswith("--"):
            yield name.strip(), value.strip().lower()[:100]


def read_declarations(text: str) -> Declarations:
    """Return those properties of `text` that can hide it, in lower case."""
    declarations: dict[str, tuple[bool, str]] = {}
    if "/*" in text:
        text = _COMMENT.sub(" ", text)
    text = unescape(text)
    for part in text.split(";"):
        name, colon, value = part.partition(":")
        name = name.strip().lower()
        if colon and name in PROPERTIES:
            value, mark, _ = value.lower().partition("!")
            declarations[name] = (bool(mark), value.strip()[:VALUE_MAX])
    return declarations


def _find_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors and the declarations of each rule, those inside of other rules and of @-rules that apply included."""
    position, skipping, depth = 0, 0, 0
    while brace := _BRACE.search(text, position):
        head = text[position : brace.start()].rpartition(";")[2].strip()
        position = brace.end()
        if brace[0] == "}":
            if skipping:
                skipping -= 1
            else:
                depth = max(0, depth - 1)
        elif skipping or (head.startswith("@") and (depth >= NESTING_MAX or not _applies(head.lower()))):
            skipping += 1
        elif head.startswith("@"):
            depth += 1
        else:
            depth += 1
            inner = _BRACE.search(text, position)
            block = text[position : inner.start() if inner else len(text)]
            if inner and inner[0] == "{":  # what is before the last semicolon is the outer rule's
                block = block.rpartition(";")[0]
            yield head, block


def _applies(head: str) -> bool:
    """Tell whether an @-rule holds on a screen: unknown conditions do, so that they cannot show what is hidden otherwise."""
    if head.startswith("@media"):
        if "print" in head and "screen" not in head and "not" not in head:
            return False
        if any(int(width) < WIDTH_PX for width in _MAX_WIDTH.findall(head)):
            return False
        return all(int(width) <= WIDTH_PX for width in _MIN_WIDTH.findall(head))
    return head.startswith(("@supports", "@layer", "@container", "@scope"))
