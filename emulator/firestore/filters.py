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


def iterate_leaves(where: Any) -> Iterable[tuple[str, str, Any]]:
    """Yield every comparison in a filter, as (field path, operator, protobuf value or None)."""
    match where.WhichOneof("filter_type"):
        case "composite_filter" if where.composite_filter.filters:
            for part in where.composite_filter.filters:
                yield from iterate_leaves(part)
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
    """Refuse what production refuses about a filter as a whole; raise INVALID_ARGUMENT."""
    operators = [operator for _, operator, _ in iterate_leaves(where)]
    excluding = operators.count("NOT_IN") + operators.count("NOT_EQUAL") * ("NOT_IN" in operators)
    if excluding > 1:
        raise invalid("Only one 'NOT_IN' or 'NOT_EQUAL' filter is allowed per query.")
    if "NOT_IN" in operators and ({"IN", "ARRAY_CONTAINS_ANY"} & set(operators) or has_or(where)):
        raise invalid("'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' or 'OR'.")
    disjunctions, arrays = measure_shape(where)
    if disjunctions > DISJUNCTIONS:
        raise invalid(f"A query may have at most {DISJUNCTIONS} disjunctions, this one has {disjunctions}.")
    if arrays > 1:
        raise invalid("A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.")


def has_or(where: Any) -> bool:
    if not where.HasField("composite_filter"):
        return False
    composite = where.composite_filter
    return (composite.op == OR and len(composite.filters) > 1) or any(has_or(part) for part in composite.filters)


def measure_shape(where: Any) -> tuple[int, int]:
    """Return the number of disjunctions in normal form, and of the most array filters within one of them."""
    if not where.HasField("composite_filter"):
        _, operator, value = leaf(where)
        many = len(value.array_value.values) if operator in {"IN", "ARRAY_CONTAINS_ANY"} else 1
        return many, int(operator in ARRAYS)
    composite = where.composite_filter
    disjunctions, arrays = zip(*(measure_shape(part) for part in composite.filters), strict=True)
    if composite.op == OR:
        return sum(disjunctions), max(arrays)
    return math.prod(disjunctions), sum(arrays)


def build_predicate(where: Any) -> Predicate:
    """Return the predicate of a checked filter."""
    if not where.HasField("composite_filter"):
        path, operator, value = leaf(where)
        return build_comparison(path, operator, value)
    parts = [build_predicate(part) for part in where.composite_filter.filters]
    match StructuredQuery.CompositeFilter.Operator.Name(where.composite_filter.op):
        case "AND":
            return lambda version: all(part(version) for part in parts)
        case "OR":
            return lambda version: any(part(version) for part in parts)
    raise invalid("A composite filter has no operator.")


def build_comparison(path: str, operator: str, value: Any) -> Predicate:
    """Return the predicate of one comparison. A document without the field never matches."""
    if path != NAME:
        parse(path)
    test = build_unary_test(operator) if value is None else build_binary_test(path, operator, value)

    def matches(version: Version) -> bool:
        value = version.key(path)
        return value is not None and test(value)

    return matches


def build_unary_test(operator: str) -> Callable[[Key], bool]:
    match operator:
        case "IS_NULL":
            return lambda value: value == NULL
        case "IS_NAN":
            return lambda value: value == NAN
        case "IS_NOT_NULL":
            return lambda value: value != NULL
        case "IS_NOT_NAN":
            return lambda value: value not in (NULL, NAN)
    raise invalid("A unary filter has no operator.")


def build_binary_test(path: str, operator: str, value: Any) -> Callable[[Key], bool]:
    operand = key(value)
    if path == NAME:
        check_names(operator, operand)
    if operator in LISTS:
        return build_list_test(operator, operand, LISTS[operator])
    rank = operand[0]
    match operator:
        case "EQUAL":
            return lambda value: value == operand
        case "NOT_EQUAL":
            return lambda value: value not in (NULL, operand)
        case "ARRAY_CONTAINS":
            return lambda value: value[0] == ARRAY and operand in value[1]
        case "LESS_THAN":
            return lambda value: value[0] == rank and value != NAN and value < operand
        case "LESS_THAN_OR_EQUAL":
            return lambda value: value[0] == rank and value != NAN and value <= operand
        case "GREATER_THAN":
            return lambda value: value[0] == rank and value > operand
        case "GREATER_THAN_OR_EQUAL":
            return lambda value: value[0] == rank and value >= operand
    raise invalid("A field filter has no operator.")


def build_list_test(operator: str, operand: Key, most: int) -> Callable[[Key], bool]:
    if operand[0] != ARRAY or not operand[1]:
        raise invalid(f"'{operator}' requires a non-empty ArrayValue.")
    if len(operand[1]) > most:
        raise invalid(f"'{operator}' supports up to {most} comparison values.")
    keys = set(operand[1])
    if operator == "ARRAY_CONTAINS_ANY":
        return lambda value: value[0] == ARRAY and not keys.isdisjoint(value[1])
    if operator == "IN":
        equal = keys - {NULL, NAN}
        return lambda value: value in equal
    if NULL in keys:
        return lambda value: False  # noqa: ARG005 - nothing is known to differ from null
    return lambda value: value != NULL and value not in keys


def check_names(operator: str, operand: Key) -> None:
    names = operand[1] if operator in LISTS and operand[0] == ARRAY else (operand,)
    if any(name[0] != REFERENCE for name in names):
        raise invalid("__key__ filter value must be a Key.")
