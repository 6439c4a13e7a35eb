"""Nearest: the documents whose vectors lie closest to a given one."""

import math
from collections.abc import Sequence
from typing import Any

from .errors import invalid
from .fields import parse, put
from .history import Version
from .values import VECTOR, Key, key
from .wire import Document, StructuredQuery, Value

Measured = tuple[Document, float]


def find_nearest(search: Any, versions: Sequence[Version]) -> list[Document]:
    """Return the documents in the order of a FindNearest, within its limit and threshold."""
    vector = key(search.query_vector)
    if vector[0] != VECTOR:
        raise invalid("FindNearest requires a vector to compare with.")
    measure = StructuredQuery.FindNearest.DistanceMeasure.Name(search.distance_measure)
    # A dot product grows with likeness, the other measures shrink.
    sign = -1 if measure == "DOT_PRODUCT" else 1
    measured: list[Measured] = []
    for version in versions:
        stored = version.key(search.vector_field.field_path)
        if stored is None or stored[:2] != vector[:2] or version.document is None:
            continue
        distance = measure_distance(measure, list_numbers(stored), list_numbers(vector))
        if not search.HasField("distance_threshold") or sign * distance <= sign * search.distance_threshold.value:
            measured.append((version.document, distance))
    measured.sort(key=lambda pair: sign * pair[1])
    return [label_distance(search.distance_result_field, *pair) for pair in measured[: search.limit.value]]


def list_numbers(vector: Key) -> list[float]:
    return [float(component[2]) for component in vector[2]]


def measure_distance(measure: str, left_vector: list[float], right_vector: list[float]) -> float:
    dot = sum(a * b for a, b in zip(left_vector, right_vector, strict=True))
    match measure:
        case "EUCLIDEAN":
            return math.dist(left_vector, right_vector)
        case "COSINE":
            lengths = math.hypot(*left_vector) * math.hypot(*right_vector)
            return 1 - dot / lengths if lengths else math.nan
        case "DOT_PRODUCT":
            return dot
    raise invalid("FindNearest requires a distance measure.")


def label_distance(field: str, document: Document, distance: float) -> Document:
    """Return the document with its distance in a field, when one is asked for."""
    if not field:
        return document
    labelled = Document()
    labelled.CopyFrom(document)
    put(labelled.fields, parse(field), Value(double_value=distance))
    return labelled
