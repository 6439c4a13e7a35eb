"""What is found: the wanted tools, nothing where none fits, and a tool by its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench import Row
from bench.selection.plain_bm25 import PlainIndex
from bench.selection.questions import IRRELEVANT, LIMIT, Function, Question, build_index, find_names, read_questions
from ferryman.selection import ToolIndex


def measure(index: ToolIndex, questions: Sequence[Question], *, fitting: bool) -> tuple[float, float]:
    """Return hit@1 and recall@5."""
    return score(questions, [find_names(index, question.text, fitting=fitting) for question in questions])


def score(questions: Sequence[Question], answers: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Return the mean hit@1 and recall@5 of `answers`."""
    pairs = list(zip(questions, answers, strict=True))
    hits = sum(bool(answer) and answer[0] in question.relevant for question, answer in pairs)
    recall = sum(len(question.relevant.intersection(answer)) / len(question.relevant) for question, answer in pairs)
    return hits / len(pairs), recall / len(pairs)


def measure_plain(functions: Sequence[Function], questions: Sequence[Question]) -> tuple[float, float]:
    """Return hit@1 and recall@5 of textbook BM25 over name, description and parameters, as words of letters and digits."""
    index = PlainIndex(functions)
    return score(questions, [index.search(question.text, LIMIT) for question in questions])


def measure_abstention(index: ToolIndex, questions: Sequence[Question], recall: float) -> Iterator[Row]:
    """Yield what saying nothing comes to: where nothing fits, and where something does."""
    irrelevant = [
        question
        for category in IRRELEVANT
        for question in read_questions(category)
        if question.is_held_back and question.functions
    ]
    empty = sum(not find_names(build_index(question.functions), question.text, fitting=True) for question in irrelevant)
    share = empty / len(irrelevant)
    what = f"irrelevance queries answered with nothing, of {len(irrelevant):,}"
    yield Row(what, "60 %", f"{share:.1%}", reached=share >= 0.6)
    recalls = {
        fitting: score(
            questions,
            [find_names(build_index(question.functions), question.text, fitting=fitting) for question in questions],
        )[1]
        for fitting in (False, True)
    }
    lost = 100 * max(recall - measure(index, questions, fitting=True)[1], recalls[False] - recalls[True])
    figures = f"{lost:.1f}: {recalls[False]:.3f} to {recalls[True]:.3f} among their own tools"
    yield Row("points of recall@5 lost by that, the worse of all tools and of a query's own", "2", figures, reached=lost <= 2)


def measure_exact(index: ToolIndex) -> Row:
    """Return how many tools are found first by their name."""
    first = sum(find_names(index, tool.name, 1, fitting=True) == [tool.name] for tool in index.tools)
    return Row(
        "tools found first by their exact name", "all", f"{first:,} of {len(index.tools):,}", reached=first == len(index.tools)
    )
