"""Names: the suite's servers are at http://localhost:PORT, which the product refuses; here each has an https name of its own.

Each name is of one address and each address has one name, in everything that goes out or comes in: what the product compares is
the same exactly where what the suite sent is the same.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

_LOCAL = re.compile(r"http://localhost:([0-9]{1,5})")
_NAMED = re.compile(r"https://p([0-9]{1,5})\.suite\.test")


def name_addresses(text: str) -> str:
    """Return `text` with the name of each address."""
    return _LOCAL.sub(r"https://p\1.suite.test", text)


def locate_names(text: str) -> str:
    """Return `text` with the address of each name: the inverse of `name_addresses`."""
    return _NAMED.sub(r"http://localhost:\1", text)


def locate_url(url: str) -> str:
    """Return a URL that is to be requested, with the addresses of all names, those in its query among them."""
    return _change_query(locate_names(url), locate_names)


def name_url(url: str) -> str:
    """Return a URL that the suite leads to, with the names of all addresses."""
    return _change_query(name_addresses(url), name_addresses)


def _change_query(url: str, change: object) -> str:
    assert callable(change)
    parts = urlsplit(url)
    pairs = [(name, change(value)) for name, value in parse_qsl(parts.query, keep_blank_values=True)]
    return urlunsplit(parts._replace(query=urlencode(pairs)))
