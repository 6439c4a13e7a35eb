"""What the protocols' own clients make of generated answers: watched to the end, resumed, and begun again."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from ag_ui.core import Event
from pydantic import TypeAdapter, ValidationError

from ferryman.serving.streams.frame import Frame
from tests.campaigns.streams.clients import ViolationError
from tests.campaigns.streams.cutting import HISTORY, begin, read, resume, stream
from tests.campaigns.streams.judging import Judge
from tests.campaigns.streams.runs import generate_run

JUDGED = ("ag-ui", "vercel")
EVENTS: TypeAdapter[Any] = TypeAdapter(Event)
"""The models of `ag-ui-protocol`."""


@dataclass(slots=True)
class Verdicts:
    """How many streams were judged, of which kind, and the sentences about those that were refused."""

    counts: Counter[str] = field(default_factory=Counter)
    frames: int = 0
    violations: list[str] = field(default_factory=list)


async def judge_run(seed: int, judge: Judge | None, verdicts: Verdicts) -> None:
    """Have one generated answer judged in each protocol; without a `judge`, by the models and the strict clients here."""
    states, random = generate_run(seed), Random(seed)
    for name in ("ferryman", "message", *JUDGED):
        batches = begin(name, states)
        frames = [(frame, number) for number, batch in enumerate(batches) for frame in batch]
        seen = random.randint(0, len(frames))
        first = frames[seen - 1][1] if seen else 0
        later = random.randint(first, len(states) - 1)
        whole = [frame for frame, _ in frames]
        before = whole[:seen]
        resumed = resume(name, states, before, later=later)
        again = [frame for batch in stream(name, states[later:]) for frame in batch]
        try:
            if read(name, resumed) != read(name, whole):
                verdicts.violations.append(f"run {seed}, {name}, resumed after frame {seen}: another final state")
        except ViolationError as error:
            verdicts.violations.append(f"run {seed}, {name}: {error}")
        verdicts.frames += len(whole)
        verdicts.counts[f"{name}, here"] += 2
        if name == "ag-ui":
            _check_models(seed, [*whole, *resumed, *again], verdicts)
        if judge is not None and name in JUDGED:
            cases = {"to the end": [whole], "resumed": [resumed], "begun again": [before, again]}
            await _ask(name, cases, judge, verdicts, seed)


async def _ask(name: str, cases: dict[str, list[list[Frame]]], judge: Judge, verdicts: Verdicts, seed: int) -> None:
    known = None
    for kind, connections in cases.items():
        bodies = ["".join(frame.write() for frame in frames) for frames in connections if frames]
        state, errors = await judge.read(name, bodies, HISTORY)
        verdicts.counts[f"{name}, {kind}"] += 1
        # a connection that breaks off ends no run: the client says so, and comes back
        verdicts.violations += [f"run {seed}, {name}, {kind}: {error}" for error in errors]
        compared = normalize(name, state)
        known = compared if known is None else known
        if compared != known:
            verdicts.violations.append(f"run {seed}, {name}, {kind}: another final state")


def _check_models(seed: int, frames: list[Frame], verdicts: Verdicts) -> None:
    for frame in frames:
        try:
            EVENTS.validate_json(frame.data)
        except ValidationError as error:
            verdicts.violations.append(f"run {seed}, models of AG-UI: {error}")
    verdicts.counts["ag-ui, models"] += len(frames)


def normalize(name: str, state: Any) -> Any:
    """Return the final state of a client with the arguments of calls as what they mean, and without the starts of steps."""
    if name == "vercel":
        message, ending = state
        parts = [part for part in (message or {}).get("parts", ()) if part["type"] != "step-start"]
        for part in parts:
            part.pop("rawInput", None)
        return [{**(message or {}), "parts": parts}, ending]
    messages, ending = state
    for message in messages:
        for call in message.get("toolCalls") or ():
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return [messages, ending]
