"""Inspect a page in few visits: on a wide screen, on a narrow one, and without scripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from tests.browser.visits import Watch

THEMES = ("light", "dark")
WIDE, NARROW = 1440, 360
"""How wide the screens are, in pixels."""

COLOR_RULES = ("color-contrast", "link-in-text-block")
"""What another theme can break: it changes colours alone."""

VISITS_MAX = 3
"""How many times a page is opened at most while its layout shifts."""

STOPS_MAX = 1_000
"""How many times Tab is pressed on one page."""

KEYS = """() => {
  const known = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']";
  const isSeen = (e) => !e.disabled && e.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
  // a live page replaces its elements: what they say tells them apart. Of buttons of one choice, the keyboard reaches one
  window.__key = (e) => [e.tagName, e.id, e.getAttribute("href"), e.name, e.value, e.textContent.trim().slice(0, 80)].join(" ");
  return [...document.querySelectorAll(known)].filter((e) => isSeen(e) && e.type !== "radio").map(window.__key);
}"""
FOCUSED = """() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const style = getComputedStyle(element);
  return [window.__key(element), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
}"""

READ = """() => {
  const main = document.querySelector("main")?.cloneNode(true);
  if (!main) return { headings: [], data: [] };
  for (const time of main.querySelectorAll("time")) time.textContent = time.dateTime;
  const headings = [...main.querySelectorAll("h1, h2, h3")].map((e) => e.textContent.trim());
  const data = [...main.querySelectorAll("data")].map((e) => e.value);
  return { headings, data };
}"""


@dataclass(kw_only=True)
class Inspection:
    """The findings of one page; each list holds its faults, in words."""

    problems: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    animations: int = 0
    missed: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    content: Mapping[str, Any] = field(default_factory=dict)
    plain_content: Mapping[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True)
class Inspector:
    """Opens pages of one site, in a context for each kind of screen that all pages share; each page is inspected once."""

    open_watch: Callable[..., Any]
    take_picture: Callable[[Any, str, str], None]
    stack: ExitStack
    watches: dict[str, Watch] = field(default_factory=dict)
    inspections: dict[str, Inspection] = field(default_factory=dict)

    def inspect(self, path: str) -> Inspection:
        """Return the findings of the page at `path`."""
        if path not in self.inspections:
            self.inspections[path] = inspection = Inspection()
            self._look_wide(path, inspection)
            self._look_narrow(path, inspection)
            self._look_without_script(path, inspection)
        return self.inspections[path]

    def inspect_narrow(self, path: str) -> Inspection:
        """Return the findings of the page at `path` on a narrow screen only."""
        inspection = Inspection()
        self._look_narrow(path, inspection, name="empty")
        return inspection

    def _watch(self, name: str, **options: Any) -> Watch:
        if name not in self.watches:
            self.watches[name] = self.stack.enter_context(self.open_watch(**options))
        return self.watches[name]

    def _look_wide(self, path: str, inspection: Inspection) -> None:
        seen = self._watch("wide", width=WIDE)
        inspection.problems += [f"{WIDE}: {problem}" for problem in _open(seen, path)]
        inspection.requests = [url for url in seen.requests if not url.endswith("/live")]
        inspection.content = seen.page.evaluate(READ)
        self._judge_themes(seen, path, str(WIDE), inspection)
        seen.page.emulate_media(color_scheme="light", reduced_motion="reduce")
        inspection.animations = seen.page.evaluate("document.getAnimations().length")
        seen.page.emulate_media(reduced_motion="no-preference")
        inspection.missed, inspection.unseen = press_tab(seen.page)

    def _look_narrow(self, path: str, inspection: Inspection, name: str = str(NARROW)) -> None:
        seen = self._watch("narrow", width=NARROW)
        inspection.problems += [f"{name}: {problem}" for problem in _open(seen, path)]
        self._judge_themes(seen, path, name, inspection)

    def _look_without_script(self, path: str, inspection: Inspection) -> None:
        seen = self._watch("plain", width=WIDE, java_script_enabled=False)
        seen.page.goto(seen.origin + path)
        inspection.plain_content = seen.page.evaluate(READ)

    def _judge_themes(self, seen: Watch, path: str, name: str, inspection: Inspection) -> None:
        for theme in THEMES:
            seen.page.emulate_media(color_scheme=theme)
            rules = () if theme == THEMES[0] else COLOR_RULES
            inspection.violations += [f"{theme} {name}: {violation}" for violation in seen.find_violations(rules)]
            self.take_picture(seen.page, path, f"{theme}-{name}")
        seen.page.emulate_media(color_scheme=THEMES[0])


def _open(seen: Watch, path: str) -> list[str]:
    """Open a page, and return its faults.

    A busy machine can paint a table before its last rows have come: what moves whenever the page is opened counts as a shift.
    """
    for _ in range(VISITS_MAX):
        problems = seen.open(path)
        layout = seen.measure_layout()
        if not seen.has_shifted():
            break
    return [*problems, *layout]


def press_tab(page: Any) -> tuple[list[str], list[str]]:
    """Go through the page by Tab. Return the controls that were not reached, and the stops without a visible focus."""
    page.evaluate("document.activeElement.blur()")
    controls, stops = page.evaluate(KEYS), []
    for _ in range(STOPS_MAX):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop is None:
            break  # the last one is behind
        stops.append(stop)
    reached = {key for key, _ in stops}
    return [key for key in controls if key not in reached], [key for key, is_seen in stops if not is_seen]
