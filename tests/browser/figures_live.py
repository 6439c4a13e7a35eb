"""Commit to screen: how long a turn's commit takes until a browser that watches the execution shows it.

    PYTHONPATH=build/browser/packages:. python -m tests.browser.figures_live

On the whole local stack, whose clocks are this machine's: the commit is the turn's own moment in the record, and on the screen
it is with the first frame after it is in the page. The bar: 95 of 100 within 150 ms.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.browser.installing import find_chromium
from tests.browser.walks import Walk, start_site, start_walk
from tests.journeys.conftest import asks, call, says

TURNS = 15
EXECUTIONS = 5
"""Each of `TURNS` turns and the last one: 60 commits and more."""

BAR_MS = 150.0
HOST = "api.coingecko.com"
NOTE_TURNS = """() => {
  window.__seen = {};
  const note = () => {
    const turns = [...document.querySelectorAll("section.turn")].filter((turn) => !(turn.id in window.__seen));
    if (turns.length) requestAnimationFrame(() => { for (const turn of turns) window.__seen[turn.id] ??= Date.now(); });
  };
  for (const turn of document.querySelectorAll("section.turn")) window.__seen[turn.id] = 0;
  new MutationObserver(note).observe(document.body, { childList: true, subtree: true });
}"""
"""Notes when each turn is first in a frame; 0 for one that the page came with."""


def measure_commits(walk: Walk) -> list[float]:
    """Return the milliseconds from the commit to the screen, of each turn that is committed while the page is open."""
    journey = walk.journey
    walk.run(journey.serve(HOST, delay_s=1.0))
    replies = [asks(call("http_get", url=f"{journey.url(HOST)}?n={number}")) for number in range(TURNS)]
    fields = {"tools": ["http_get"], "integrations": ["coingecko"], "max_iterations": TURNS + 1}
    task = walk.run(journey.task(*replies, says("All is well."), **fields))
    execution = walk.run(journey.client.start_execution(task))["execution_id"]
    with walk.open(f"/console/executions/{execution}") as watch:
        watch.page.evaluate(NOTE_TURNS)
        watch.page.locator(".badge.completed").first.wait_for()
        watch.page.wait_for_timeout(500)
        times: dict[str, float] = watch.page.evaluate("window.__seen")
    turns: Sequence[Any] = walk.run(journey.client.list_turns(execution, details=False, limit=100))
    commits = {f"turn-{turn['number']}": datetime.fromisoformat(turn["at"]).timestamp() * 1_000 for turn in turns}
    return [moment - commits[name] for name, moment in times.items() if moment]


def find_percentile(values: Sequence[float], share: float) -> float:
    """Return the least value that `share` of the values are not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def main() -> int:
    """Print the figures; return 1 where they are above the bar."""
    from playwright.sync_api import sync_playwright

    delays: list[float] = []
    with tempfile.TemporaryDirectory() as data, start_site(Path(data)) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])
        with start_walk(browser, site) as walk:
            with walk.open():  # signs in, and has the server ready
                pass
            for _ in range(EXECUTIONS):
                delays += measure_commits(walk)
        browser.close()
    p95 = find_percentile(delays, 0.95)
    print(f"{len(delays)} commits on the screen after {find_percentile(delays, 0.5):.0f} ms (median), {p95:.0f} ms (p95)")
    return int(p95 > BAR_MS)


if __name__ == "__main__":
    raise SystemExit(main())
