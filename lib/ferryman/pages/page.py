"""A fetched body as text for a model: HTML as Markdown of its main text, other text as it is, PDF as its text.

Pure: bytes in, text out. Never raises for any bytes; what it reads and what it returns is bounded.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from ferryman.domain.http.charsets import TEXT_TYPE
from ferryman.domain.http.links import resolve
from ferryman.pages.charset import decode, detect_codec, is_binary
from ferryman.pages.extraction import extract
from ferryman.pages.markdown import write_markdown
from ferryman.pages.metadata import drop_title, read_metadata
from ferryman.pages.pdf import read_pdf
from ferryman.pages.tree import parse
from ferryman.pages.visibility import drop_hidden

TEXT_CHARACTERS_MAX = 500_000
"""Characters of a text that can be read, in parts."""

SNIFFED_BYTES = 1_024
_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
_PDF_TYPES = frozenset(("application/pdf", "application/x-pdf"))
_UNTOLD = frozenset(("", "application/octet-stream", "binary/octet-stream", "application/x-unknown"))
"""Media types that do not tell what a body is."""

_HTML_START = re.compile(
    rb"\s*(?:<!--|<!doctype html|<\?xml[^>]{0,200}>\s*<(?:!doctype )?html|<(?:html|head|body|title|meta|h1|p|div|table)\b)",
    re.IGNORECASE,
)
_MEDIA = re.compile(r"[a-z0-9!#$&^_.+-]{1,64}/[a-z0-9!#$&^_.+-]{1,64}", re.ASCII)


class Kind(StrEnum):
    """What a body is."""

    HTML = "html"
    TEXT = "text"
    PDF = "pdf"
    BINARY = "binary"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """What there is to read. `note` says what was left out; `date` is YYYY-MM-DD; what is not known is empty."""

    kind: Kind
    text: str
    title: str = ""
    byline: str = ""
    date: str = ""
    note: str = ""


def read_page(content: bytes, content_type: str, url: str) -> PageText:
    """Return the text of a body that came with the header `content_type` from `url`, the last one of its redirects."""
    media = content_type.partition(";")[0].strip().lower()
    kind = detect_kind(content, media)
    if kind == Kind.PDF:
        text, note = read_pdf(content, TEXT_CHARACTERS_MAX)
        return PageText(kind=kind, text=text, note=note)
    if kind != Kind.BINARY:
        codec, mark = detect_codec(content, content_type, is_html=kind == Kind.HTML)
        pieces = decode(content, codec, mark)
        first = next(pieces, "")
        if not is_binary(first):
            return _read_html(first, pieces, url) if kind == Kind.HTML else _read_text(first, pieces)
    return PageText(kind=Kind.BINARY, text=describe_binary(content, media))


def detect_kind(content: bytes, media: str) -> Kind:
    """Return what a body is by its media type, and by its first bytes where that does not tell."""
    if media in _HTML_TYPES:
        return Kind.HTML
    if media in _PDF_TYPES:
        return Kind.PDF
    if media in _UNTOLD:
        head = content[:SNIFFED_BYTES]
        if b"%PDF-" in head:
            return Kind.PDF
        return Kind.HTML if _HTML_START.match(head.removeprefix(b"\xef\xbb\xbf")) else Kind.TEXT
    if media.startswith("image/"):  # also those that are XML
        return Kind.BINARY
    return Kind.TEXT if TEXT_TYPE.fullmatch(media) else Kind.BINARY


def describe_binary(content: bytes, media: str) -> str:
    """Return a sentence on a body that is no text."""
    kind = media if _MEDIA.fullmatch(media) else "of an unknown type"
    return f"This is no text: {len(content):,} bytes, {kind}."


def _read_text(first: str, pieces: Iterator[str]) -> PageText:
    parts, length = [first], len(first)
    for piece in pieces:
        if length > TEXT_CHARACTERS_MAX:
            break
        parts.append(piece)
        length += len(piece)
    return PageText(kind=Kind.TEXT, text="".join(parts)[:TEXT_CHARACTERS_MAX], note=_say_cut(length > TEXT_CHARACTERS_MAX))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Collect no garbage meanwhile: a tree of many elements would be searched for it again and again while it grows."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_without_collection()
def _read_html(first: str, pieces: Iterator[str], url: str) -> PageText:
    tree = parse(_chain(first, pieces))
    is_hidden_known = drop_hidden(tree)
    metadata = read_metadata(tree)
    drop_title(tree, metadata.title)
    base = resolve(url, metadata.base) or url
    text, is_cut = write_markdown(extract(tree), base, TEXT_CHARACTERS_MAX)
    is_cut = is_cut or len(text) > TEXT_CHARACTERS_MAX
    notes = [f"The page has {tree.limit}; what comes after them was left out." if tree.limit else _say_cut(is_cut)]
    if not is_hidden_known:
        notes.append("Its style sheets are longer than is read: some of this text may be hidden from a reader.")
    return PageText(
        kind=Kind.HTML,
        text=text[:TEXT_CHARACTERS_MAX],
        title=metadata.title,
        byline=metadata.byline,
        date=metadata.date,
        note=" ".join(note for note in notes if note),
    )


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _say_cut(is_cut: bool) -> str:
    return f"The text is longer than {TEXT_CHARACTERS_MAX:,} characters; the rest was left out." if is_cut else ""
