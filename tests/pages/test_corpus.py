"""The main text of generated pages is found; `make bench ONLY=extraction` measures all 200."""

from __future__ import annotations

from statistics import mean

import pytest

from ferryman.pages import Kind, read_page
from tests.pages.corpus import KINDS, LAYOUTS, generate
from tests.pages.scores import score, strip_targets

PAGES_EACH = len(LAYOUTS)
F1_MIN = 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_the_main_text_of_each_kind_of_page_is_found(kind):
    pages = [generate(kind, number) for number in range(PAGES_EACH)]
    texts = [read_page(page.content, page.content_type, page.url).text for page in pages]
    assert mean(score(strip_targets(text), page.truth).f1 for text, page in zip(texts, pages, strict=True)) >= F1_MIN


@pytest.mark.parametrize("kind", KINDS)
def test_the_title_of_each_kind_of_page_is_found(kind):
    pages = [generate(kind, number) for number in range(PAGES_EACH)]
    read = [read_page(page.content, page.content_type, page.url) for page in pages]
    assert {page.kind for page in read} == {Kind.HTML}
    assert [page.title for page in read] == [page.title for page in pages]


def test_a_page_is_always_generated_the_same():
    assert generate("forum", 7) == generate("forum", 7)


def test_author_and_date_of_an_article_are_found():
    page = generate("article", 0)
    read = read_page(page.content, page.content_type, page.url)
    assert (page.byline in read.byline, read.date) == (True, page.date)
