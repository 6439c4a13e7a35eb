"""Parts: what a tool's result consists of, each with its type, so that no reader guesses it from the text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ferryman.domain.labels.label import READ, FlowLabel


class PartKind(StrEnum):
    """What the characters of a part are."""

    TEXT = "text"
    JSON = "json"
    """One object or array of JSON (RFC 8259), whole and parsable as it is written in the result."""
    FILE = "file"
    """A reference to a stored file, which `file` names."""
    BINARY = "binary"
    """The description of a body that is no text, of which nothing is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a result: the characters of its `content` from `start` up to `end`, and what they are.

    A result's tool says its parts, and nothing within their characters does. `media_type` is that of a file or of a response,
    as its host declared it. `size_bytes` and `sha256` (hex) are those of the file or of the binary body; None where they are
    not known, or could help to guess a secret. `label` is set when the call settles (`labelling`), whatever it was.
    """

    kind: PartKind
    start: int
    end: int
    media_type: str | None = None
    size_bytes: int | None = None
    sha256: str | None = None
    file: str | None = None
    label: FlowLabel = READ
