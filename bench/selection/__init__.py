"""`python -m bench.selection`: which of many tools a text asks for, on questions of the Berkeley Function-Calling Leaderboard.

BFCL v4 (the wheel `bfcl-eval`, Apache-2.0) is read from build/bfcl, where the first run puts it without its dependencies; none
of it is in this repository.

The tools: the 1,437 names of the functions that its ten single-turn categories offer. Where rows define a name differently, the
definition that most of them give counts. The queries: the 2,501 rows of those categories. A query's text is its user's words;
the tools that it asks for are the functions of its ground truth. hit@1: the first tool found is one of them. recall@5: the
share of them among the first five, whether they seem to fit or not. The weights were fitted on the queries whose text has an
even SHA-256; every figure is of the others.

Irrelevance queries (`irrelevance`, `live_irrelevance`): rows none of whose own functions answers the question. Those functions
are the tools, since the 1,437 would answer many of them; rows without any are left out. What saying nothing costs is asked of
the queries that do have an answer, among all tools and among the functions of their own row.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench import Row
from bench.selection.finding import measure, measure_abstention, measure_exact, measure_plain
from bench.selection.limits import measure_large, measure_stuffing
from bench.selection.loading import measure_tokens
from bench.selection.questions import CATEGORIES, build_index, choose_definitions, read_questions


def rows() -> Iterator[Row]:
    """Measure each bar."""
    questions = [question for category in CATEGORIES for question in read_questions(category)]
    functions = choose_definitions(questions)
    index = build_index(functions)
    reported = [question for question in questions if question.is_held_back]
    hits, recall = measure(index, reported, fitting=False)
    count = f"of {len(functions):,} tools, {len(reported):,} queries"
    plain_hits, plain_recall = measure_plain(functions, reported)
    beside = f"plain BM25: {plain_recall:.3f} and {plain_hits:.3f}"
    yield Row(f"recall@5 {count}", "0.92", f"{recall:.3f}", reached=recall >= 0.92, note=beside)
    yield Row(f"hit@1 {count}", "0.72", f"{hits:.3f}", reached=hits >= 0.72)
    yield from measure_abstention(index, reported, recall)
    yield measure_exact(index)
    yield measure_stuffing(functions)
    yield measure_tokens(functions, reported)
    yield from measure_large(functions, reported)
