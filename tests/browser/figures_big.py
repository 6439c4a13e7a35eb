"""A big execution in a real browser: 10,000 events and 50 MB of results, planted in memory.

    PYTHONPATH=build/browser/packages:. python -m tests.browser.figures_big

Prints how long it takes until its page is loaded and a call can be read, the heap of its scripts, and what the server needs for
each rendering. The bars: usable after 1.5 s, 150 MB of heap.
"""

from __future__ import annotations

import asyncio
import resource
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.executions.execution import Execution, Lease, Status
from ferryman.domain.executions.usage import Usage
from ferryman.domain.receipts.receipt import Fact, Head, ReceiptKind, append_receipts
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import START
from tests.browser.filled_site import OWNER, TASK, FilledSite, build_site
from tests.browser.installing import find_chromium
from tests.builders import build_execution, build_setup, build_step, build_ticket
from tests.serve import serve_app

ENDED, UNDER_WAY = "exec_big_ended", "exec_big_running"
TURNS = 3_333
"""Each has an event, and two for its call; with that of the start they are 10,000."""

RESULT_CHARACTERS = 15_100
"""Of every call: 50 MB altogether."""

USABLE_S, HEAP_MB = 1.5, 150.0
VISITS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class BigFigures:
    """What one visit of a big execution's page took: seconds until it is loaded, until a call is read, and heap in MB."""

    name: str
    loaded_s: float
    usable_s: float
    heap_mb: float
    requests: int


def store_big(site: FilledSite, name: str, *, ended: bool) -> Execution:
    """Store an execution of 10,000 events and 50 MB of results."""
    memory = site.stage.memory
    begun = START - timedelta(hours=2)
    text = ("<p>Rain in Hamburg, wind from the north; " + "0123456789abcdef " * 40 + "\n") * 40
    text = text[:RESULT_CHARACTERS]
    steps, tickets = {}, {}
    head, stored = Head(), {}

    def add(*facts: Fact) -> None:
        nonlocal head
        number = head.count
        stored[number], head = append_receipts(head, facts, execution=name, at=begun, key=1, sign=lambda digest: digest * 2)

    add(Fact(ReceiptKind.OPENED, {}, {"opening": None}))
    settled: list[Fact] = []
    for number in range(1, TURNS + 1):
        seq, at = number - 1, begun + timedelta(seconds=2 * number)
        about = {"turn": number, "seq": seq, "parent": None, "tool": "http_get"}
        steps[number] = build_step(
            number=number,
            content=({"type": "text", "text": f"Step {number}: I ask again."},),
            stop_reason="tool_use",
            usage=Usage(input_tokens=900 + number, output_tokens=40),
            credits=Decimal("0.25"),
            first_call=seq,
            calls=1,
            event=3 * number - 1,
            at=at,
        )
        result = ToolCallResult(
            "http_get",
            text,
            url=f"https://api.example.com/page/{number}",
            method="GET",
            response_status=200,
            response_size_bytes=len(text),
            latency_ms=float(100 + number % 900),
        )
        tickets[seq] = build_ticket(
            seq=seq,
            step=number,
            call=f"toolu_{seq}",
            tool="http_get",
            display_arguments={"url": result.url},
            state=TicketState.SETTLED,
            created_at=at,
            sent_at=at,
            settled_at=at + timedelta(seconds=1),
            result=result,
        )
        add(*settled, Fact(ReceiptKind.REPLIED, {"turn": number}, {}), Fact(ReceiptKind.PLANNED, about, {}))
        settled = [Fact(ReceiptKind.SETTLED, {**about, "outcome": "answered", "credits": "0"}, {})]
    known: dict[str, Any] = {
        **{"id": name, "owner": OWNER, "workspace": derive_default_workspace(OWNER), "task": TASK, "created_at": begun},
        **{"started_at": begun, "iterations": TURNS, "tool_calls_total": TURNS, "events": 3 * TURNS + 1},
        **{"credits_used": Decimal("833.25"), "usage": Usage(input_tokens=8_000_000, output_tokens=TURNS * 40)},
    }
    if ended:
        add(*settled, Fact(ReceiptKind.CLOSED, {"status": "completed", "credits": "833.25", "count": head.count + 2}, {}))
        known |= {"status": Status.COMPLETED, "completed_at": START, "output": "It rained."}
    else:
        lease = Lease(holder="h", epoch=1, expires_at=START + timedelta(hours=1))
        known |= {"status": Status.RUNNING, "lease": lease}
    execution = replace(build_execution(**known), receipts=head)
    memory.executions[name] = execution
    memory.openings[name] = build_setup(prompt="Watch the weather.", started_at=begun)
    memory.steps[name], memory.tickets[name], memory.receipts[name] = steps, tickets, stored
    return execution


def measure_page(browser: Any, origin: str, state: Any, name: str, query: str = "") -> BigFigures:
    """Return what a visit of the page of this execution took; usable is: a call was opened, and its result is on the screen."""
    context = browser.new_context(storage_state=state)
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    begin = time.perf_counter()
    page.goto(f"{origin}/console/executions/{name}{query}", wait_until="load")
    loaded = time.perf_counter() - begin
    page.locator("li.call summary").first.click()
    page.locator("li.call .loaded pre").last.wait_for()
    usable = time.perf_counter() - begin
    count = len(requests)
    devtools = context.new_cdp_session(page)
    devtools.send("Performance.enable")
    page.wait_for_timeout(1_000)  # what its stream brings is in the heap, too
    metrics = {metric["name"]: metric["value"] for metric in devtools.send("Performance.getMetrics")["metrics"]}
    context.close()
    return BigFigures(
        name=name + query, loaded_s=loaded, usable_s=usable, heap_mb=metrics["JSHeapUsedSize"] / 1e6, requests=count
    )


def measure_big(browser: Any, origin: str, state: Any) -> list[BigFigures]:
    """Return the figures of both big executions, which the site at `origin` holds: of the first page and of the last one."""
    last = f"?from={TURNS - 50}"
    pages = [(ENDED, ""), (ENDED, last), (UNDER_WAY, ""), (UNDER_WAY, last)]
    return [max(visits, key=lambda figures: figures.usable_s) for visits in _visit(browser, origin, state, pages)]


def _visit(browser: Any, origin: str, state: Any, pages: list[tuple[str, str]]) -> list[list[BigFigures]]:
    measure_page(browser, origin, state, ENDED)  # templates are read, and fonts loaded
    return [[measure_page(browser, origin, state, name, query) for _ in range(VISITS)] for name, query in pages]


def measure_server(site: FilledSite) -> str:
    """Return what rendering the page takes of the server's CPU, in ms, and the memory of this process, in MB."""
    import httpx

    async def render() -> float:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(site.app), base_url="https://testserver") as http:
            same = {"Sec-Fetch-Site": "same-origin"}
            await http.post("/console/sign-in", data={"key": site.key, "next": "/console"}, headers=same)
            await http.get(f"/console/executions/{ENDED}")
            begin = time.process_time()
            for _ in range(10):
                answer = await http.get(f"/console/executions/{ENDED}")
                assert answer.status_code == 200, answer.status_code
            return (time.process_time() - begin) * 100

    milliseconds = asyncio.run(render())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{milliseconds:.0f} ms of CPU for each rendering; {peak:.0f} MB at most in this process"


def main() -> int:
    """Print the figures; return 1 where one is above its bar."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import sign_in

    site = build_site()
    store_big(site, ENDED, ended=True)
    store_big(site, UNDER_WAY, ended=False)
    print(measure_server(site))
    with serve_app(site.app) as origin, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])
        state = sign_in(browser, origin, site.key)
        rows = measure_big(browser, origin, state)
        browser.close()
    print(f"{'page':32} {'loaded':>8} {'usable':>8} {'heap':>9} requests")
    for row in rows:
        print(f"{row.name:32} {row.loaded_s:6.2f} s {row.usable_s:6.2f} s {row.heap_mb:6.1f} MB {row.requests:5}")
    return int(any(row.usable_s > USABLE_S or row.heap_mb > HEAP_MB for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
