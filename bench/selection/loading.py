"""Loading by context: how many tokens of definitions a prompt has where a task has a thousand tools."""

from __future__ import annotations

from collections.abc import Sequence

from bench import Row
from bench.selection.questions import Function, Question
from ferryman.catalog.tools import TOOLS
from ferryman.domain.tools.declared import DeclaredTool, Parameter
from ferryman.loop.context_offer import CHARACTERS_PER_TOKEN, measure, select_in_context

DECLARED = 1_000
EVERY = 25
"""Of the queries, every so many-th is asked: each reads all definitions again."""


def measure_tokens(functions: Sequence[Function], questions: Sequence[Question]) -> Row:
    """Return the tokens of the definitions that a model is shown: of every built-in tool and a thousand of the task's own."""
    built_in = [tool.to_definition() for tool in TOOLS.values()]
    declared = [_declare(number, function) for number, function in enumerate(functions[:DECLARED])]
    counts = [
        sum(map(measure, select_in_context(built_in, declared, message=question.text, prompt=question.text)))
        / CHARACTERS_PER_TOKEN
        for question in questions[::EVERY]
    ]
    counts.sort()
    figures = f"{counts[-1]:,.0f}, median {counts[len(counts) // 2]:,.0f}"
    what = f"tokens of the definitions shown of {DECLARED:,} tools by context, the most of {len(counts)} queries"
    every = sum(map(measure, built_in)) + sum(
        measure({"name": tool.name, "description": tool.description, "input_schema": tool.schema}) for tool in declared
    )
    note = f"a token for four characters of JSON; all of them: {every / CHARACTERS_PER_TOKEN:,.0f}"
    return Row(what, "3,000", figures, reached=counts[-1] <= 3_000, note=note)


def _declare(number: int, function: Function) -> DeclaredTool:
    properties = function["parameters"].get("properties", {})
    required = function["parameters"].get("required", [])
    return DeclaredTool(
        name=f"{function['name'].replace('.', '_')}_{number}"[:64],
        description=function["description"],
        url="https://api.example.com/",
        parameters={name: Parameter(schema=schema, required=name in required) for name, schema in properties.items()},
    )
