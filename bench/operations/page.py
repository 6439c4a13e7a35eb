"""docs/cost.md: the output of `ferryman cost` in it, and tables of what its formulas leave to be added."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from bench.operations.document import ROOT
from ferryman.billing.cloud.prices import load_price_list

PAGE = ROOT / "docs/cost.md"
COST = ("<!-- ferryman cost -->", "<!-- end of ferryman cost -->")
BESIDE = ("<!-- further parts -->", "<!-- end of further parts -->")
TITLES = {
    "conversation": "an execution in a conversation that has a limit of credits",
    "alert_repeat": "the second delivery of an alert, a day later, which finds it settled",
    "direct_call": "a call of an [MCP](mcp.md) client, from the request to the end of its execution",
}
AMOUNTS = ("reads", "writes", "queue_operations")
CALLS = ("<!-- calls by tool -->", "<!-- end of calls by tool -->")
CALL_TITLES = {
    "call": "a call with a credential, in the sum below",
    "file_write": "`file_write`, 4,000 bytes",
    "file_read": "`file_read`",
    "web_fetch": "`web_fetch`",
    "web_search_tool": "`web_search_tool`",
    "kept_result": "`web_fetch`, 100,000 characters, kept as a file",
    "kept_answer": "`api_call`, 100,000 characters, kept as a file",
}
PAGES = ("<!-- pages of the console -->", "<!-- end of pages of the console -->")
PAGE_TITLES = {
    "page_overview": "the overview",
    "page_overview_again": "its numbers and lists again",
    "page_executions": "the list of executions",
    "page_executions_again": "its rows again",
    "page_execution": "one execution",
    "page_approvals": "the list of approvals",
    "page_approvals_again": "its rows again",
    "page_conversations": "the list of conversations",
    "page_conversation": "one conversation",
    "page_tasks": "the list of tasks",
    "page_task": "one task",
    "page_check": "each second of a stream: whether its session is still good",
}
CALL_AMOUNTS = ("reads", "writes", "deletes", "queue_operations", "class_a", "class_b")
"""Each has a price of its own name."""


def write_page(parts: Mapping[str, Mapping[str, Any]]) -> None:
    """Write all of them into docs/cost.md, which has a mark before and behind each."""
    command = [Path(sys.executable).with_name("ferryman"), "cost"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = _put_between(PAGE.read_text(), COST, f"```\n{printed}```")
    text = _put_between(text, BESIDE, build_table(parts))
    text = _put_between(text, PAGES, build_page_table(parts))
    PAGE.write_text(_put_between(text, CALLS, build_call_table(parts)))


def build_table(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of the parts of `TITLES`, from measured ones."""
    columns = ("", "documents read", "documents written", "operations of the queue", "requests to functions")
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for name, title in TITLES.items():
        amounts = [str(parts[name][amount]) for amount in AMOUNTS]
        rows.append(f"| {' | '.join([title, *amounts, str(sum(parts[name]['requests'].values()))])} |")
    return "\n".join(rows)


def build_call_table(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of what a call of each tool of `CALL_TITLES` asks for, and of the list price of a thousand of them."""
    columns = (
        *("", "documents read", "written", "deleted", "operations of the queue", "bucket, class A", "class B", "bytes kept"),
        *("requests to functions", "list price of 1,000"),
    )
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for name, title in CALL_TITLES.items():
        part = parts[name]
        amounts = [str(part[amount]) for amount in CALL_AMOUNTS]
        cells = [title, *amounts, f"{part['file_bytes']:,}", str(sum(part["requests"].values())), f"${compute_price(part):.4f}"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def build_page_table(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of what each page of `PAGE_TITLES` asks for, and of the list price of a thousand of them."""
    columns = ("", "documents read", "written", "requests to functions", "list price of 1,000")
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for name, title in PAGE_TITLES.items():
        part = parts[name]
        amounts = [str(part[amount]) for amount in ("reads", "writes")]
        rows.append(f"| {' | '.join([title, *amounts, str(sum(part['requests'].values())), f'${compute_price(part):.4f}'])} |")
    return "\n".join(rows)


def compute_price(part: Mapping[str, Any]) -> Decimal:
    """Return the list price in USD of a thousand times what a part asks for, files kept for a month, processors left out."""
    prices = load_price_list()
    amounts = {name: Decimal(part[name]) for name in CALL_AMOUNTS}
    amounts["requests"] = Decimal(sum(part["requests"].values()))
    amounts["source_gib"] = Decimal(part["file_bytes"]) / 2**30
    return sum((prices[name].compute(1_000 * amount) for name, amount in amounts.items()), Decimal(0))


def read_table(marks: tuple[str, str] = BESIDE) -> str:
    """Return a table as the page has it."""
    begin, end = marks
    return PAGE.read_text().partition(begin)[2].partition(end)[0].strip()


def _put_between(text: str, marks: tuple[str, str], content: str) -> str:
    begin, end = marks
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n\n{content}\n\n{end}{rest.partition(end)[2]}"
