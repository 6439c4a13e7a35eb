"""What a model is given at once is bounded, and reads on where it ended; a body above its budget is told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls.call import TRUNCATED
from ferryman.offload import Budget
from ferryman.pages import EXCERPT_CHARACTERS_MAX, Kind, PageText, cut_excerpt, read_excerpt, read_excerpt_here, write_page
from ferryman.pages.reading import TAIL_CHARACTERS
from tests.pages.pdfs import write_pages

URL = "https://site.test/"
PROSE = "The harbour council voted, after months of debate, on a new timetable, which starts in spring. "
ARTICLE = f"<title>Ferries cross the river</title><article>{f'<p>{PROSE}' * 2_000}</article>".encode()


def test_title_author_and_date_are_above_the_text_and_the_note_is_below():
    page = PageText(kind=Kind.HTML, text="text", title="Title", byline="Ada Lind", date="2026-01-02", note="Cut.")
    assert write_page(page) == "# Title\n\nAda Lind, 2026-01-02\n\ntext\n\n(Cut.)"


def test_a_text_that_fits_is_not_marked():
    assert read_excerpt_here(b"words", "text/plain", URL) == cut_excerpt("words", 0)
    assert (cut_excerpt("words", 0).text, cut_excerpt("words", 0).offset) == ("words", None)


def test_a_longer_text_is_cut_marked_and_says_how_to_read_on():
    part = read_excerpt_here(ARTICLE, "text/html", URL)
    assert len(part.text) <= EXCERPT_CHARACTERS_MAX
    assert f"\n{TRUNCATED}\n" in part.text
    assert part.text.endswith(f"call it again with offset {part.offset}.")


def test_the_parts_of_a_page_are_the_whole_of_it():
    parts, offset = [], 0
    while offset is not None:
        part = read_excerpt_here(ARTICLE, "text/html", URL, offset)
        parts.append(part.text.rpartition(f"\n{TRUNCATED}\n")[0] if part.offset is not None else part.text)
        offset = part.offset
    assert "".join(parts) == "# Ferries cross the river\n\n" + "\n\n".join([PROSE.strip()] * 2_000)


@given(st.integers(0, 90_000), st.integers(-5, 100_000), st.sampled_from(["x", "word ", "line\n", "äöü "]))
def test_a_part_is_never_longer_than_its_limit_and_always_goes_on(size, offset, unit):
    text = (unit * size)[:size]
    part = cut_excerpt(text, offset)
    assert len(part.text) <= EXCERPT_CHARACTERS_MAX
    if part.offset is not None:
        assert part.offset > max(0, offset)
        assert text[max(0, offset) : part.offset] == part.text.rpartition(f"\n{TRUNCATED}\n")[0]


def test_the_marker_fits_into_its_room():
    part = cut_excerpt("x" * 10**7, 9_900_000)
    assert len(part.text) - (part.offset - 9_900_000) <= TAIL_CHARACTERS


def test_an_offset_behind_the_end_is_told():
    assert cut_excerpt("words", 9).text == "There is no more to read at offset 9: the text has 5 characters."


async def test_a_body_is_read_in_a_worker():
    assert await read_excerpt("owner", ARTICLE, "text/html", URL) == read_excerpt_here(ARTICLE, "text/html", URL)


async def test_a_pdf_is_read_in_a_worker():
    assert await read_excerpt("owner", write_pages(["Ferries cross"]), "application/pdf", URL) == cut_excerpt(
        "Ferries cross", 0
    )


async def test_a_body_above_its_budget_is_told():
    part = await read_excerpt(
        "owner", ARTICLE * 20, "text/html", URL, budget=Budget(cpu_s=0.001, wall_s=60.0, memory_bytes=2**28)
    )
    assert part.text.startswith(f"The {len(ARTICLE) * 20:,} bytes cannot be read: it takes more than 0.001 s of processor time")
    assert part.offset is None
