"""Sites: what one registrant controls, by the Public Suffix List."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


@cache
def _read_list() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # ten thousand rules: only calls of public pages need them

    # Of registries alone: subdomains that a company gives to anybody count as one site, since one person may take many.
    return PublicSuffixList(only_icann=True)


def find_site(host: str) -> str:
    """Return the registrable domain of `host`, a name in lower case; the host itself where it is a public suffix."""
    return _read_list().privatesuffix(host) or host


def has_public_suffix(host: str) -> bool:
    """Tell whether `host`, a name in lower case, ends in a suffix that the list has, and is more than that."""
    return _read_list().privatesuffix(host, accept_unknown=False) is not None
