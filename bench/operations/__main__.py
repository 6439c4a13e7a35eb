"""`python -m bench.operations`: prints what each part of an execution asks of the cloud.

`--write` stores it for `ferryman cost`, and the output of that command, with a table of further parts, in docs/cost.md.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import fields

from bench.operations.counting import (
    ACCESSES,
    BATCH_READS,
    CLASS_A,
    CLASS_B,
    DELETES,
    QUERIES,
    READS,
    REQUESTS,
    TASKS,
    TRANSACTIONS,
    WRITES,
)
from bench.operations.document import COMMAND, PATH, build_document
from bench.operations.page import PAGE, write_page
from bench.operations.parts import PartCounts, measure

KINDS = (REQUESTS, TRANSACTIONS, BATCH_READS, READS, QUERIES, WRITES, DELETES, TASKS, ACCESSES, CLASS_A, CLASS_B)
TURNS = 40


def print_parts(measured: PartCounts) -> None:
    """Print a line for each part."""
    titles = {
        "call": "a call",
        "turn": "turn 3, its calls aside",
        "late_turn": f"turn {TURNS}, its calls aside",
        "start": "the start, over the API",
        "admission": "the start, asked for by a document",
        "opening": "from there to the first model call",
        "end": "the last turn and the end",
        "slice": "a further delivery",
        "look": "a second in which an instance waits",
        "beat": "a third of a lease",
        "watch": "a watcher",
        "poll": "a watcher's look",
        "check": "whether a watcher still may watch",
        "sweep": "a sweep of the schedules",
        "instance": "new instances",
        "conversation": "more, in a conversation with a limit",
        "alert_repeat": "the second delivery of an alert",
        "direct_call": "a call of an MCP client, all of it",
        "roll_up": "a round of roll-ups",
        "usage_event": "each turn that it rolls up",
        "file_write": "a call of file_write",
        "file_read": "a call of file_read",
        "web_fetch": "a call of web_fetch",
        "kept_result": "a call whose long result is kept",
        "kept_answer": "a request whose long result is kept",
        "web_search_tool": "a call of web_search_tool",
        "page_overview": "the console's overview",
        "page_overview_again": "its parts again",
        "page_executions": "the list of executions",
        "page_executions_again": "its parts again",
        "page_execution": "one execution",
        "page_approvals": "the list of approvals",
        "page_approvals_again": "its parts again",
        "page_conversations": "the list of conversations",
        "page_conversation": "one conversation",
        "page_tasks": "the list of tasks",
        "page_task": "one task",
        "page_check": "whether a session is still good",
    }
    assert set(titles) == {field.name for field in fields(measured)}
    print(f"{'':36}" + "".join(f"{kind:>{len(kind) + 2}}" for kind in KINDS))
    for name, title in titles.items():
        counts = [
            sum(count for (_, counted_kind), count in getattr(measured, name).items() if counted_kind == kind) for kind in KINDS
        ]
        print(f"{title:36}" + "".join(f"{count:>{len(kind) + 2}}" for kind, count in zip(KINDS, counts, strict=True)))


def main() -> None:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    measured = asyncio.run(measure(TURNS))
    print_parts(measured)
    if "--write" in sys.argv[1:]:
        document = build_document(measured)
        PATH.write_text(json.dumps(document, indent=1) + "\n")
        write_page(document["parts"])
        print(f"written to {PATH} and {PAGE} by {COMMAND}")


if __name__ == "__main__":
    main()
