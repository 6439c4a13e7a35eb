"""Filters: what a query's where clause means, compiled to one predicate on versions."""

import math
from collections.abc import Callable, Iterable
from typing import Any

from .errors import invalid
from .fields import NAME, parse
from .history import Version
from .limits import DISJUNCTIONS, IN_VALUES, NOT_IN_VALUES
from .values import ARRAY, NAN, NULL, REFERENCE, Key, key
from .wire import StructuredQuery

Predicate = Callable[[Version], bool]

OR = StructuredQuery.CompositeFilter.Operator.Value("OR")
RANGES = {"LESS_THAN", "LESS_THAN_OR_EQUAL", "GREATER_THAN", "GREATER_THAN_OR_EQUAL"}
INEQUALITIES = RANGES | {"NOT_EQUAL", "NOT_IN", "IS_NOT_NULL", "IS_NOT_NAN"}
LISTS = {"IN": IN_VALUES, "ARRAY_CONTAINS_ANY": IN_VALUES, "NOT_IN": NOT_IN_VALUES}
ARRAYS = {"ARRAY_CONTAINS", "ARRAY_CONTAINS_ANY"}


def leaves(where: Any) -> Iterable[tuple[str, str, Any]]:
    """Every comparison in a filter, as (field path, operator, protobuf value or None)."""
    match where.WhichOneof("filter_type"):
        case "composite_filter" if where.composite_filter.filters:
            for part in where.composite_filter.filters:
                yield from leaves(part)
        case "unary_filter" | "field_filter":
            yield leaf(where)
        case _:
            raise invalid("A filter is empty.")


def leaf(where: Any) -> tuple[str, str, Any]:
    if where.HasField("unary_filter"):
        unary = where.unary_filter
        return unary.field.field_path, StructuredQuery.UnaryFilter.Operator.Name(unary.op), None
    plain = where.field_filter
    return plain.field.field_path, StructuredQuery.FieldFilter.Operator.Name(plain.op), plain.value


def check(where: Any) -> None:
    """Refuse what production refuses about a filter as a whole; raises INVALID_ARGUMENT."""
    operators = [operator for _, operator, _ in leaves(where)]
    excluding = operators.count("NOT_IN") + operators.count("NOT_EQUAL") * ("NOT_IN" in operators)
    if excluding > 1:
        raise invalid("Only one 'NOT_IN' or 'NOT_EQUAL' filter is allowed per query.")
    if "NOT_IN" in operators and ({"IN", "ARRAY_CONTAINS_ANY"} & set(operators) or has_or(where)):
        raise invalid("'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' or 'OR'.")
    disjunctions, arrays = shape(where)
    if disjunctions > DISJUNCTIONS:
        raise invalid(f"A query may have at most {DISJUNCTIONS} disjunctions, this one has {disjunctions}.")
    if arrays > 1:
        raise invalid("A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.")


def has_or(where: Any) -> bool:
    if not where.HasField("composite_filter"):
        return False
    composite = where.composite_filter
    return (composite.op == OR and len(composite.filters) > 1) or any(has_or(part) for part in composite.filters)


def shape(where: Any) -> tuple[int, int]:
    """(disjunctions in normal form, most array filters within one of them)."""
    if not where.HasField("composite_filter"):
        _, operator, value = leaf(where)
        many = len(value.array_value.values) if operator in {"IN", "ARRAY_CONTAINS_ANY"} else 1
        return many, int(operator in ARRAYS)
    composite = where.composite_filter
    disjunctions, arrays = zip(*(shape(part) for part in composite.filters), strict=True)
    if composite.op == OR:
        return sum(disjunctions), max(arrays)
    return math.prod(disjunctions), sum(arrays)


def predicate(where: Any) -> Predicate:
    """The predicate of a checked filter."""
    if not where.HasField("composite_filter"):
        path, operator, value = leaf(where)
        return comparison(path, operator, value)
    parts = [predicate(part) for part in where.composite_filter.filters]
    match StructuredQuery.CompositeFilter.Operator.Name(where.composite_filter.op):
        case "AND":
            return lambda version: all(part(version) for part in parts)
        case "OR":
            return lambda version: any(part(version) for part in parts)
    raise invalid("A composite filter has no operator.")


def comparison(path: str, operator: str, value: Any) -> Predicate:
    """One comparison. A document without the field never matches."""
    if path != NAME:
        parse(path)
    test = unary(operator) if value is None else binary(path, operator, value)

    def matches(version: Version) -> bool:
        found = version.key(path)
        return found is not None and test(found)

    return matches


def unary(operator: str) -> Callable[[Key], bool]:
    match operator:
        case "IS_NULL":
            return lambda found: found == NULL
        case "IS_NAN":
            return lambda found: found == NAN
        case "IS_NOT_NULL":
            return lambda found: found != NULL
        case "IS_NOT_NAN":
            return lambda found: found not in (NULL, NAN)
    raise invalid("A unary filter has no operator.")


def binary(path: str, operator: str, value: Any) -> Callable[[Key], bool]:
    wanted = key(value)
    if path == NAME:
        check_names(operator, wanted)
    if operator in LISTS:
        return listed(operator, wanted, LISTS[operator])
    rank = wanted[0]
    match operator:
        case "EQUAL":
            return lambda found: found == wanted
        case "NOT_EQUAL":
            return lambda found: found not in (NULL, wanted)
        case "ARRAY_CONTAINS":
            return lambda found: found[0] == ARRAY and wanted in found[1]
        case "LESS_THAN":
            return lambda found: found[0] == rank and found != NAN and found < wanted
        case "LESS_THAN_OR_EQUAL":
            return lambda found: found[0] == rank and found != NAN and found <= wanted
        case "GREATER_THAN":
            return lambda found: found[0] == rank and found > wanted
        case "GREATER_THAN_OR_EQUAL":
            return lambda found: found[0] == rank and found >= wanted
    raise invalid("A field filter has no operator.")


def listed(operator: str, wanted: Key, most: int) -> Callable[[Key], bool]:
    if wanted[0] != ARRAY or not wanted[1]:
        raise invalid(f"'{operator}' requires a non-empty ArrayValue.")
    if len(wanted[1]) > most:
        raise invalid(f"'{operator}' supports up to {most} comparison values.")
    keys = set(wanted[1])
    if operator == "ARRAY_CONTAINS_ANY":
        return lambda found: found[0] == ARRAY and not keys.isdisjoint(found[1])
    if operator == "IN":
        equal = keys - {NULL, NAN}
        return lambda found: found in equal
    if NULL in keys:
        return lambda found: False  # noqa: ARG005 - nothing is known to differ from null
    return lambda found: found != NULL and found not in keys


def check_names(operator: str, wanted: Key) -> None:
    names = wanted[1] if operator in LISTS and wanted[0] == ARRAY else (wanted,)
    if any(name[0] != REFERENCE for name in names):
        raise invalid("__key__ filter value must be a Key.")
