"""The table of functions: what is deployed, as `infra/functions.json` says it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from emulator.reading import Invalid, member, obj, strings


@dataclass(frozen=True, slots=True, kw_only=True)
class FirestoreTrigger:
    """A change of documents that calls a function: the event's type and the pattern of paths."""

    event: str
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One function: `identity` and `callers` are account names without the project.

    It may use `firestore`, access `secrets`, and put tasks into the queues it `enqueues`, which call as those it `acts_as`.
    """

    name: str
    identity: str
    callers: tuple[str, ...]
    timeout_s: int
    trigger: FirestoreTrigger | None
    firestore: bool
    secrets: tuple[str, ...]
    enqueues: tuple[str, ...]
    acts_as: tuple[str, ...] = ()


def account(name: str, project: str) -> str:
    """The e-mail address of a service account."""
    return f"{name}@{project}.iam.gserviceaccount.com"


def read_table(path: Path) -> dict[str, Row]:
    """The rows by name; raises Invalid, which names the file."""
    try:
        source = obj(json.loads(path.read_text()), "the table")
        rows = [_row(item, f"functions[{n}]") for n, item in enumerate(member(source, "functions", list, "the table"))]
    except (OSError, ValueError) as error:
        raise Invalid(f"{path} is not a table of functions: {error}") from error
    return {row.name: row for row in rows}


def _row(value: object, where: str) -> Row:
    source = obj(value, where)
    name = member(source, "name", str, where)
    if not name.isidentifier():
        raise Invalid(f"{where}.name must be an identifier, not {name!r}")
    callers = strings(source.get("callers", []), f"{where}.callers")
    trigger = _trigger(member(source, "trigger", dict, where, {}), f"{where}.trigger")
    if trigger and not callers:
        raise Invalid(f"{where}.callers must name the account that calls on a trigger")
    return Row(
        name=name,
        identity=member(source, "identity", str, where),
        callers=callers,
        timeout_s=member(source, "timeout_s", int, where, 60),
        trigger=trigger,
        firestore=member(source, "firestore", bool, where, False),
        secrets=strings(source.get("secrets", []), f"{where}.secrets"),
        enqueues=strings(source.get("enqueues", []), f"{where}.enqueues"),
        acts_as=strings(source.get("acts_as", []), f"{where}.acts_as"),
    )


def _trigger(source: dict[str, object], where: str) -> FirestoreTrigger | None:
    kind = member(source, "type", str, where, "http")
    if kind not in ("http", "firestore"):
        raise Invalid(f"{where}.type must be http or firestore, not {kind!r}")
    if kind == "http":
        return None
    return FirestoreTrigger(event=member(source, "event", str, where), document=member(source, "document", str, where))
