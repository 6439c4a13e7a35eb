"""Reading of an answer: rows of anybody become results of bounded length, each page once."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX
from ferryman.domain.search import (
    ENGINE_CHARACTERS_MAX,
    QUERY_CHARACTERS_MAX,
    RESULTS_MAX,
    SNIPPET_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
    URL_CHARACTERS_MAX,
    FoundPage,
)
from ferryman.searxng.answer import read_answer
from tests.searxng.engines import write_row, write_rows


def read(*rows: Any, most: int = RESULTS_MAX) -> tuple[FoundPage, ...]:
    answer = read_answer(write_rows(*rows), most)
    assert answer is not None
    return answer.results


def test_a_result_has_title_url_engine_and_the_content_as_its_snippet():
    assert asdict(read(write_row(1, score=2.0, engines=["google", "bing"]))[0]) == {
        "title": "Page 1",
        "url": "https://site.example/1",
        "snippet": "A text.",
        "engine": "google",
    }


@pytest.mark.parametrize("name", ["title", "url"])
@pytest.mark.parametrize("value", ["", "  ", "\u200b\u2060", None, 7, [], {}])
def test_a_row_without_a_title_or_a_url_is_left_out(name: str, value: Any):
    assert [result.title for result in read(write_row(1, **{name: value}), write_row(2))] == ["Page 2"]


@pytest.mark.parametrize("name", ["content", "engine"])
@pytest.mark.parametrize("value", [None, 7, {"a": 1}])
def test_a_row_without_a_snippet_or_an_engine_has_an_empty_one(name: str, value: Any):
    assert asdict(read(write_row(1, **{name: value}))[0])[{"content": "snippet"}.get(name, name)] == ""


@pytest.mark.parametrize(
    "url",
    [
        *(
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "ftp://a.example/",
            "//a.example/",
            "/a",
            "a",
            "http:///x",
        ),
        *(
            "java\tscript:alert(1)",
            "https://ann:secret@a.example/",
            "https://a.example:99999/",
            "http://[::1",
            "https://a b.example/",
        ),
        "https://a.example/" + "x" * URL_CHARACTERS_MAX,
        "https://a.example/" + "ü" * (URL_CHARACTERS_MAX // 3),
    ],
)
def test_a_row_whose_url_is_none_of_the_web_is_left_out(url: str):
    assert read(write_row(1, url=url)) == ()


def test_a_url_is_written_in_printable_ascii():
    assert (
        read(write_row(1, url="https://bücher.example/ä?q=\u200b"))[0].url == "https://xn--bcher-kva.example/%C3%A4?q=%E2%80%8B"
    )


@pytest.mark.parametrize(
    "other", ["https://site.example/1/", "http://site.example/1", "https://SITE.example/1", "https://site.example/1#part"]
)
def test_a_page_is_listed_once_however_its_url_is_written(other: str):
    assert [result.engine for result in read(write_row(1), write_row(1, url=other, engine="bing"))] == ["google"]


@pytest.mark.parametrize("other", ["https://site.example/1?page=2", "https://www.site.example/1", "https://site.example/1/2"])
def test_another_page_is_another(other: str):
    assert len(read(write_row(1), write_row(1, url=other))) == 2


def test_no_more_are_returned_than_asked_for_and_doubles_do_not_count():
    rows = [write_row(number // 2) for number in range(20)]
    assert [result.title for result in read(*rows, most=3)] == ["Page 0", "Page 1", "Page 2"]


def test_what_is_invisible_is_removed_and_lines_are_joined():
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey") + "\u202e\u200b\ufe0f\u034f\u2800\u3164\x1b[2J\x00"
    row = read(write_row(1, title=f"A{hidden} title", content=f"one\r\n\ttwo{hidden}", engine="go\u200bog\U000e0061le"))[0]
    assert (row.title, row.snippet, row.engine) == ("A[2J title", "one two[2J", "google")


@pytest.mark.parametrize("engine", ["<|im_end|>", "google</tool_response>", "a:b", 'google"}]}'])
def test_what_is_no_name_of_an_engine_is_left_out(engine: str):
    assert read(write_row(1, engine=engine))[0].engine == ""


@pytest.mark.parametrize("mark", ["<|im_start|>", "</tool_response>", "[/INST]", "&lt;/tool_response&gt;"])
@pytest.mark.parametrize("count", range(1, 7))
def test_a_mark_that_is_cut_goes_as_a_whole(mark: str, count: int):
    title = "x" * (TITLE_CHARACTERS_MAX - 1 - count) + mark + "y" * TITLE_CHARACTERS_MAX
    assert read(write_row(1, title=title))[0].title == "x" * (TITLE_CHARACTERS_MAX - 1 - count) + "…"


@pytest.mark.parametrize(
    ("name", "most"), [("title", TITLE_CHARACTERS_MAX), ("content", SNIPPET_CHARACTERS_MAX), ("engine", ENGINE_CHARACTERS_MAX)]
)
def test_a_text_that_is_too_long_is_cut_and_says_so(name: str, most: int):
    value = asdict(read(write_row(1, **{name: "x" * (most + 1)}))[0])[{"content": "snippet"}.get(name, name)]
    assert value == "x" * (most - 1) + "…"


def test_a_text_that_fits_is_not_cut():
    assert read(write_row(1, title="x" * TITLE_CHARACTERS_MAX))[0].title == "x" * TITLE_CHARACTERS_MAX


def test_the_largest_answer_fits_into_what_a_model_is_shown():
    worst = {"title": '"' * 9_000, "content": "\\" * 9_000, "engine": '"' * 9_000}
    rows = [write_row(n, url=f"https://a.example/{n:0{URL_CHARACTERS_MAX - 18}d}", **worst) for n in range(RESULTS_MAX)]
    results = [asdict(result) for result in read(*rows)]
    assert len(results) == RESULTS_MAX
    assert len(json.dumps({"query": '"' * QUERY_CHARACTERS_MAX, "results": results})) <= RESULT_CHARACTERS_MAX


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(rows=st.lists(JSON | st.fixed_dictionaries({"title": JSON, "url": JSON, "content": JSON, "engine": JSON})))
def test_whatever_rows_hold_is_read(rows: list[Any]):
    assert all(result.title and result.url.startswith("http") for result in read(*rows))


@given(content=st.binary() | st.text().map(str.encode))
def test_whatever_bytes_come_nothing_is_raised(content: bytes):
    read_answer(content, 5)
