"""Continuations: what goes on of a call at its host, kept sealed on its ticket: long work, or what is asked of a person.

It is sealed to the execution and the call's number, so that no other call, execution or server goes on with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

BYTES_MAX = 200_000
"""How long a continuation may be, as JSON: a ticket's document has its arguments and its result besides."""
STATE_CHARACTERS_MAX = 65_536
"""How long a state may be that an MCP server has sent to get it back."""
WORK_ID_CHARACTERS_MAX = 1_024
"""How long the id of an MCP server's work may be."""
FAILURES_MAX = 5
"""How often in a row asking about work may fail before it is given up."""
ROUNDS_MAX = 8
"""How often the host of one call may ask a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerQuestion:
    """One thing that an MCP server asks a person, under the name that it gave.

    `mode` is form, with the fields of `schema`, or url, for a page at `url` that the person opens. All of it is a stranger's.
    """

    key: str
    mode: str
    message: str = field(repr=False)
    schema: Mapping[str, Any] | None = field(default=None, repr=False)
    url: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """What goes on of one call, at the MCP server with this id and fingerprint.

    `work` is the id of the task that the server works on, "" where it has answered with `questions` alone; `state` is what it
    gets back with the answers. `approval` and `digest` are of the question as a person was asked it. `answered` are the names
    of questions about the work that were answered. `until` is when the work is given up. `failures` counts the attempts in a
    row to ask about it that failed, `rounds` how often a person was asked.
    """

    server: str
    fingerprint: str
    work: str = field(default="", repr=False)
    state: str | None = field(default=None, repr=False)
    questions: tuple[ServerQuestion, ...] = ()
    approval: str = ""
    digest: str = ""
    answered: tuple[str, ...] = ()
    until: datetime | None = None
    failures: int = 0
    rounds: int = 0


def encode_continuation(continuation: Continuation) -> bytes:
    """Return it as bytes, to be sealed. Raise ValueError where it is longer than `BYTES_MAX`, or a part over its limit."""
    if len(continuation.state or "") > STATE_CHARACTERS_MAX or len(continuation.work) > WORK_ID_CHARACTERS_MAX:
        raise ValueError("the state or the id of the work is too long")
    fields = {**asdict(continuation), "until": None if continuation.until is None else continuation.until.isoformat()}
    encoded = json.dumps(fields, separators=(",", ":")).encode()
    if len(encoded) > BYTES_MAX:
        raise ValueError(f"what is to be kept of the call takes more than {BYTES_MAX} bytes")
    return encoded


def decode_continuation(encoded: bytes) -> Continuation:
    """Return what `encode_continuation` wrote. Raise ValueError for anything else."""
    try:
        fields = json.loads(encoded)
        until = fields["until"]
        return Continuation(
            **{
                **fields,
                "questions": tuple(ServerQuestion(**question) for question in fields["questions"]),
                "answered": tuple(fields["answered"]),
                "until": None if until is None else datetime.fromisoformat(until),
            }
        )
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"not a continuation: {type(error).__name__}") from None
