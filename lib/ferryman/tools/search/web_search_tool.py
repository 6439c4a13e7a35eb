"""The tool `web_search_tool`: a query in, pages with title, URL, snippet and engine out (S4-42 … S4-50)."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ferryman.domain.calls.refusal import INVALID_ARGUMENTS
from ferryman.domain.search import QUERY_CHARACTERS_MAX, RESULTS_MAX
from ferryman.framing.frame import remove_invisible
from ferryman.ports.search import SearchEngine, SearchFailedError
from ferryman.tools.local_function.execute import LocalFunctionError
from ferryman.tools.local_function.registry import register


async def web_search_tool(*, query: str, max_results: float, user_id: str, db: SearchEngine, **_: Any) -> str:
    """Return `{"query", "results"}` as JSON (S4-50). Raise `LocalFunctionError`, which says what is wrong.

    `max_results` is held to 1 … 15 (S4-45). What leaves is the query without invisible characters, in one line.
    """
    text = " ".join(remove_invisible(query).split())
    if not 0 < len(text) <= QUERY_CHARACTERS_MAX:
        why = f"query: 1 to {QUERY_CHARACTERS_MAX:,} characters are needed, and it has {len(text):,}"
        raise LocalFunctionError(why, code=INVALID_ARGUMENTS)
    most = int(max(1, min(max_results, RESULTS_MAX)))
    try:
        results = await db.search(text, most=most, owner=user_id)
    except SearchFailedError as error:
        raise LocalFunctionError(str(error), code=error.code) from None
    return json.dumps({"query": text, "results": [asdict(result) for result in results]}, ensure_ascii=False)


register("web_search_tool", web_search_tool)
