"""The benches of docs/performance.md, in the order of its table, and the promises that each of them measures."""

from __future__ import annotations

# the module `bench.NAME` where it is there, and what it has to answer for
BENCHES: dict[str, tuple[str, ...]] = {
    "gate": (
        "processor time of one authenticated call through the gate, beside one shared httpx client, 1 and 64 at once",
        "the same for 1, 10 and 100 credentials",
    ),
    "scan": ("a 50 KB answer with 10 credentials, scanned and cut, off the event loop",),
    "tool": (
        "one tool function, the real route, 80 and 300 at once",
        "the same with the store in memory, beside a plain aiohttp handler",
        "its memory under that load, and after 100,000 calls",
    ),
    "loop": (
        "processor time per round of the loop, beside the SDK's plain loop",
        "200 rounds of 2 KB, beside the SDK's plain loop and beside 10 rounds",
        "100 executions at once: time per call over the model's delay",
        "processor time per round with Firestore's stores over that with memory's",
    ),
    "labels": ("processor time that labels and flow policy add to a round of the loop, on stores in memory and in Firestore",),
    "peers": ("a round of the loop beside pydantic-ai, adk, openai-agents, langgraph, smolagents and agno",),
    "starts": ("the first answer of each kind of function, and its memory, over functions-framework's async hello",),
    "console_start": ("the first page of the console on a new instance, over the first answer of use of the API on one",),
    "first_request": ("from the start of the process to the first request to the model, over all imported eagerly",),
    "operations": ("Firestore: per call 1 batched read and 2 writes; per turn 1 transaction",),
    "stack": ("executions of 5 calls per second, whole local stack on 2 cores, 32 at once",),
    "lists": ("lists of tasks and executions with 10 and 5,000 in the store",),
    "up": ("`ferryman up` ready; warm `make demo`",),
    "selection": ("which of 1,437 tools a text asks for, and when none: recall, abstention, stuffing, 10,000 tools",),
    "extraction": (
        "F1 of the main text of web pages, Mozilla's and generated ones, beside readability-lxml, trafilatura and resiliparse",
        "hidden text left out; pages of 10 MB; pages and PDFs that are made to take long",
    ),
    "chat": (
        "first token of a chat behind the provider's, p95, no credentials",
        "a scanned window of what the model is writing, p95, with the hold-back",
        "writes a second of what the model is writing",
        "5 calls of 1 s beside each other",
        "the prompt cache's share of an unchanged prefix",
        "what 64 who watch one execution read, beside one",
    ),
    "mcp": ("200 `tools/call` of MCP at once on one instance: processor time per call, beside the server of the `mcp` SDK",),
    "mcp_client": ("a call of a tool of an MCP server: processor time beside one of a declared tool of the same size",),
    "cost": ("infrastructure per 1,000 executions of 10 calls at 40 at once",),
}
