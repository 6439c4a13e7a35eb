"""The rules of a search for the main text: how strict it is, and what elements are left out by their names and roles."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ferryman.pages.tree import Element

_UNLIKELY = re.compile(
    r"-ad-|ai2html|banner|breadcrumbs|combx|comment|community|cover-wrap|disqus|extra|footer|gdpr|header|legends|menu|related|remark"
    r"|replies|rss|shoutbox|sidebar|skyscraper|social|sponsor|supplemental|ad-break|agegate|pagination|pager|popup|yom-remote",
    re.IGNORECASE,
)
_LIKELY = re.compile(r"and|article|body|column|content|main|mathjax|shadow", re.IGNORECASE)
UNLIKELY_ROLES = frozenset(("menu", "menubar", "complementary", "navigation", "alert", "alertdialog", "dialog"))


@dataclass(frozen=True, slots=True)
class SearchRules:
    """How strict a search is."""

    drops_unlikely: bool = True
    weighs_names: bool = True
    cleans: bool = True


ATTEMPTS = (SearchRules(), SearchRules(False), SearchRules(False, False), SearchRules(False, False, False))


def drop_unlikely(order: list[Element]) -> None:
    """Drop the elements that by their names or roles hold no main text, with all below them; `order` is that of the page."""
    inside: set[Element] = set()  # tables and code, and what is in them
    known: dict[str, bool] = {}
    for node in order:
        parent, attributes = node.parent, node.attributes
        if parent is not None and parent.is_dropped:
            node.is_dropped = True
            continue
        is_inside = node.tag in ("table", "code") or parent in inside
        if is_inside:
            inside.add(node)
        if not attributes or node.tag in ("body", "html", "a"):
            continue
        if attributes.get("role") in UNLIKELY_ROLES:
            node.is_dropped = True
        elif not is_inside and ("class" in attributes or "id" in attributes):
            name = node.name
            if name not in known:
                known[name] = bool(_UNLIKELY.search(name)) and not _LIKELY.search(name)
            node.is_dropped = known[name]
