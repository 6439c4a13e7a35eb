"""The model: documents in a dictionary, and what each step does to them, written as plainly as possible."""

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
class StoredDocument:
    """A document's fields, and the numbers of the steps that created it and changed it last."""

    fields: dict[str, Any]
    created: int
    updated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """A time that the server set in this step."""

    step: int


class ModelRefusedError(Exception):
    """A step is refused with this status."""


class Model:
    """Runs steps on documents in memory, with the results that a Firestore returns."""

    def __init__(self) -> None:
        self._documents: dict[str, StoredDocument] = {}
        self._known: dict[str, list[int]] = {}
        self._step = 0

    async def run(self, step: Any) -> Any:
        self._step += 1
        try:
            match step:
                case str():
                    return self._read(step)
                case Find():
                    return self._find(step)
                case Transact():
                    return self._transact(step)
            return self._commit(step)
        except ModelRefusedError as error:
            return str(error)

    def _transact(self, step: Transact) -> Any:
        results: list[Any] = []
        try:
            for read in step.reads:
                results += [self._read(read) if isinstance(read, str) else self._find(read)]
            if step.end == "rollback":
                return [*results, "rolled back"]
            if step.read_only and step.writes:
                raise ModelRefusedError(REFUSED)
            results.append(self._commit(step.writes))
        except ModelRefusedError as error:
            return [*results, str(error)]
        return [*results, REFUSED] if step.end == "twice" else results

    def _commit(self, writes: Sequence[Write]) -> Any:
        before, results = dict(self._documents), []
        try:
            for write in writes:
                results += [self._write(write)]
        except ModelRefusedError:
            self._documents = before
            raise
        for write, (at, _) in zip(writes, results, strict=True):
            if at is not None:
                self._known.setdefault(write.document, []).append(at)
        return results

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
                new = transform(get(fields, path), kind, operand, self._step)
                put(fields, path, new)
                results.append(None if isinstance(operand, list) else to_comparable(new))
        if stored is not None and repr(rank(fields)) == repr(rank(stored.fields)):
            return stored.updated, results
        created = self._step if stored is None else stored.created
        self._documents[write.document] = StoredDocument(fields=fields, created=created, updated=self._step)
        return self._step, results

    def _check_condition(self, write: Write, stored: StoredDocument | None) -> None:
        match write.condition:
            case "exists" if stored is None:
                raise ModelRefusedError("NOT_FOUND")
            case "missing" if stored is not None:
                raise ModelRefusedError("ALREADY_EXISTS")
            case "stale" | "current" if stored is None or write.condition == "stale":
                raise ModelRefusedError("FAILED_PRECONDITION")

    def _read(self, name: str) -> Any:
        stored = self._documents.get(name)
        if stored is None:
            return None
        return name, to_comparable(stored.fields), [stored.created, stored.updated]

    def _find(self, find: Find) -> Any:
        orders, filters = list_orders(find), check_filters(find)
        names = [
            name
            for name, stored in self._documents.items()
            if name.split("/")[-2] == "c"
            and (find.group or name.count("/") == 1)
            and all(matches(get(stored.fields, path), operator, operand) for path, operator, operand in filters)
            and all(get(stored.fields, path) is not MISSING for path, _ in orders)
        ]
        names.sort(key=lambda name: name.split("/"), reverse=orders[-1][1] if orders else False)
        for path, descending in reversed(orders):
            names.sort(key=lambda name: rank(get(self._documents[name].fields, path)), reverse=descending)
        if find.orders:
            first, descending = find.orders[0]
            names = [name for name in names if is_within(find, rank(get(self._documents[name].fields, first)), descending)]
        names = names[find.offset :]
        names = names[: find.limit] if find.limit else names
        if find.total is None:
            return [self._read(name) for name in names]
        if not find.total:
            return len(names)
        return sum_values([get(self._documents[name].fields, find.total) for name in names])


def list_orders(find: Find) -> list[tuple[str, bool]]:
    descending = find.orders[-1][1] if find.orders else False
    ordered = {path for path, _ in find.orders}
    unequal = {"NOT_EQUAL", "NOT_IN", "IS_NOT_NULL", "IS_NOT_NAN"}
    implied = {path for path, operator, _ in find.filters if operator in unequal or "THAN" in operator}
    implied |= {find.total} if find.total else set()
    return [*find.orders, *((path, descending) for path in sorted(implied - ordered))]


def is_within(find: Find, place: Any, descending: bool) -> bool:
    if find.start is not None:
        edge, before = rank(find.start[0]), find.start[1]
        if (place > edge if descending else place < edge) or (place == edge and not before):
            return False
    if find.end is not None:
        edge, before = rank(find.end[0]), find.end[1]
        if (place < edge if descending else place > edge) or (place == edge and before):
            return False
    return True


def check_filters(find: Find) -> Any:
    for _, operator, operand in find.filters:
        if operator == "IN" and not 1 <= len(operand) <= 30:
            raise ModelRefusedError(REFUSED)
    return find.filters


NULL, NAN = (0,), (2, 0)


def rank(value: Any) -> tuple[Any, ...]:
    """Return the sort key that Firestore documents: null, booleans, NaN, numbers, text, bytes, arrays, maps."""
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
    value_rank = rank(value)
    unary: dict[str, bool] = {
        "IS_NULL": value_rank == NULL,
        "IS_NAN": value_rank == NAN,
        "IS_NOT_NULL": value_rank != NULL,
        "IS_NOT_NAN": value_rank not in (NULL, NAN),
    }
    if operator in unary:
        return unary[operator]
    if operator in {"IN", "NOT_IN", "ARRAY_CONTAINS_ANY"}:
        ranks = [rank(item) for item in operand]
        if operator == "ARRAY_CONTAINS_ANY":
            return value_rank[0] == 9 and any(entry in ranks for entry in value_rank[1])
        return value_rank in ranks if operator == "IN" else value_rank != NULL and value_rank not in ranks
    operand_rank = rank(operand)
    comparable = value_rank[0] == operand_rank[0] and value_rank != NAN
    compare: dict[str, Callable[[], bool]] = {
        "EQUAL": lambda: value_rank == operand_rank,
        "NOT_EQUAL": lambda: value_rank not in (NULL, operand_rank),
        "ARRAY_CONTAINS": lambda: value_rank[0] == 9 and operand_rank in value_rank[1],
        "LESS_THAN": lambda: comparable and value_rank < operand_rank,
        "LESS_THAN_OR_EQUAL": lambda: comparable and value_rank <= operand_rank,
        "GREATER_THAN": lambda: comparable and value_rank > operand_rank,
        "GREATER_THAN_OR_EQUAL": lambda: comparable and value_rank >= operand_rank,
    }
    return compare[operator]()


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def sum_values(values: Sequence[Any]) -> Any:
    summed = sum(value for value in values if is_number(value))
    return to_comparable(summed if isinstance(summed, float) or -INT64 <= summed < INT64 else float(summed))


def transform(value: Any, kind: str, operand: Any, step: int) -> Any:
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
            return [item for item in present if rank(item) not in [rank(removed) for removed in operand]]
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


def to_comparable(value: Any) -> Any:
    """Return the value as a `FirestoreRunner` returns it."""
    if isinstance(value, Now):
        return "now"
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, list):
        return [to_comparable(item) for item in value]
    if isinstance(value, dict):
        return {key: to_comparable(value[key]) for key in sorted(value)}
    return value
