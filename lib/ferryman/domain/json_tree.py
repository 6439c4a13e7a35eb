"""JSON trees: the one walk over a JSON value and the one map over its leaves; whether it is JSON, and not too deep."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Path = tuple[Any, ...]  # the names and indexes that lead to a value
_SCALARS = frozenset((str, int, float, bool, type(None)))


def walk(value: Any) -> Iterator[tuple[Path, Any]]:
    """Yield `value` and every value in it, each with its path: outer before inner, in order, without recursion."""
    yield (), value
    stack = [(Path(), _iterate(value))]
    while stack:
        path, children = stack[-1]
        for key, child in children:
            yield (*path, key), child
            if isinstance(child, Mapping | list | tuple):
                stack.append(((*path, key), _iterate(child)))
                break
        else:
            stack.pop()


def iterate_leaves(value: Any) -> Iterator[Any]:
    """Yield the leaves of `value` in order, without recursion; unlike `walk`, its cost does not grow with the depth."""
    stack = [iter((value,))]
    while stack:
        for child in stack[-1]:
            # to ask for the type of most leaves costs a tenth of asking whether it is a mapping
            if type(child) not in _SCALARS and isinstance(child, Mapping | list | tuple):
                stack.append(iter(child.values() if isinstance(child, Mapping) else child))
                break
            yield child
        else:
            stack.pop()


def map_leaves(value: Any, transform: Callable[[Any], Any], *, rename: Callable[[Any], Any] | None = None) -> Any:
    """Return `value` with `transform` of every leaf, and with `rename` of every name where it is given; tuples become lists.

    Raise RecursionError for a value that is nested too deep.
    """
    if type(value) in _SCALARS:
        return transform(value)
    if isinstance(value, Mapping):
        return {rename(name) if rename else name: map_leaves(inner, transform, rename=rename) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [map_leaves(inner, transform, rename=rename) for inner in value]
    return transform(value)


def _iterate(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return iter(value.items())
    return enumerate(value) if isinstance(value, list | tuple) else iter(())


def is_too_deep(value: Any, depth: int) -> bool:
    """Say whether `value` has values nested more than `depth` deep."""
    return any(len(path) > depth for path, _ in walk(value))


def is_unicode(text: str) -> bool:
    """Say whether `text` has no lone surrogate: whether it can be written in UTF-8."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def replace_halves(text: str) -> str:
    """Return `text` with halves of characters joined, and replaced where they are alone: no store and no answer has them."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def find_fault(value: Any) -> str | None:
    """Return why `value`, apart from the values in it, is not JSON; None where it is."""
    if isinstance(value, str):
        return None if is_unicode(value) else "must be valid Unicode"
    if isinstance(value, Mapping):
        valid = all(isinstance(name, str) and is_unicode(name) for name in value)
        return None if valid else "has a name that is not text in valid Unicode"
    if isinstance(value, float) and not math.isfinite(value):
        return "is a number that JSON cannot represent"
    if value is None or isinstance(value, bool | int | float | list | tuple):
        return None
    return "has a type that JSON does not have"
