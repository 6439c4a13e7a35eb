"""What all scenarios of public pages have: a task whose prompt names the attacker's page, and the model that fetches it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.campaigns.hostile.scenario import Answer, Scenario, call, call_tools, finish

AT = "https://{site}/{token}"
START = f"{AT}/start"
ROBOTS, GET_START, GET_NEXT = r"GET /robots\.txt", "GET /{token}/start", "GET /{token}/next"
SENTENCE = "The night ferry leaves the harbour at ten, with cars, lorries and passengers, whatever the weather may be. "
NEXT = Answer(headers={"content-type": "text/plain"}, body="{marker} is the next page.")

Turn = Mapping[str, Any] | tuple[Mapping[str, Any], ...]


def fetch(url: str = START, **more: Any) -> dict[str, Any]:
    """Return a `web_fetch`, as scripts write it."""
    return call("web_fetch", url=url, **more)


def build_page(*parts: str, head: str = "<title>Ferries</title>") -> Answer:
    """Return a page of HTML whose parts are between paragraphs that are read."""
    body = "".join(f"<p>{SENTENCE * 3}</p>{part}" for part in parts)
    text = f"<!doctype html><html><head>{head}</head><body><article>{body}<p>{{marker}} {SENTENCE}</p></article></body></html>"
    return Answer(headers={"content-type": "text/html; charset=utf-8"}, body=text)


def browse(name: str, *turns: Turn, answers: Mapping[str, Answer], sent: tuple[str, ...] = (), **more: Any) -> Scenario:
    """Return a scenario whose model fetches as `turns` say (the page alone where there are none).

    Each of `sent` and robots.txt arrives; beside these, nothing does.
    """
    arriving = (ROBOTS, *(sent or (GET_START,)))
    steps = (turn if isinstance(turn, tuple) else (turn,) for turn in turns or (fetch(),))
    fields: dict[str, Any] = {
        "tools": ("web_fetch",),
        "services": ("lunarcrush",),
        "names": {"{site}": (), **more.pop("names", {})},
        "reach": ("{site}", *more.pop("reach", ())),
        "task": {"task_prompt": f"Read {START} for the board: {{secret}}."},
        "sent": arriving,
        "requests": len(arriving),
        "requests_min": len(arriving),
        **more,
    }
    return Scenario(name=name, turns=(*(call_tools(*step) for step in steps), finish()), answers=answers, **fields)
