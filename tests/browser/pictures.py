"""`make pictures`: two pictures for the README: an execution that runs, and what waits for a person."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import timedelta

from playwright.sync_api import sync_playwright

from ferryman.domain.approvals.form import HttpForm
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import START
from tests.browser.conftest import sign_in, watch
from tests.browser.filled_site import AGENT, APPROVAL, OWNER, RUNNING, FilledSite, build_site
from tests.browser.installing import ROOT, find_chromium
from tests.serve import serve_app
from tests.serving.values import build_approval

PICTURES = {"execution": f"/console/executions/{RUNNING}", "approvals": "/console/approvals"}
WIDTH, HEIGHT = 1360, 1160
"""In pixels: as wide as the menu and a table of moments need."""

BYTES_MAX = 200_000
QUESTIONS = (
    ("POST", "https://api.github.com/repos/ferries/site/issues", timedelta(minutes=4)),
    ("PUT", "https://crm.example.com/contacts/31", timedelta(minutes=17)),
    ("POST", "https://hooks.slack.com/services/reports", timedelta(hours=1, minutes=5)),
)
"""What waits beside the call of the execution: method, URL, and since when."""


def add_questions(site: FilledSite) -> None:
    """Have more calls wait for a person, and none that was decided."""
    memory = site.stage.memory
    for name in [name for name in memory.approvals if name != APPROVAL]:
        del memory.approvals[name]
    where = {"agent": AGENT, "workspace": derive_default_workspace(OWNER)}
    memory.approvals[APPROVAL] = replace(memory.approvals[APPROVAL], created_at=START - timedelta(seconds=26))
    for number, (method, url, ago) in enumerate(QUESTIONS):
        what = HttpForm(method=method, url=url, headers=(), body='{"text": "A summary of the week."}')
        question = build_approval(OWNER, what=what, id=f"appr_{number}", execution=f"exec_{number}")
        memory.approvals[question.id] = replace(question, **where, created_at=START - ago)


def main() -> int:
    site = build_site()
    add_questions(site)
    with serve_app(site.app) as origin, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        state = sign_in(browser, origin, site.key)
        for name, path in PICTURES.items():
            with watch(browser, origin, state, width=WIDTH, reduced_motion="reduce") as seen:
                seen.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
                problems = seen.open(path)
                file = ROOT / "docs" / "images" / f"console-{name}.png"
                bottom = seen.page.evaluate("document.querySelector('main').getBoundingClientRect().bottom")
                height = min(HEIGHT, int(bottom) + 16)
                seen.page.screenshot(path=file, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
            print(f"{file.relative_to(ROOT)}: {file.stat().st_size} bytes", *problems)
            if problems or file.stat().st_size > BYTES_MAX:
                return 1
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
