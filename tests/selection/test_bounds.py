"""Bounds: what a stranger's definition or text may cost is cut at fixed lengths."""

import pytest

from ferryman.selection import ToolIndex, read_definition, search
from ferryman.selection.definition import PARAMETERS_MAX
from ferryman.selection.query import CHARACTERS_MAX, PARTS_MAX, TERMS_MAX, parse_query

from .tools import INDEX


def test_a_schema_that_nests_without_end_is_cut():
    schema = {"type": "object", "properties": {}}
    schema["properties"]["itself"] = schema
    tool = read_definition("name", "", schema)
    assert len(tool.parameters.split()) == PARAMETERS_MAX


def test_a_long_text_counts_by_its_beginning():
    beginning = "send an email " * (CHARACTERS_MAX // 10)
    assert search(INDEX, beginning + "x" * 100_000, 5) == search(INDEX, beginning[:CHARACTERS_MAX], 5)


def test_words_parts_and_sentences_of_a_query_are_limited():
    words = [f"{first}{second}word" for first in "abcdefghij" for second in "klmnopqrst"]
    query = parse_query(". ".join(f"{word} {word}other" for word in words))
    assert (len(query.terms), len(query.parts), len(query.sentences)) == (TERMS_MAX, PARTS_MAX, PARTS_MAX)


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": {"a": 1, "b": {"enum": 3, "items": []}}}])
def test_what_is_no_schema_is_skipped(schema):
    index = ToolIndex([read_definition("send_email", "Send an email.", schema)])
    assert search(index, "send an email", 1) == [0]


def test_a_word_repeated_in_a_description_counts_no_more_than_thrice():
    def rank_first(times: int) -> int:
        texts = [read_definition("alpha", "wolf", {}), read_definition("beta", "wolf " * times + "bear " * (9 - times), {})]
        return search(ToolIndex(texts), "wolf", 1, fitting=False)[0]

    assert rank_first(3) == rank_first(9)
