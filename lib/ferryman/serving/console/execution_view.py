"""The turns and calls of an execution as its page shows them: a window of calls, with their turns and receipts.

Everything large stays where it is: arguments and results are pages of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from ferryman.serving.console.api_client import ApiClient, ask_together

PAGE = 100
"""How many items a request asks for: as many as the API answers at most."""

RECEIPT_PAGES_MAX = 10
"""How many pages of receipts are read for a window: more than one of its turns can have."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTurn:
    """A turn with its calls in the window; `receipts` are the numbers of those that say that a call has settled, by `seq`."""

    turn: Json
    calls: tuple[Json, ...]
    receipts: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWindow:
    """The calls from `first` on, up to `end`, by turn; `next` is the first one after them, None where there is none yet."""

    first: int
    end: int
    turns: tuple[ShownTurn, ...]
    next: int | None

    @property
    def calls(self) -> list[Json]:
        """All calls of the window."""
        return [call for part in self.turns for call in part.calls]

    def find_last(self) -> Json | None:
        """Return the last turn whose calls are here, None where there is none."""
        with_calls = [part.turn for part in self.turns if part.calls] or [part.turn for part in self.turns]
        return with_calls[-1] if with_calls else None


async def read_window(api: ApiClient, execution: str, *, first: int, end: int) -> CallWindow:
    """Return the calls numbered from `first` up to `end`, with their turns and the receipts of those that have settled."""
    calls = await _read_calls(api, execution, first, end)
    until = calls[-1]["iteration"] if calls and calls[-1]["seq"] >= end else 0
    turns = await _read_turns(api, execution, calls[0]["iteration"] if first and calls else 1, until)
    begin = next((turn["receipt"] for turn in turns if turn["calls"]), None)
    settled = {call["seq"] for call in calls if call["result"] is not None}
    receipts = await _read_receipts(api, execution, begin, settled)
    return _build_window(first, end, calls, turns, receipts)


async def read_window_since(api: ApiClient, execution: str, turn: Json, *, first: int, end: int) -> CallWindow:
    """Return the window from the known `turn` on, read with as few requests in sequence as possible."""
    begin = max(first, turn["first_call"])
    if begin >= end:
        return CallWindow(first=first, end=end, turns=(), next=end)
    calls, turns, receipts = await ask_together(
        _read_calls(api, execution, begin, end),
        _read_turns(api, execution, turn["number"], 0),
        _read_receipts(api, execution, turn["receipt"], None),
    )
    return _build_window(first, end, calls, turns, receipts)


def _build_window(
    first: int, end: int, calls: Sequence[Json], turns: Sequence[Json], receipts: Mapping[int, int]
) -> CallWindow:
    following = calls[-1] if calls and calls[-1]["seq"] >= end else None
    here = [call for call in calls if call is not following]
    if following is not None:
        last = here[-1]["iteration"] if here else 0
        turns = [turn for turn in turns if turn["number"] < following["iteration"] or turn["number"] <= last]
    by_turn: dict[int, list[Json]] = {}
    for call in here:
        by_turn.setdefault(call["iteration"], []).append(call)
    parts = tuple(ShownTurn(turn=turn, calls=tuple(by_turn.get(turn["number"], ())), receipts=receipts) for turn in turns)
    return CallWindow(first=first, end=end, turns=parts, next=None if following is None else following["seq"])


async def find_event(api: ApiClient, execution: Json, window: CallWindow) -> int:
    """Return the number of the event after which a stream begins, so that it brings all that is not in `window` yet."""
    last = window.find_last()
    if window.next is not None:
        # its calls have all settled: what goes on is far behind them
        path = f"/v1/executions/{execution['execution_id']}/turns"
        page = await api.get(path, **{"from": max(execution["iterations"], 1)}, details=False, limit=1)
        last = next(iter(page["turns"]), last)
    return int(last["event"]) - 1 if last else 0


async def _read_turns(api: ApiClient, execution: str, begin: int, until: int) -> list[Json]:
    """Return the turns from `begin` on, at least up to `until`; with 0, all of them."""
    turns: list[Json] = []
    while begin:
        # few have no call or several: what is read in vain costs a request as much as what is
        limit = PAGE if not until else min(PAGE, max(until - begin + 1, 1))
        page = await api.get(f"/v1/executions/{execution}/turns", **{"from": begin}, details=False, limit=limit)
        turns += page["turns"]
        is_whole = page["next"] is None or (until and turns[-1]["number"] >= until)
        begin = 0 if is_whole else turns[-1]["number"] + 1
    return turns


async def _read_calls(api: ApiClient, execution: str, first: int, end: int) -> list[Json]:
    """Return the calls from `first` to `end`, this one too: it tells whether there are more."""
    calls: list[Json] = []
    while first <= end:
        limit = min(PAGE, end - first + 1)
        page = await api.get(f"/v1/executions/{execution}/calls", **{"from": first}, details=False, limit=limit)
        calls += page["calls"]
        if page["next"] is None:
            break
        first = calls[-1]["seq"] + 1
    return calls


async def _read_receipts(api: ApiClient, execution: str, begin: int | None, settled: Set[int] | None) -> dict[int, int]:
    """Return the numbers of the receipts from `begin` on that say that a call has settled, by its `seq`.

    They are read until all those of `settled` are here; without it, to the end of the chain.
    """
    numbers: dict[int, int] = {}
    cursor = None
    for _ in range(0 if begin is None or settled == set() else RECEIPT_PAGES_MAX):
        page = await api.get(f"/v1/executions/{execution}/receipts", **{"from": begin}, limit=PAGE, cursor=cursor)
        numbers |= {entry["seq"]: entry["number"] for entry in page["entries"] if entry["kind"] == "settled"}
        cursor = page["next"]
        if cursor is None or (settled is not None and settled <= set(numbers)):
            break
    return numbers


async def read_call(api: ApiClient, execution: str, seq: str) -> tuple[Json, list[Json], Mapping[str, str]]:
    """Return a call in full, the receipts about it, and the public keys that verify them."""
    call = await api.get(f"/v1/executions/{execution}/calls/{seq}")
    page = await api.get(f"/v1/executions/{execution}/turns", **{"from": call["iteration"]}, details=False, limit=1)
    about: list[Json] = []
    keys: Mapping[str, str] = {}
    number = page["turns"][0]["receipt"] if page["turns"] else None
    cursor = None
    for _ in range(RECEIPT_PAGES_MAX if number is not None else 0):
        chain = await api.get(f"/v1/executions/{execution}/receipts", **{"from": number}, limit=PAGE, cursor=cursor)
        keys, cursor = chain["keys"], chain["next"]
        about += [entry for entry in chain["entries"] if entry.get("seq") == call["seq"]]
        if cursor is None or any(entry["kind"] == "settled" for entry in about):
            break
    return call, about, keys
