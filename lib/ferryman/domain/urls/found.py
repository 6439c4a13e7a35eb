"""The URLs that a search found, in the answer that the model reads: those of its results alone, never what was searched for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from ferryman.domain.json_tree import iterate_leaves
from ferryman.domain.urls.tokens import list_urls

_UNSEEN = re.compile("[^!-~]+")
_SIGNS = re.compile("[^a-z0-9]+")


def list_found(content: str, arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the URLs of the results in `content`, the answer to a search, framed or not.

    None where the answer does not repeat the query byte for byte: then something was taken out of it or undone in it, and a URL
    there may be the model's own words. So too where it is cut.
    """
    begin, end = content.find("{"), content.rfind("}") + 1
    try:
        answer = json.loads(content[begin:end], object_pairs_hook=_read_object)
    except (ValueError, RecursionError):
        return
    query = arguments.get("query")
    if not isinstance(query, str) or set(answer) != {"query", "results"} or answer["query"] != " ".join(query.split()):
        return
    rows = answer["results"] if isinstance(answer["results"], list) else []
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("url"), str):
            yield from list_urls(row["url"])


def list_texts(arguments: Mapping[str, Any]) -> list[str]:
    """Return the texts of a search, wherever they are in its arguments."""
    return [leaf for leaf in iterate_leaves(arguments) if isinstance(leaf, str)]


def fold_query(text: str) -> tuple[str, str]:
    """Return a text that was searched for, as `is_asked` compares it: its letters and digits, as written and decoded."""
    visible = _UNSEEN.sub("", text)
    return _SIGNS.sub("", visible.lower()), _SIGNS.sub("", unquote(unquote(visible)).casefold())


def is_asked(url: str, queries: Iterable[tuple[str, str]]) -> bool:
    """Tell whether the model has searched for the URL itself, in whatever spelling: only letters and digits count."""
    plain, decoded = fold_query(url.partition("://")[2])
    return any(plain in query or decoded in decoded_query for query, decoded_query in queries)


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name comes twice")
    return members
