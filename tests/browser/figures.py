"""`make browser-figures`: how fast and how large the console is in a real browser: a table, and build/browser/figures.md.

Nothing here fails for being slow: these are figures to be read, and docs/figures.md has those of a dated run.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from ferryman.serving.console.assets import load_assets
from tests.browser.conftest import sign_in, watch
from tests.browser.figures_big import ENDED, UNDER_WAY, measure_big, store_big
from tests.browser.figures_live import EXECUTIONS, find_percentile, measure_commits
from tests.browser.filled_site import EXECUTION, build_site
from tests.browser.installing import FOLDER, find_chromium
from tests.browser.visits import list_paths
from tests.browser.walks import start_site, start_walk
from tests.serve import serve_app

SCROLL = """async () => {
  const frames = [];
  const end = document.documentElement.scrollHeight - innerHeight;
  await new Promise((resolve) => {
    let last = performance.now();
    const step = (now) => {
      frames.push(now - last);
      last = now;
      scrollTo(0, (end * frames.length) / 120);
      frames.length < 120 ? requestAnimationFrame(step) : resolve();
    };
    requestAnimationFrame(step);
  });
  return frames.slice(1);
}"""
"""Scrolls from the top to the bottom in 120 frames, and returns how many milliseconds each took."""

Row = tuple[str, str, str]
"""What, the figure, and the bar."""


def measure_pages(browser: Any, origin: str, state: Any) -> Iterator[Row]:
    """Yield figures of all ordinary pages."""
    _, assets = load_assets()
    size = sum(len(asset.gzipped) for asset in assets.values())
    yield f"all {len(assets)} assets, gzipped", f"{size / 1024:.1f} KB", "60 KB"
    requests, shifts = {}, {}
    for path in list_paths():
        with watch(browser, origin, state) as seen:
            seen.open(path)
            requests[path] = len([url for url in seen.requests if not url.endswith("/live")])
            shifts[path] = seen.page.evaluate("window.__shift")
    most, worst = max(requests, key=requests.__getitem__), max(shifts, key=shifts.__getitem__)
    yield f"requests of a first visit, the most of {len(requests)} pages ({most})", str(requests[most]), "5"
    yield f"layout shift, the worst of {len(shifts)} pages ({worst})", f"{shifts[worst]:.4f}", "0"


def measure_scripts(browser: Any, origin: str, state: Any) -> Iterator[Row]:
    """Yield how long the scripts of an execution's page take to compile and to run."""
    with watch(browser, origin, state) as seen:
        devtools = seen.page.context.new_cdp_session(seen.page)
        devtools.send("Performance.enable")
        seen.open(f"/console/executions/{EXECUTION}")
        rows = devtools.send("Performance.getMetrics")["metrics"]
        script_s = next(row["value"] for row in rows if row["name"] == "ScriptDuration")
    yield "scripts of an execution's page, compiled and run", f"{script_s * 1000:.0f} ms", "-"


def measure_scrolling(browser: Any, origin: str, state: Any, name: str) -> Iterator[Row]:
    """Yield the frames per second while an execution of 10,000 events is scrolled through."""
    with watch(browser, origin, state) as seen:
        seen.open(f"/console/executions/{name}")
        frames = sorted(seen.page.evaluate(SCROLL))
    middle, slow = statistics.median(frames), frames[int(len(frames) * 0.95)]
    yield "frames while 10,000 events are scrolled through: median, p95", f"{middle:.0f} ms, {slow:.0f} ms", "16.7 ms"


def measure_live(browser: Any, folder: Path) -> Iterator[Row]:
    """Yield how long it takes from the moment of a commit until it is painted, on a stack as `ferryman up` starts it."""
    delays: list[float] = []
    with start_site(folder, {}) as stack, start_walk(browser, stack) as walk:
        for _ in range(EXECUTIONS):
            delays += measure_commits(walk)
    figure = f"{find_percentile(delays, 0.5):.0f} ms, {find_percentile(delays, 0.95):.0f} ms"
    yield f"from a commit until it is painted, of {len(delays)}: median, p95", figure, "p95 150 ms"


def main() -> int:
    site = build_site()
    for name, ended in ((ENDED, True), (UNDER_WAY, False)):
        store_big(site, name, ended=ended)
    rows: list[Row] = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        with serve_app(site.app) as origin:
            state = sign_in(browser, origin, site.key)
            rows += measure_pages(browser, origin, state)
            rows += measure_scripts(browser, origin, state)
            for figures in measure_big(browser, origin, state):
                rows.append((f"{figures.name}: usable", f"{figures.usable_s:.2f} s", "1.5 s"))
                rows.append((f"{figures.name}: heap of its scripts", f"{figures.heap_mb:.1f} MB", "150 MB"))
            rows += measure_scrolling(browser, origin, state, ENDED)
        rows += measure_live(browser, Path(folder))
        browser.close()
    table = "\n".join(["| what | figure | bar |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)])
    (FOLDER / "figures.md").write_text(table + "\n")
    print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
