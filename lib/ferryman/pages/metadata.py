"""Title, author and date of a page. What only metadata say is used where the page shows it too, or where it is a date.

Otherwise they would be a place for text that no reader sees (prompt injection).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ferryman.pages.tree import Element, Tree
from ferryman.pages.walking import read_text

TITLE_MAX, BYLINE_MAX = 300, 100
HEADLINES_MAX, AUTHORS_MAX = 16, 32  # elements that are examined
VISIBLE_MAX = 500_000
SCRIPT_MAX, SCRIPTS_MAX = 262_144, 16
_SEPARATOR = re.compile(r"\s[|\-–—\\/>»·:]\s")
_BYLINE = re.compile(r"(?<![a-z])(?:byline|authors?|dateline|writtenby|p-author)(?![a-z])", re.IGNORECASE)
_DATE = re.compile(r"\s*((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?!\d)")
_DATES = frozenset(
    (
        "article:published_time",
        "datepublished",
        "date",
        "dc.date",
        "dcterms.created",
        "pubdate",
        "publishdate",
        "parsely-pub-date",
    )
)
_AUTHORS = frozenset(("author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "byl"))
_BY = re.compile(r"^(?:by|von|par|por|di|door)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Metadata:
    """`date` is YYYY-MM-DD; each is empty where it is not known."""

    title: str = ""
    byline: str = ""
    date: str = ""
    base: str = ""


def read_metadata(tree: Tree) -> Metadata:
    """Return what is known of a page; hidden elements are dropped already."""
    named = [(name, value) for node in tree.order if node.tag == "meta" for name, value in _name_meta(node)]
    data = [
        item
        for node in tree.order
        if node.tag == "script" and "ld+json" in node.attributes.get("type", "")
        for item in _load(node)
    ]
    return Metadata(
        title=_find_title(tree),
        byline=_find_byline(
            tree, [value for name, value in named if name in _AUTHORS] + list(_find_authors(data[:SCRIPTS_MAX]))
        ),
        date=_find_date(tree, data[:SCRIPTS_MAX], [value for name, value in named if name in _DATES]),
        base=next((node.attributes["href"] for node in tree.order if node.tag == "base" and node.attributes.get("href")), ""),
    )


def drop_title(tree: Tree, title: str) -> None:
    """Drop the first headline that says the title again."""
    same = _simplify(title)
    headlines = (node for node in tree.order if node.tag in ("h1", "h2") and not node.is_dropped)
    for node in islice(headlines, 2 * HEADLINES_MAX):
        if _simplify(read_text(node, TITLE_MAX + 50)) == same:
            node.is_dropped = True
            return


def _simplify(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _own_text(node: Element) -> str:
    return " ".join("".join(child for child in node.children if isinstance(child, str)).split())


def _find_title(tree: Tree) -> str:
    """Return the title without the name of the site."""
    whole = next((text for node in tree.order if node.tag == "title" and (text := _own_text(node))), "")[: 4 * TITLE_MAX]
    candidates = islice((node for node in tree.order if node.tag == "h1" and not node.is_dropped), HEADLINES_MAX)
    headlines = [headline for node in candidates if (headline := read_text(node, TITLE_MAX))]
    same = _simplify(whole)
    for headline in headlines:
        if len(headline) >= 0.3 * len(whole) and _simplify(headline) in same:
            return headline[:TITLE_MAX]
    parts = _SEPARATOR.split(whole)
    if len(parts) > 1:
        first, rest = parts[0], whole[whole.rindex(parts[-1]) :]
        head = whole[: -len(rest)].rstrip(" |-–—\\/>»·:") if rest else first
        if len(head.split()) >= 3 or len(head) >= 15:
            whole = head
        elif len(rest.split()) > len(head.split()):
            whole = rest
    if not whole and len(headlines) == 1:
        whole = headlines[0]
    return whole[:TITLE_MAX].strip()


def _find_byline(tree: Tree, named: list[str]) -> str:
    named = [
        name for name in (" ".join(name.split()) for name in named[:16]) if 2 < len(name) <= BYLINE_MAX and "//" not in name
    ]
    if named:
        visible = _simplify(read_text(tree.root, VISIBLE_MAX, VISIBLE_MAX))
        for name in named:
            if (same := _simplify(name)) and same in visible:
                return name
    for node in islice(
        (node for node in tree.order if node.attributes and not node.is_dropped and _is_author(node)), AUTHORS_MAX
    ):
        text = _BY.sub("", read_text(_find_name(node) or node, BYLINE_MAX + 1))
        if 2 < len(text) <= BYLINE_MAX:
            return text
    return ""


def _is_author(node: Element) -> bool:
    attributes = node.attributes
    return (
        attributes.get("rel") == "author"
        or "author" in attributes.get("itemprop", "")
        or (("class" in attributes or "id" in attributes) and bool(_BYLINE.search(node.name)))
    )


def _find_name(node: Element) -> Element | None:
    """Return the element with the name itself, a few levels below."""
    waiting = [(child, 0) for child in node.elements()][:32]
    while waiting:
        child, level = waiting.pop()
        if child.attributes.get("itemprop") == "name" or child.attributes.get("rel") == "author":
            return child
        if level < 3:
            waiting.extend([(below, level + 1) for below in child.elements()][:32])
    return None


def _find_date(tree: Tree, data: list[dict[str, Any]], named: list[str]) -> str:
    published = [value for item in data if isinstance(value := item.get("datePublished"), str)]
    visible = [
        node.attributes.get("datetime") or node.attributes.get("content") or ""
        for node in tree.order
        if node.attributes
        and ((node.tag == "time" and "datetime" in node.attributes) or "datePublished" in node.attributes.get("itemprop", ""))
    ]
    for value in [*published, *named, *visible[:16]]:
        if match := _DATE.match(value):
            return "-".join(match.groups())
    return ""


def _name_meta(node: Element) -> Iterator[tuple[str, str]]:
    value = node.attributes.get("content", "").strip()
    if value:
        for kind in ("name", "property", "itemprop"):
            for name in node.attributes.get(kind, "").lower().split()[:8]:
                yield name, value


def _load(node: Element) -> Iterator[dict[str, Any]]:
    """Yield the objects of structured data that describe something: not what is nested further down."""
    text = "".join(child for child in node.children if isinstance(child, str))
    if len(text) > SCRIPT_MAX:
        return
    try:
        value = json.loads(text.strip().removeprefix("<![CDATA[").removesuffix("]]>"))
    except (ValueError, RecursionError):
        return
    items = value if isinstance(value, list) else [value]
    for item in items[:SCRIPTS_MAX]:
        if isinstance(item, dict):
            yield item
            graph = item.get("@graph")
            if isinstance(graph, list):
                yield from (inner for inner in graph[:SCRIPTS_MAX] if isinstance(inner, dict))


def _find_authors(data: list[dict[str, Any]]) -> Iterator[str]:
    for item in data:
        author = item.get("author")
        names = [
            name
            for value in (author if isinstance(author, list) else [author])[:8]
            if isinstance(name := value.get("name") if isinstance(value, dict) else value, str)
        ]
        if names:
            yield ", ".join(names)
            yield from names
