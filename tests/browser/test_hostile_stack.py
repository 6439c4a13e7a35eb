"""Hostile strings through the API, by the model and by upstreams, on a whole stack: they are texts on every page."""

from __future__ import annotations

from typing import Any

from tests.browser.planting import write_texts
from tests.browser.walks import StackSite, start_walk

CLOBBERED = """() => [document.querySelectorAll("main#main").length, document.querySelectorAll("main h1").length,
  document.querySelectorAll("nav .menu a").length > 5, document.querySelectorAll("script:not([src])").length]"""


def test_no_hostile_string_of_a_member_a_model_or_an_upstream_is_more_than_text(chromium: Any, stack_site: StackSite) -> None:
    wrong = {}
    with start_walk(chromium, stack_site, "guru") as walk, walk.open() as seen:
        pages = walk.run(write_texts(walk.journey))
        for page in pages:
            problems = seen.open(page)
            problems += [f"ran: {what}" for what in seen.page.evaluate("window.__ran")]
            if (made_of := seen.page.evaluate(CLOBBERED)) != [1, 1, True, 0]:
                problems.append(f"clobbered: {made_of}")
            if problems:
                wrong[page] = [problem[:300] for problem in problems[:5]]
    assert wrong == {}
