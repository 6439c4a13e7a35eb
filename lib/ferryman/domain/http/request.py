"""HTTP requests and responses of tools, before and after the gate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ferryman.domain.http.url import URL
from ferryman.domain.json_tree import iterate_leaves

REQUEST_SECONDS = 30  # the whole call: resolving, connecting, sending, reading (S0-138)
RESOLVE_SECONDS = 5


class Method(StrEnum):
    """The methods a tool may use: api_call the first four, declared tools all."""

    GET = "GET"
    POST = "POST"
    PUT = "PUT"
    DELETE = "DELETE"
    PATCH = "PATCH"
    HEAD = "HEAD"

    @property
    def has_body(self) -> bool:
        """GET and HEAD send none (S1-19, S3-58); DELETE sends one where its declaration has one."""
        return self not in (Method.GET, Method.HEAD)

    @property
    def safe(self) -> bool:
        """Whether a repeated request has no further effect."""
        return self in (Method.GET, Method.HEAD)


class BodyType(StrEnum):
    """How a declared tool's body is sent (S1-20 … S1-22); `multipart` is a form that may have files (RFC 7578)."""

    JSON = "json"
    FORM = "form"
    QUERY = "query"
    MULTIPART = "multipart"


@dataclass(frozen=True, slots=True)
class SecretPlaceholder:
    """The place in a text where the credential `name` is injected; the gate does it last, so no one reads the filled text."""

    name: str


@dataclass(frozen=True, slots=True)
class Template:
    """A text with placeholders. As a string, each is `{{secrets.NAME}}`."""

    pieces: tuple[str | SecretPlaceholder, ...]

    def __str__(self) -> str:
        return "".join(piece if isinstance(piece, str) else f"{{{{secrets.{piece.name}}}}}" for piece in self.pieces)


Text = str | Template


def list_placeholder_names(value: Any) -> list[str]:
    """Return the names of the credentials in `value`, a text or a JSON-like value with texts, each once, in order."""
    templates = [leaf for leaf in iterate_leaves(value) if isinstance(leaf, Template)]
    pieces = (piece for template in templates for piece in template.pieces)
    return list(dict.fromkeys(piece.name for piece in pieces if isinstance(piece, SecretPlaceholder)))


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundRequest:
    """A request as the model asked for it: nothing injected yet. `url` is the raw string; `credential` is a name.

    A declared tool's request has placeholders for credentials in the values of `fixed_headers` (its owner's; the rules for
    the model's headers do not apply), of `query_params` and anywhere in `body`. A multipart body has lists of parts by name,
    each with its `content` and, where it has them, its `filename` and its `content_type`. `ok` are the statuses that are no
    error; None: all.

    `idempotency` is our own: the header by which the host recognises a repetition, and its value. No field has been scanned
    yet, so the repr has only the tool and the method.
    """

    tool: str
    method: Method
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    query_params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    body: Any = field(default=None, repr=False)
    body_type: BodyType = BodyType.JSON
    fixed_headers: Mapping[str, Text] = field(default_factory=dict, repr=False)
    credential: str | None = field(default=None, repr=False)
    ok: Collection[int] | None = None
    idempotency: tuple[str, str] | None = None

    @property
    def repeatable(self) -> bool:
        """Whether the request may be sent again without further effect."""
        return self.method.safe or self.idempotency is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRequest:
    """A request ready to be sent: bytes, with its credentials injected. Never logged, never recorded."""

    method: Method
    url: URL = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundResponse:
    """A response, its body decoded from its content coding and bounded.

    `size_bytes` is the raw size (S0-120); `cut` tells that the body was longer than `body`.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)
    size_bytes: int
    cut: bool = False
