"""The pages: Mozilla's own test pages, from a checkout of Readability that is not in this repository, and generated ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from tests.pages.corpus import KINDS, generate, generate_all
from tests.pages.corpus.hidden import list_hidden
from tests.pages.corpus.page import GeneratedPage
from tests.pages.pdfs import BOMBS, write_pages
from tests.pages.test_hidden import SECRET, build

ROOT = Path(__file__).parents[2]
MOZILLA = Path(os.environ.get("READABILITY_PAGES") or ROOT / "build/readability/test/test-pages")
LARGE_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page in a file, as it came with `content_type` from `url`; `truth` is its main text."""

    name: str
    path: Path
    content_type: str
    url: str
    truth: str = ""


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def read_mozilla() -> list[StoredPage]:
    """Return Mozilla's pages, with the text that its own algorithm finds; none where there is no checkout."""
    pages = []
    for folder in sorted(MOZILLA.glob("*/")) if MOZILLA.is_dir() else ():
        parser = _Text()
        parser.feed((folder / "expected.html").read_text())
        url = "http://fakehost/test/page.html"
        pages.append(StoredPage(folder.name, folder / "source.html", "text/html; charset=utf-8", url, " ".join(parser.parts)))
    return pages


def store(page: GeneratedPage, folder: Path, name: str, *, as_text: bool) -> StoredPage:
    """Return a generated page in a file; `as_text` in UTF-8 without its own charset, which peers would have to find out."""
    path = folder / f"{name}{'.text' if as_text else ''}.html"
    content, content_type = page.content, page.content_type
    if as_text:
        content, content_type = page.content.decode(page.codec, "replace").encode(), "text/html; charset=utf-8"
    path.write_bytes(content)
    return StoredPage(name, path, content_type, page.url, page.truth)


def read_generated(folder: Path, *, as_text: bool) -> list[StoredPage]:
    """Return the 200 generated pages."""
    return [store(page, folder, f"{page.kind}-{number}", as_text=as_text) for number, page in enumerate(generate_all())]


def read_hidden(folder: Path) -> Iterator[StoredPage]:
    """Yield a page for each way to hide text."""
    for number, (name, way) in enumerate(list_hidden().items()):
        path = folder / f"hidden-{number}.html"
        path.write_text(build(*way, number))
        yield StoredPage(name, path, "text/html; charset=utf-8", "https://bench.test/", SECRET)


def read_large(folder: Path) -> Iterator[StoredPage]:
    """Yield a page of 10 MB of each kind: much more of its content, and the same around it."""
    for kind in KINDS:
        size = 1
        page = generate(kind, 0, size)
        while len(page.content) < LARGE_BYTES:
            size = max(size + 1, int(size * min(20.0, 1.05 * LARGE_BYTES / len(page.content))))
            page = generate(kind, 0, size)
        yield store(page, folder, f"large {kind}", as_text=True)


def read_pdfs(folder: Path) -> Iterator[StoredPage]:
    """Yield PDFs of 10 MB, with few pages and with many, and those that are made to take long."""
    text = ("The night ferry leaves the harbour at ten. " * 500)[:20_000]
    large = {f"{number:,} pages": [text[: LARGE_BYTES // number]] * number for number in (500, 5_000)}
    pdfs = {**{name: write_pages(texts) for name, texts in large.items()}, **{name: make() for name, make in BOMBS.items()}}
    for number, (name, content) in enumerate(pdfs.items()):
        path = folder / f"{number}.pdf"
        path.write_bytes(content)
        yield StoredPage(name, path, "application/pdf", "https://bench.test/")
