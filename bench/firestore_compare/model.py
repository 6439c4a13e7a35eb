"""The model: documents in a dictionary, and what each step means to them, in the plainest words there are."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench.firestore_compare.steps import REMOVED, Find, Transact, Write

MISSING: Any = object()
INT64 = 2**63
REFUSED = "INVALID_ARGUMENT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A document's fields, and the numbers of the steps that created it and changed it last."""

    fields: dict[str, Any]
    created: int
    updated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """A time that the server set, in this step."""

    step: int


class ModelRefusedError(Exception):
    """A step is refused with this status."""


class Model:
    """Takes steps like a player, and tells the same as a Firestore would."""

    def __init__(self) -> None:
        self._documents: dict[str, Stored] = {}
        self._known: dict[str, list[int]] = {}
        self._step = 0

    async def play(self, step: Any) -> Any:
        self._step += 1
        try:
            match step:
                case str():
                    return self._told(step)
                case Find():
                    return self._find(step)
                case Transact():
                    return self._transact(step)
            return self._commit(step)
        except ModelRefusedError as refused:
            return str(refused)

    def _transact(self, step: Transact) -> Any:
        told: list[Any] = []
        try:
            for read in step.reads:
                told += [self._told(read) if isinstance(read, str) else self._find(read)]
            if step.end == "rollback":
                return [*told, "rolled back"]
            if step.read_only and step.writes:
                raise ModelRefusedError(REFUSED)
            told.append(self._commit(step.writes))
        except ModelRefusedError as refused:
            return [*told, str(refused)]
        return [*told, REFUSED] if step.end == "twice" else told

    def _commit(self, writes: Sequence[Write]) -> Any:
        before, told = dict(self._documents), []
        try:
            for write in writes:
                told += [self._write(write)]
        except ModelRefusedError:
            self._documents = before
            raise
        for write, (at, _) in zip(writes, told, strict=True):
            if at is not None:
                self._known.setdefault(write.document, []).append(at)
        return told

    def _write(self, write: Write) -> Any:
        stored = self._documents.get(write.document)
        check(write)
        self._check_condition(write, stored)
        if write.kind == "delete":
            self._documents.pop(write.document, None)
            return None, []
        fields = {} if stored is None or write.kind == "set" else copy.deepcopy(stored.fields)
        results: list[Any] = []
        if write.kind == "set":
            fields = copy.deepcopy(write.content)
        elif write.kind == "update":
            for path, value in write.content.items():
                remove(fields, path) if value == REMOVED else put(fields, path, copy.deepcopy(value))
        else:
            for path, (kind, operand) in write.content.items():
                new = transformed(get(fields, path), kind, operand, self._step)
                put(fields, path, new)
                results.append(None if isinstance(operand, list) else shown(new))
        if stored is not None and repr(rank(fields)) == repr(rank(stored.fields)):
            return stored.updated, results
        created = self._step if stored is None else stored.created
        self._documents[write.document] = Stored(fields=fields, created=created, updated=self._step)
        return self._step, results

    def _check_condition(self, write: Write, stored: Stored | None) -> None:
        match write.condition:
            case "exists" if stored is None:
                raise ModelRefusedError("NOT_FOUND")
            case "missing" if stored is not None:
                raise ModelRefusedError("ALREADY_EXISTS")
            case "stale" | "current" if stored is None or write.condition == "stale":
                raise ModelRefusedError("FAILED_PRECONDITION")

    def _told(self, name: str) -> Any:
        stored = self._documents.get(name)
        if stored is None:
            return None
        return name, shown(stored.fields), [stored.created, stored.updated]

    def _find(self, find: Find) -> Any:
        orders, filters = orders_of(find), checked(find)
        found = [
            name
            for name, stored in self._documents.items()
            if name.split("/")[-2] == "c"
            and (find.group or name.count("/") == 1)
            and all(matches(get(stored.fields, path), operator, operand) for path, operator, operand in filters)
            and all(get(stored.fields, path) is not MISSING for path, _ in orders)
        ]
        found.sort(key=lambda name: name.split("/"), reverse=orders[-1][1] if orders else False)
        for path, turned in reversed(orders):
            found.sort(key=lambda name: rank(get(self._documents[name].fields, path)), reverse=turned)
        if find.orders:
            first, turned = find.orders[0]
            found = [name for name in found if within(find, rank(get(self._documents[name].fields, first)), turned)]
        found = found[find.offset :]
        found = found[: find.limit] if find.limit else found
        if find.total is None:
            return [self._told(name) for name in found]
        if not find.total:
            return len(found)
        return total([get(self._documents[name].fields, find.total) for name in found])


def orders_of(find: Find) -> list[tuple[str, bool]]:
    turned = find.orders[-1][1] if find.orders else False
    given = {path for path, _ in find.orders}
    unequal = {"NOT_EQUAL", "NOT_IN", "IS_NOT_NULL", "IS_NOT_NAN"}
    implied = {path for path, operator, _ in find.filters if operator in unequal or "THAN" in operator}
    implied |= {find.total} if find.total else set()
    return [*find.orders, *((path, turned) for path in sorted(implied - given))]


def within(find: Find, place: Any, turned: bool) -> bool:
    if find.start is not None:
        wanted, before = rank(find.start[0]), find.start[1]
        if (place > wanted if turned else place < wanted) or (place == wanted and not before):
            return False
    if find.end is not None:
        wanted, before = rank(find.end[0]), find.end[1]
        if (place < wanted if turned else place > wanted) or (place == wanted and before):
            return False
    return True


def checked(find: Find) -> Any:
    for _, operator, operand in find.filters:
        if operator == "IN" and not 1 <= len(operand) <= 30:
            raise ModelRefusedError(REFUSED)
    return find.filters


NULL, NAN = (0,), (2, 0)


def rank(value: Any) -> tuple[Any, ...]:
    """Sorts as Firestore documents it: null, booleans, NaN, numbers, text, bytes, arrays, maps."""
    match value:
        case None:
            return NULL
        case bool():
            return (1, value)
        case int() | float():
            return NAN if math.isnan(value) else (2, 1, value)
        case str():
            return (5, value.encode())
        case bytes():
            return (6, value)
        case Now():
            return (3, value.step)
        case list():
            return (9, [rank(item) for item in value])
    return (11, [(key.encode(), rank(value[key])) for key in sorted(value)])


def matches(value: Any, operator: str, operand: Any) -> bool:
    if value is MISSING:
        return False
    found = rank(value)
    unary: dict[str, bool] = {
        "IS_NULL": found == NULL,
        "IS_NAN": found == NAN,
        "IS_NOT_NULL": found != NULL,
        "IS_NOT_NAN": found not in (NULL, NAN),
    }
    if operator in unary:
        return unary[operator]
    if operator in {"IN", "NOT_IN", "ARRAY_CONTAINS_ANY"}:
        wanted = [rank(item) for item in operand]
        if operator == "ARRAY_CONTAINS_ANY":
            return found[0] == 9 and any(entry in wanted for entry in found[1])
        return found in wanted if operator == "IN" else found != NULL and found not in wanted
    wanted_one = rank(operand)
    comparable = found[0] == wanted_one[0] and found != NAN
    compare: dict[str, Callable[[], bool]] = {
        "EQUAL": lambda: found == wanted_one,
        "NOT_EQUAL": lambda: found not in (NULL, wanted_one),
        "ARRAY_CONTAINS": lambda: found[0] == 9 and wanted_one in found[1],
        "LESS_THAN": lambda: comparable and found < wanted_one,
        "LESS_THAN_OR_EQUAL": lambda: comparable and found <= wanted_one,
        "GREATER_THAN": lambda: comparable and found > wanted_one,
        "GREATER_THAN_OR_EQUAL": lambda: comparable and found >= wanted_one,
    }
    return compare[operator]()


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def total(values: Sequence[Any]) -> Any:
    summed = sum(value for value in values if is_number(value))
    return shown(summed if isinstance(summed, float) or -INT64 <= summed < INT64 else float(summed))


def transformed(value: Any, kind: str, operand: Any, step: int) -> Any:
    present = value if isinstance(value, list) else []
    match kind:
        case "set_to_server_value":
            return Now(step=step)
        case "append_missing_elements":
            new = list(present)
            for entry in operand:
                if rank(entry) not in [rank(known) for known in new]:
                    new.append(entry)
            return new
        case "remove_all_from_array":
            return [item for item in present if rank(item) not in [rank(gone) for gone in operand]]
    if not is_number(value):
        return operand
    if kind == "increment":
        added = value + operand
        return max(-INT64, min(INT64 - 1, added)) if isinstance(added, int) else added
    if NAN in (rank(value), rank(operand)):
        return math.nan
    better = rank(operand) > rank(value) if kind == "maximum" else rank(operand) < rank(value)
    return operand if better else value


def check(write: Write) -> None:
    """Refuse what cannot be stored."""
    if any(len(part) > 1500 or (part.startswith("__") and part.endswith("__")) for part in write.document.split("/")):
        raise ModelRefusedError(REFUSED)
    if write.kind == "transform" and any(item == ("increment", "text") for item in write.content.values()):
        raise ModelRefusedError(REFUSED)
    if write.kind == "set":
        for name, value in write.content.items():
            if not name or name.startswith("__") or too_much(value):
                raise ModelRefusedError(REFUSED)


def too_much(value: Any, depth: int = 1) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, list) for item in value)
    if isinstance(value, dict):
        return depth > 20 or any(too_much(entry, depth + 1) for entry in value.values())
    return isinstance(value, str) and len(value) > 1_000_000


def get(fields: Any, path: str) -> Any:
    for part in path.split("."):
        if not isinstance(fields, dict) or part not in fields:
            return MISSING
        fields = fields[part]
    return fields


def put(fields: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for part in parents:
        if not isinstance(fields.get(part), dict):
            fields[part] = {}
        fields = fields[part]
    fields[last] = value


def remove(fields: Any, path: str) -> None:
    *parents, last = path.split(".")
    for part in parents:
        fields = fields.get(part) if isinstance(fields, dict) else None
    if isinstance(fields, dict):
        fields.pop(last, None)


def shown(value: Any) -> Any:
    """Return the value as a player tells it."""
    if isinstance(value, Now):
        return "now"
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, list):
        return [shown(item) for item in value]
    if isinstance(value, dict):
        return {key: shown(value[key]) for key in sorted(value)}
    return value
