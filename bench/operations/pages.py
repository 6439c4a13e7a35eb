"""Pages of the console: what opening each asks for, asking for it again, and a look at whether a session is still good."""

from __future__ import annotations

import re
from collections import Counter

import httpx

from bench.operations.counting import Counts
from bench.operations.services import API
from bench.operations.system import ALL, INVOKED, STORED, CountedSystem
from ferryman.serving import api
from ferryman.serving.console.routing import PARTS_HEADER

PART = re.compile(r'<[a-z]+ id="([^"]+)" data-part')
"""An element that a page asks for again."""

SAME_SITE = {"Sec-Fetch-Site": "same-origin"}


async def count_pages(system: CountedSystem, execution: str) -> dict[str, Counts]:
    """Return what pages ask for, of a workspace where nothing runs or waits, each opened before: imports are not counted."""
    listed = await system.client.get("/v1/conversations")
    conversation = listed.json()["conversations"][0]["conversation_id"]
    paths = {
        "page_overview": "/console",
        "page_executions": "/console/executions",
        "page_execution": f"/console/executions/{execution}",
        "page_approvals": "/console/approvals",
        "page_conversations": "/console/conversations",
        "page_conversation": f"/console/conversations/{conversation}",
        "page_tasks": "/console/tasks",
        "page_task": f"/console/tasks/{system.task}",
    }
    transport = httpx.ASGITransport(app=api.create(system.deps))
    async with httpx.AsyncClient(transport=transport, base_url="https://api.test", headers=SAME_SITE) as browser:
        key = system.client.headers["Authorization"].removeprefix("Bearer ")
        answer = await browser.post("/console/sign-in", data={"key": key, "next": "/console"})
        assert answer.status_code == 303, answer.text
        counted = {}
        for name, path in paths.items():
            page = await browser.get(path)
            counted[name] = await _count(system, browser, path, {})
            if "data-refresh-s" in page.text:
                parts = ",".join(PART.findall(page.text))
                counted[f"{name}_again"] = await _count(system, browser, path, {PARTS_HEADER: parts})
        counted["page_check"] = await _count_check(system)
    return counted


async def _count(system: CountedSystem, browser: httpx.AsyncClient, path: str, headers: dict[str, str]) -> Counts:
    before = system.snapshot("")
    page = await browser.get(path, headers=headers)
    assert page.status_code == 200, page.text
    system.counts[API, INVOKED] += 1
    return _subtract(system, before)


async def _count_check(system: CountedSystem) -> Counts:
    """Return what it costs to read whether a session is still good."""
    before = system.snapshot("")
    await system.deps.console_sessions.find("session")
    return _subtract(system, before)


def _subtract(system: CountedSystem, before: Counts) -> Counts:
    after = system.snapshot("")
    after.subtract(before)
    del after[ALL, STORED]
    return +Counter(after)
