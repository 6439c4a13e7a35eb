"""Hooks of schemathesis: each request is of one of several owners, and most name something that this owner really has."""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

import schemathesis

POOLS = json.loads(os.environ["FERRYMAN_POOLS"])
REAL_OF_FIVE = 4
"""So many of five requests name what is there."""

_turns = itertools.count()


@schemathesis.auth(refresh_interval=None)
class Owners:
    """The owners in turn."""

    def get(self, case: Any, context: Any) -> int:
        return next(_turns)

    def set(self, case: Any, turn: int, context: Any) -> None:
        """Put an owner's key into the header of `case`, and mostly names of what the owner has into its path."""
        # what one request of a sequence has made is asked for by the next
        is_linked = case.meta is not None and case.meta.phase.name == "stateful"
        pool = POOLS[0 if is_linked else turn % len(POOLS)]
        case.headers = {**(case.headers or {}), "Authorization": pool["authorization"]}
        if case.meta is not None and case.meta.generation.mode == "positive" and case.headers.get("idempotency-key") == "":
            # it finds no text for the pattern of this header, and sends an empty one with what is to be accepted
            del case.headers["idempotency-key"]
        if is_linked or turn % 5 >= REAL_OF_FIVE:
            return
        for name in case.path_parameters or {}:
            names = pool.get(_find_kind(case, name))
            if names:
                case.path_parameters[name] = names[turn // len(POOLS) % len(names)]


def _find_kind(case: Any, name: str) -> str:
    """Return what the parameter `name` of the path of `case` names: what is deleted must not be missing elsewhere."""
    path = case.operation.path
    if name == "task_id" and case.method == "DELETE" and path.endswith("{task_id}"):
        return "mortal"
    if name == "name":
        return "cluster" if "/cluster/" in path else "credential"
    return name
