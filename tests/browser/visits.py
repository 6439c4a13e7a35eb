"""The pages by the console's own routes, and what a visit of one records: requests, errors, layout shifts, CSP reports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.serving.console.pages import ROUTES
from ferryman.serving.console.routing import ROOT
from tests.browser.filled_site import AGENT, APPROVAL, CLUSTER, CONVERSATION, EXECUTION, OWNER, SERVER, TASK, TRY
from tests.browser.installing import AXE

SAMPLES = {
    "agents": AGENT,
    "approvals": APPROVAL,
    "calls": "0",
    "clusters": CLUSTER,
    "conversations": CONVERSATION,
    "credentials": "COINGECKO_API_KEY",
    "executions": EXECUTION,
    "files": "notes.md",
    "jobs": f"job_{OWNER}",
    "messages": "2",
    "people": f"person_{OWNER}",
    "servers": SERVER,
    "tasks": TASK,
    "tools": f"{CLUSTER}_forecast",
    "tries": TRY,
    "workspaces": derive_default_workspace(OWNER),
    "turns": "1",
}
"""The id in the place of a parameter of a path, by the noun before it."""

NOT_PAGES = ("live", "export", "record", "download", "events", "content", "upload", "link", "connected")
"""The last names of paths that answer no page."""

REQUESTS_MAX = 5
SHIFT = """
window.__shift = 0; window.__ran = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.__shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
window.__blocked = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.__blocked.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""
"""The script that records inside the page: layout shifts, and what the Content Security Policy blocked."""


def list_paths() -> list[str]:
    """Return the path of every page of the console, with ids of what the site holds."""
    paths = [fill_path(route.path) for route in ROUTES if route.path.rpartition("/")[2] not in NOT_PAGES]
    return [f"{ROOT}/sign-in", *paths]


def fill_path(path: str) -> str:
    """Return the path with an id in the place of each of its parameters. Raise `LookupError` for one that is not known."""

    def fill(match: re.Match[str]) -> str:
        if match[1] not in SAMPLES:
            raise LookupError(f"{path}: name in SAMPLES (tests/browser/visits.py) what {match[0]} may be")
        return f"/{match[1]}/{SAMPLES[match[1]]}"

    return re.sub(r"/([a-z-]+)/\{[a-z_]+(?::path)?\}", fill, path)


@dataclass(kw_only=True)
class Watch:
    """The record of a Playwright page since it was opened: requests, errors, dialogs, answers."""

    page: Any
    origin: str
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(f"script: {error}"))
        self.page.on("console", self._note)
        self.page.on("dialog", self._dismiss)

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"console: {message.text}")

    def _dismiss(self, dialog: Any) -> None:
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    @property
    def foreign(self) -> list[str]:
        """The requests to another origin."""
        return [url for url in self.requests if not url.startswith(("data:", self.origin + "/"))]

    def open(self, path: str) -> list[str]:
        """Open a page, and return its faults."""
        self.requests.clear()
        self.errors.clear()
        answer = self.page.goto(self.origin + path, wait_until="load")
        problems = [] if answer.status == 200 else [f"answered with {answer.status}: {self.page.title()}"]
        if not path.endswith("/sign-in") and urlsplit(self.page.url).path.endswith("/sign-in"):
            problems.append("asked to sign in")
        return [*problems, *self.list_problems()]

    def list_problems(self) -> list[str]:
        """Return what was blocked, failed, or left since the page was opened."""
        blocked = [f"blocked by the policy: {what}" for what in self.page.evaluate("window.__blocked ?? []")]
        return [*self.errors, *blocked, *(f"left: {url}" for url in self.foreign)]

    def find_violations(self, rules: Sequence[str] = ()) -> list[str]:
        """Return what axe-core finds by these rules, or by all: the rule, and where."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())
        only = {"runOnly": list(rules)} if rules else {}
        answer = self.page.evaluate("(options) => axe.run(options)", {"resultTypes": ["violations"], **only})
        return [_describe(rule) for rule in answer["violations"]]

    def has_shifted(self) -> bool:
        """Return whether anything has moved since the page was opened."""
        return bool(self.page.evaluate("window.__shift") > 0)

    def measure_layout(self) -> list[str]:
        """Return what moves or does not fit: shifts of the layout, and a page that is wider than the screen."""
        shift = self.page.evaluate("window.__shift")
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        problems = [f"the layout shifts by {shift:.4f}"] if shift > 0 else []
        return [*problems, *([f"{wide} pixels wider than the screen: {self._find_widest()}"] if wide > 0 else [])]

    def _find_widest(self) -> str:
        return str(
            self.page.evaluate(
                """() => { const most = document.documentElement.clientWidth;
                  const all = [...document.querySelectorAll("body *")];
                  const wide = all.filter((e) => e.getBoundingClientRect().right > most + 1);
                  return wide.slice(-3).map((e) => e.outerHTML.slice(0, 120)).join(" | "); }"""
            )
        )


def _describe(rule: dict[str, Any]) -> str:
    nodes: Sequence[dict[str, Any]] = rule["nodes"]
    where = ", ".join(str(node["target"][0]) for node in nodes[:3])
    summary = str(nodes[0].get("failureSummary", "")).replace("\n", " ")[:200]
    return f"axe {rule['id']}: {where} ({len(nodes)}): {summary}"
