"""Aggregates: count, sum and average over what a query found."""

import math
from collections.abc import Sequence
from typing import Any

from .errors import invalid
from .history import Version
from .limits import AGGREGATIONS
from .transforms import INT64
from .values import NUMBER
from .wire import Value


def check(aggregations: Sequence[Any]) -> None:
    if not aggregations:
        raise invalid("Aggregations can not be empty.")
    if len(aggregations) > AGGREGATIONS:
        raise invalid(f"The maximum number of aggregations allowed in an aggregation query is {AGGREGATIONS}.")
    aliases = [aggregation.alias for aggregation in aggregations if aggregation.alias]
    if len(set(aliases)) < len(aliases):
        raise invalid("Aggregation aliases contain duplicate aliases.")


def find_field(aggregation: Any) -> str | None:
    """Return the field path an aggregation reads; None for a count."""
    match aggregation.WhichOneof("operator"):
        case "count":
            return None
        case "sum":
            return str(aggregation.sum.field.field_path)
        case "avg":
            return str(aggregation.avg.field.field_path)
    raise invalid("An aggregation has no operator.")


def aggregate(aggregations: Sequence[Any], versions: Sequence[Version]) -> dict[str, Value]:
    """Return each aggregation's value by its alias, "field_1" and so on where it has none."""
    return {
        aggregation.alias or f"field_{number}": compute_aggregation(aggregation, versions)
        for number, aggregation in enumerate(aggregations, start=1)
    }


def compute_aggregation(aggregation: Any, versions: Sequence[Version]) -> Value:
    path = find_field(aggregation)
    if path is None:
        limit = aggregation.count.up_to.value if aggregation.count.HasField("up_to") else len(versions)
        return Value(integer_value=min(limit, len(versions)))
    numbers = list_numbers(path, versions)
    if aggregation.WhichOneof("operator") == "sum":
        total = sum(numbers)
        exact = isinstance(total, int) and -INT64 <= total < INT64
        return Value(integer_value=total) if exact else Value(double_value=total)
    return Value(double_value=sum(numbers) / len(numbers)) if numbers else Value(null_value=0)


def list_numbers(path: str, versions: Sequence[Version]) -> list[int | float]:
    """Return the numbers a field holds, NaN included; other values are left out."""
    keys = [key for version in versions if (key := version.key(path)) is not None and key[0] == NUMBER]
    return [key[2] if key[1] else math.nan for key in keys]
