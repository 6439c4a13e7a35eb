"""The table of functions: what is deployed, as `infra/functions.json` says it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from emulator.reading import InvalidRequestError, read_member, read_object, read_strings


@dataclass(frozen=True, slots=True, kw_only=True)
class FirestoreTrigger:
    """A change of documents that calls a function: the event's type and the pattern of paths."""

    event: str
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionRow:
    """One function: `identity` and `callers` are account names without the project.

    `environment` are the variables that it may be given: names, or beginnings in capitals that end with `_*`.
    With documents it may do what `firestore` says: `all`, `read`, or `-` for nothing. It may access `secrets`, and put tasks
    into the queues it `enqueues`, which call as those it `acts_as`. It administers the objects in `buckets`, whose names are
    without the project, and signs URLs of them where it `signs`.
    """

    name: str
    identity: str
    callers: tuple[str, ...]
    timeout_s: int
    trigger: FirestoreTrigger | None
    firestore: str
    secrets: tuple[str, ...]
    enqueues: tuple[str, ...]
    acts_as: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    signs: bool = False


NOTHING = "-"
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*(_\*)?")


def account(name: str, project: str) -> str:
    """Return the e-mail address of a service account."""
    return f"{name}@{project}.iam.gserviceaccount.com"


def name_bucket(name: str, project: str) -> str:
    """Return the name of a bucket of this project, which nobody else in the world has."""
    return f"{project}-{name}"


def read_table(path: Path) -> dict[str, FunctionRow]:
    """Return the rows by name; raise InvalidRequestError, which names the file."""
    try:
        source = read_object(json.loads(path.read_text()), "the table")
        environment = read_strings(source.get("environment", []), "the table.environment")
        if strange := [entry for entry in environment if not VARIABLE.fullmatch(entry)]:
            raise InvalidRequestError(
                f"the table.environment must name variables, or how some begin as in STORE_*, not {strange[0]!r}"
            )
        items = read_member(source, "functions", list, "the table")
        rows = [_row(item, f"functions[{n}]", environment) for n, item in enumerate(items)]
    except (OSError, ValueError) as error:
        raise InvalidRequestError(f"{path} is not a table of functions: {error}") from error
    return {row.name: row for row in rows}


def _row(value: object, where: str, environment: tuple[str, ...]) -> FunctionRow:
    source = read_object(value, where)
    name = read_member(source, "name", str, where)
    if not name.isidentifier():
        raise InvalidRequestError(f"{where}.name must be an identifier, not {name!r}")
    callers = read_strings(source.get("callers", []), f"{where}.callers")
    trigger = _trigger(read_member(source, "trigger", dict, where, {}), f"{where}.trigger")
    if trigger and not callers:
        raise InvalidRequestError(f"{where}.callers must name the account that calls on a trigger")
    return FunctionRow(
        name=name,
        identity=read_member(source, "identity", str, where),
        callers=callers,
        timeout_s=read_member(source, "timeout_s", int, where, 60),
        trigger=trigger,
        firestore=_firestore(read_member(source, "firestore", str, where, NOTHING), f"{where}.firestore"),
        secrets=read_strings(source.get("secrets", []), f"{where}.secrets"),
        enqueues=read_strings(source.get("enqueues", []), f"{where}.enqueues"),
        acts_as=read_strings(source.get("acts_as", []), f"{where}.acts_as"),
        environment=environment,
        buckets=read_strings(source.get("buckets", []), f"{where}.buckets"),
        signs=read_member(source, "signs", bool, where, False),
    )


def _firestore(use: str, where: str) -> str:
    if use not in ("all", "read", NOTHING):
        raise InvalidRequestError(f"{where} must be all, read or {NOTHING}, not {use!r}")
    return use


def _trigger(source: dict[str, object], where: str) -> FirestoreTrigger | None:
    kind = read_member(source, "type", str, where, "http")
    if kind not in ("http", "firestore"):
        raise InvalidRequestError(f"{where}.type must be http or firestore, not {kind!r}")
    if kind == "http":
        return None
    return FirestoreTrigger(
        event=read_member(source, "event", str, where), document=read_member(source, "document", str, where)
    )
