"""An execution's page as it goes on: of its events, only the turns that they change are read and sent again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from ferryman.serving.console.api_client import ask_together
from ferryman.serving.console.execution_view import Json, ShownTurn, read_window, read_window_since
from ferryman.serving.console.live import RelayedEvent, relay_events
from ferryman.serving.console.parts import read_trees
from ferryman.serving.console.rendering import render_apart, render_page
from ferryman.serving.console.routing import ConsolePage, ConsoleRequest
from ferryman.serving.console.timeline import draw_timeline, measure_seconds

BARS_MAX = 100
"""How many calls a live timeline shows: the latest of the page's."""


async def follow(request: ConsoleRequest, *, here: str, first: int, end: int, values: Mapping[str, Any]) -> Response:
    """Return the stream of the parts of the page at `here` that lists the calls from `first` up to `end`."""
    name = request.params["execution"]
    at_page = replace(request, path=here)
    known: dict[int, ShownTurn] = {}

    async def render(events: Sequence[RelayedEvent]) -> Mapping[str, Any]:
        since = _find_turn(events, known)
        reading = (
            read_window(request.api, name, first=first, end=end)
            if since is None
            else read_window_since(request.api, name, since, first=first, end=end)
        )
        execution, window = await ask_together(request.api.get(f"/v1/executions/{name}"), reading)
        known.update((part.turn["number"], part) for part in window.turns)
        calls = [call for number in sorted(known) for call in known[number].calls][-BARS_MAX:]
        page = ConsolePage(
            template="execution_live.html",
            title="",
            values={
                **values,
                "execution": execution,
                "window": window,
                "turns": window.turns,
                "seconds": measure_seconds(execution["started_at"], execution["completed_at"]),
                "timeline": draw_timeline(calls, end=execution["completed_at"] or request.now.isoformat()),
            },
        )
        trees = await render_apart(request, lambda: read_trees(render_page(page, at_page)))
        return {
            "parts": {tree[1]["id"]: tree for tree in trees if tree[1].get("class") != "turn"},
            "turns": [tree for tree in trees if tree[1].get("class") == "turn"],
        }

    return await relay_events(request, f"/v1/executions/{name}/events", render)


def _find_turn(events: Sequence[RelayedEvent], known: Mapping[int, ShownTurn]) -> Json | None:
    """Return the first turn that may have changed by these events, None where all are to be read.

    With a turn, the calls of the one before are signed.
    """
    if not known:
        return None
    turn_of = {call["seq"]: number for number, part in known.items() for call in part.calls}
    last = max(known)
    facts = [event.data for event in events if isinstance(event.data, dict)]
    changed = [fact.get("iteration") or turn_of.get(fact.get("seq", -1), last) for fact in facts]
    return known[max((number for number in known if number < min([last, *changed])), default=min(known))].turn
