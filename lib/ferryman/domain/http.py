"""HTTP as a tool sees it: what is to be sent, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ferryman.domain.url import URL

REQUEST_SECONDS = 30
"""The whole call: resolving, connecting, sending, reading (S0-138)."""

RESOLVE_SECONDS = 5


class Method(StrEnum):
    """The methods a tool may use."""

    GET = "GET"
    POST = "POST"
    PUT = "PUT"
    DELETE = "DELETE"

    @property
    def carries_body(self) -> bool:
        """GET and DELETE send none (S0-17)."""
        return self in (Method.POST, Method.PUT)

    @property
    def safe(self) -> bool:
        """Whether repeating the request has no further effect at the other end."""
        return self is Method.GET


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """A request as the model asked for it: nothing injected yet. `url` is the raw string; `credential` is a name.

    `idempotency` is ours: the header by which the other end recognises a repetition, and its value. Nothing else of it has
    been looked through, so it shows only the tool and the method.
    """

    tool: str
    method: Method
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query_params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    credential: str | None = field(default=None, repr=False)
    idempotency: tuple[str, str] | None = None

    @property
    def repeatable(self) -> bool:
        """Whether sending it again has no further effect at the other end."""
        return self.method.safe or self.idempotency is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A request ready for the wire: bytes, with whatever was injected. Never logged, never recorded."""

    method: Method
    url: URL = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """What came back, its body decoded from its content coding and bounded.

    `size_bytes` is the raw size (S0-120); `cut` tells that the body was longer than what was read.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)
    size_bytes: int
    cut: bool = False
