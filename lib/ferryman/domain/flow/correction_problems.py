"""What keeps the correction of a flow signature from being stored."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ferryman.domain.json_tree import is_unicode
from ferryman.domain.problem import Problem
from ferryman.domain.tools.correction import FlowCorrection

ROLES_MAX = 100
"""The arguments that one correction gives a role."""

NAME_CHARACTERS_MAX = 200


def find_correction_problems(where: str, correction: FlowCorrection, known: Collection[str] | None) -> Iterator[Problem]:
    """Yield the problems of the field `where`; `known` are the tool's arguments, None where nobody knows them yet."""
    if len(correction.roles) > ROLES_MAX:
        yield Problem(f"{where}.roles", f"of at most {ROLES_MAX} arguments, got {len(correction.roles)}")
        return
    for name in correction.roles:
        if not 1 <= len(name) <= NAME_CHARACTERS_MAX or not is_unicode(name):
            yield Problem(f"{where}.roles", f"the name of an argument must be 1 to {NAME_CHARACTERS_MAX} characters of Unicode")
        elif known is not None and name not in known:
            listed = ", ".join(known) or "it has none"
            yield Problem(f"{where}.roles.{name}", f"is no argument of the tool; its arguments: {listed}")
