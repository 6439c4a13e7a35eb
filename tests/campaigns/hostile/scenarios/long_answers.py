"""Long answers: what a hostile host puts behind what is shown, where it becomes a file: its key, frames, bombs."""

from __future__ import annotations

from tests.campaigns.hostile.scenario import (
    BEARER,
    PUBLIC,
    Answer,
    Scenario,
    call,
    call_api,
    call_tools,
    declare_probe,
    finish,
)
from tests.campaigns.hostile.scenarios.pages import FRAMES
from tests.repeated import compress_repeated

READ_ON = "is kept in a file. To read on: file_read"
TEXT = {"content-type": "text/plain"}
SEARCHES = (
    call("content_search", query="[A-Za-z0-9]{33}", is_regex=True, pattern="executions/**"),
    call("content_search", query="marked", pattern="executions/**"),
)


def _get(what: str, answer: Answer, *expected: str, **more: object) -> Scenario:
    """Return a scenario whose model gets a long answer with a key, and searches what was kept of it."""
    return Scenario(
        name=f"long answer: {what}",
        tools=("http_get", "api_call", "file_read", "content_search"),
        turns=(call_tools(call_api(f"https://{BEARER}/{{token}}")), call_tools(*SEARCHES), finish()),
        answers={"": answer},
        requests=1,
        requests_min=1,
        task={"max_credits": CREDITS},
        expected=expected or (READ_ON,),
        **more,  # type: ignore[arg-type] # fields of a scenario
    )


def _put(what: str, place: int, length: int = 140_000) -> Answer:
    """Return a text of lines with `what` at a place."""
    lines = "a line of a log, marked\n" * (length // 24)
    return Answer(headers=TEXT, body=lines[:place] + what + lines[place:])


SPELLINGS = ("base64", "hex", "reversed", "hidden", "percent")
EDGES = {"the end of what is shown": 49_985, "the end of the first window": 65_520, "the end of the second": 115_525}
BEHIND = 90_000
CREDITS = 2_000
"""A prompt with what is shown of long answers costs that much more."""

BOMB = compress_repeated(b"{marker} a bomb\n" * 50_000, 60)

SCENARIOS = (
    *(_get(f"the key at {where}", _put("{key}", place)) for where, place in EDGES.items()),
    *(_get(f"the key behind what is shown, {spelling}", _put(f"{{key|{spelling}}}", BEHIND)) for spelling in SPELLINGS),
    _get("the key across two windows, in hex", _put("{key|hex}", EDGES["the end of the first window"] - 16)),
    *(_get(f"{what} behind what is shown", _put(f"\n{text} marked\n", BEHIND)) for what, text in list(FRAMES.items())[:3]),
    _get("more than there is room for", _put("{key}", BEHIND), "the rest is not kept", room=1_000),
    _get("a bomb", Answer(headers={**TEXT, "content-encoding": "gzip"}, body=BOMB), "The first 524,288 bytes are kept"),
    Scenario(
        name="long answer: the key in what a declared tool reads",
        tools=("file_read", "content_search"),
        declared=(declare_probe(),),
        turns=(call_tools(call("probe", id="7")), call_tools(*SEARCHES), finish()),
        answers={"/7": _put("{key|base64}", BEHIND)},
        sent=(r"GET /{token}/items/7 ?",),
        requests_min=1,
        task={"max_credits": CREDITS},
        expected=(READ_ON,),
    ),
    Scenario(
        name="long answer: three of one turn, each with the key",
        tools=("http_get", "api_call", "file_read", "content_search"),
        turns=(
            call_tools(*(call_api(f"https://{BEARER}/{{token}}/{number}") for number in range(3))),
            call_tools(*SEARCHES, call("http_get", url=f"https://{PUBLIC}/{{token}}/3")),
            finish(),
        ),
        answers={"": _put("{key|base64}", BEHIND)},
        requests=4,
        requests_min=4,
        task={"max_credits": CREDITS},
        expected=(READ_ON,),
    ),
)
