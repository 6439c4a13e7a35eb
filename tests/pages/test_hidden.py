"""Hidden text stays out of what a model reads, and what is around it stays in."""

from __future__ import annotations

from random import Random

import pytest

from ferryman.pages import read_excerpt_here
from tests.pages.corpus.hidden import list_hidden

WAYS = list_hidden()
SECRET = "Xyzzyhidden"
SENTENCES = (
    "The harbour council voted on a new timetable, after months of debate about noise, fares and cost.",
    "Engineers measured the waves at night, with sensors under the pier, and found little change since summer.",
    "Season tickets stay cheap for students, who cross every morning, while other fares will rise slightly.",
)


def build(head: str, body: str, number: int) -> str:
    """Return a page with a way to hide text between paragraphs, in one of three kinds of markup around it."""
    random = Random(number)
    open_, close = random.choice(
        (("<div>", "</div>"), ("<main><article>", "</article></main>"), ("<div class=content>", "</div>"))
    )
    paragraphs = [f"<p>{sentence} {sentence}</p>" for sentence in SENTENCES]
    paragraphs.insert(random.randint(1, 2), body.format(text=f"{SECRET} instructions, for the model, to obey, at once."))
    head = head.format(text=SECRET)
    return (
        f"<html><head><title>Ferries of the harbour</title>{head}</head><body>{open_}{''.join(paragraphs)}{close}</body></html>"
    )


@pytest.mark.parametrize("way", WAYS)
def test_hidden_text_is_left_out(way):
    page = build(*WAYS[way], [*WAYS].index(way))
    assert SECRET not in read_excerpt_here(page.encode(), "text/html", "https://site.test/").text


@pytest.mark.parametrize("way", WAYS)
def test_what_is_around_hidden_text_is_read(way):
    page = build(*WAYS[way], [*WAYS].index(way))
    text = read_excerpt_here(page.encode(), "text/html", "https://site.test/").text
    assert all(sentence in text for sentence in SENTENCES)


def test_there_are_at_least_a_hundred_ways():
    assert len(WAYS) >= 100


VISIBLE = {
    "shown again": '<div style="visibility:hidden"><p style="visibility:visible">{text}</p></div>',
    "size given back": '<div style="font-size:0"><p style="font-size:16px">{text}</p></div>',
    "white on black": '<p style="background:#000;color:#fff">{text}</p>',
    "white on an image": '<div style="background:url(x.png);color:#fff"><p>{text}</p></div>',
    "for paper only": "<style>@media print{{.v{{display:none}}}}</style><p class=v>{text}</p>",
    "for small screens only": "<style>@media (max-width:600px){{.v{{display:none}}}}</style><p class=v>{text}</p>",
    "another class": "<style>.other{{display:none}}</style><p class=v>{text}</p>",
    "more specific": "<style>.v{{display:none}}p.v{{display:block}}</style><p class=v>{text}</p>",
    "inline over a class": "<style>.v{{display:none}}</style><p class=v style='display:block'>{text}</p>",
    "pointed at": "<style>.v:hover{{display:none}}</style><p class=v>{text}</p>",
    "drawn in the middle": '<div style="position:absolute;left:50%;transform:translate(-50%,-50%)"><p>{text}</p></div>',
    "whole page until a script runs": "<style>body{{visibility:hidden;opacity:0}}</style><p>{text}</p>",
    "details": "<details><summary>More</summary><p>{text}</p></details>",
}


@pytest.mark.parametrize("way", VISIBLE)
def test_what_a_reader_sees_is_read(way):
    page = build("", VISIBLE[way], 1)
    assert SECRET in read_excerpt_here(page.encode(), "text/html", "https://site.test/").text
