"""A report: a script of the model that searches the local web, reads three of its pages and writes a file of what they say."""

from __future__ import annotations

from typing import Any

SCRIPT = "report"
KEY = "reports/ferries.md"
QUERY = "ferry crossings, and a page of HTML"
PAGES = (
    "https://harbour-times.example.com/2026/ferry-timetable",
    "https://harbour-times.example.com/2026/battery-ferry",
    "https://httpbin.org/html",
)
"""What is read: pages that the local search engine lists, behind TLS."""

REPORT = f"""\
# Ferries

- The night ferry leaves the northern harbour at 21:40 ([Harbour Times]({PAGES[0]})).
- A battery ferry needs 2.9 gigawatt hours a year ([Harbour Times]({PAGES[1]})).
- httpbin has [a page]({PAGES[2]}) to try a client with.
"""
ANSWER = f"The report is in {KEY}."


def build_script() -> dict[str, Any]:
    """Return the model's turns; it expects nothing, so that a task that lacks a tool still ends, with refusals to read."""
    fetches = [{"name": "web_fetch", "input": {"url": url}} for url in PAGES]
    return {
        "steps": [
            {"text": "First a search.", "tool_calls": [{"name": "web_search_tool", "input": {"query": QUERY}}]},
            {"text": "Three of these pages.", "tool_calls": fetches},
            {"text": "Now the report.", "tool_calls": [{"name": "file_write", "input": {"key": KEY, "content": REPORT}}]},
            {"text": ANSWER},
        ]
    }
