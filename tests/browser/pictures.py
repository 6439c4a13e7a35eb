"""`make pictures`: two pictures for the README: an execution that runs, and what waits for a person."""

from __future__ import annotations

import sys

from playwright.sync_api import sync_playwright

from tests.browser.conftest import sign_in, watch
from tests.browser.filled_site import RUNNING, build_site
from tests.browser.installing import ROOT, find_chromium
from tests.serve import serve_app

PICTURES = {"execution": f"/console/executions/{RUNNING}", "approvals": "/console/approvals"}
BYTES_MAX = 200_000


def main() -> int:
    site = build_site()
    with serve_app(site.app) as origin, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        state = sign_in(browser, origin, site.key)
        for name, path in PICTURES.items():
            with watch(browser, origin, state, width=1200) as seen:
                problems = seen.open(path)
                file = ROOT / "docs" / "images" / f"console-{name}.png"
                seen.page.screenshot(path=file)
            print(f"{file.relative_to(ROOT)}: {file.stat().st_size} bytes", *problems)
            if problems or file.stat().st_size > BYTES_MAX:
                return 1
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
