"""Identities: people as an authorization server of the operator's names them, and what an access token of theirs may do here.

A person links an identity once, with an API key and an access token together. No scope of a token gives the right to approve.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.copies import replace
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Right
from ferryman.domain.workspaces.tool_scopes import CATEGORY, is_category

READ_SCOPE, RUN_SCOPE, TOOLS_SCOPE = "ferryman:read", "ferryman:run", "ferryman:tools:"
"""Read what the person reads; call every tool and start tasks; call the tools of one category, as ferryman:tools:search."""

WELL_KNOWN = "/.well-known/oauth-protected-resource"
DOMAIN = "ferryman/identity/1"


class InvalidAccessTokenError(Exception):
    """What was presented is no access token for this server that is valid now; the text says why and repeats nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """What an access token says that is valid: whose it is, and its scopes."""

    issuer: str
    subject: str = field(repr=False)
    scopes: frozenset[str]

    @property
    def digest(self) -> str:
        """Under what the link of this identity is stored, in the place of a key's digest: no API key has it."""
        # each with its length, so that nothing moves from one to the other
        parts = (f"{len(text.encode())}:{text}" for text in (self.issuer, self.subject))
        return hashlib.sha256("\n".join((DOMAIN, *parts)).encode()).hexdigest()


def list_scopes(categories: Iterable[str]) -> tuple[str, ...]:
    """Return every scope that a token may have, with the categories of tools that there are."""
    return (READ_SCOPE, RUN_SCOPE, *(f"{TOOLS_SCOPE}{name}" for name in sorted(set(categories))))


def narrow_link(link: ApiKey, scopes: Collection[str]) -> ApiKey:
    """Return the `link` of an identity as a request may use it whose token has `scopes`: it never has more than the link.

    It reads with `READ_SCOPE`, and runs with `RUN_SCOPE`, or narrowed to the categories of its scopes of tools.
    """
    names = sorted(scope.removeprefix(TOOLS_SCOPE) for scope in scopes if scope.startswith(TOOLS_SCOPE))
    tools: tuple[str, ...] | None = tuple(f"{CATEGORY}{name}" for name in names if is_category(name))
    rights = {Right.READ} if READ_SCOPE in scopes else set()
    rights |= {Right.RUN} if RUN_SCOPE in scopes or tools else set()
    if RUN_SCOPE in scopes:
        tools = None
    if link.tools is not None:
        tools = link.tools if tools is None else tuple(tool for tool in tools if tool in link.tools)
    return replace(link, scopes=tuple(right for right in link.scopes if right in rights), tools=tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedResource:
    """This server as OAuth has it: the URL of /mcp, which access tokens must be for, and the `issuer` that issues them."""

    url: str
    issuer: str

    @property
    def metadata_url(self) -> str:
        """Where its metadata is (RFC 9728, 3.1): the well-known path comes between host and path."""
        scheme, _, rest = self.url.partition("://")
        host, _, path = rest.partition("/")
        return f"{scheme}://{host}{WELL_KNOWN}/{path}"

    def describe(self, scopes: Iterable[str]) -> dict[str, Any]:
        """Return the metadata (RFC 9728, 2)."""
        return {
            "resource": self.url,
            "authorization_servers": [self.issuer],
            "scopes_supported": list(scopes),
            "bearer_methods_supported": ["header"],
            "resource_name": "Ferryman",
        }
