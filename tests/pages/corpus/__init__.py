"""Pages of eight kinds with the truth beside them, drawn by a seed: what a reader of each would call its content.

They are as pages are: navigation, advertisements, cookie banners, related links and forms around and inside of the content,
five kinds of layout (two of them without a telling name), tags that are never closed, eleven languages and their charsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from tests.pages.corpus.kinds import KINDS
from tests.pages.corpus.layouts import LAYOUTS
from tests.pages.corpus.page import GeneratedPage, build_page

__all__ = ["KINDS", "LAYOUTS", "GeneratedPage", "generate", "generate_all"]

PER_KIND = 25


def generate(kind: str, number: int, size: int = 1) -> GeneratedPage:
    """Return one page, always the same for the same arguments; `size` is how many times as much content it has."""
    return build_page(kind, Random(f"{kind} {number}"), number, size)


def generate_all(per_kind: int = PER_KIND) -> Iterator[GeneratedPage]:
    """Yield the pages of all kinds."""
    for kind in KINDS:
        for number in range(per_kind):
            yield generate(kind, number)
