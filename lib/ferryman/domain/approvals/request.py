"""What a person may write in a decision, and in a standing approval."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ferryman.domain.approvals.answers import find_answer_problems
from ferryman.domain.approvals.approval import SENDS_MAX
from ferryman.domain.approvals.decision import REASON_CHARACTERS_MAX, DecisionVerdict
from ferryman.domain.approvals.origins import has_untrusted
from ferryman.domain.approvals.question import read_questions
from ferryman.domain.approvals.rule_problems import find_host_problems, find_method_problems
from ferryman.domain.approvals.standing import DAYS_MAX, USES_LIMIT, StandingApproval
from ferryman.domain.calls.continuation import ServerQuestion
from ferryman.domain.flow.trusted import VALUE_CHARACTERS_MIN
from ferryman.domain.flow.verdict import VALUE_SHOWN_MAX
from ferryman.domain.json_tree import find_fault, is_unicode, walk
from ferryman.domain.problem import Problem
from ferryman.domain.tools.names import is_tool_name

EDITED_CHARACTERS_MAX = 100_000
"""The characters of the arguments of an edit, as JSON."""

STANDING_CHARACTERS_MAX = 10_000
"""The characters of the arguments of a standing approval, as JSON."""

ARGUMENTS_DEPTH_MAX = 20

_OF_CALLS = (DecisionVerdict.APPROVE, DecisionVerdict.DENY, DecisionVerdict.EDIT)


def find_decision_problems(
    verdict: DecisionVerdict,
    *,
    sends: int,
    reason: str,
    arguments: Mapping[str, Any] | None,
    declassified: str,
    form: str,
) -> Iterator[Problem]:
    """Yield what keeps a decision about a `form` from being made."""
    if not 1 <= sends <= SENDS_MAX:
        yield Problem("sends", f"must be 1 to {SENDS_MAX}")
    elif sends != 1 and verdict is not DecisionVerdict.APPROVE:
        yield Problem("sends", f"is for the verdict {DecisionVerdict.APPROVE} alone")
    if len(reason) > REASON_CHARACTERS_MAX:
        yield Problem("reason", f"must be at most {REASON_CHARACTERS_MAX} characters, is {len(reason)}")
    elif not is_unicode(reason):
        yield Problem("reason", "must be valid Unicode, without lone surrogates")
    if declassified and verdict is not DecisionVerdict.APPROVE:
        yield Problem("declassify", f"is for the verdict {DecisionVerdict.APPROVE} alone")
    elif declassified:
        yield from _find_declassifying_problems(declassified, form)
    questions = read_questions(json.loads(form))
    possible = (DecisionVerdict.ANSWER, DecisionVerdict.DENY) if questions is not None else _OF_CALLS
    if verdict not in possible:
        yield Problem("verdict", f"must be {' or '.join(possible)} for this approval")
    elif questions is not None and verdict is DecisionVerdict.ANSWER:
        yield from _find_answer_problems(questions, arguments)
    elif verdict is not DecisionVerdict.EDIT:
        if arguments is not None:
            yield Problem("arguments", f"are for the verdict {DecisionVerdict.EDIT} alone")
    elif arguments is None:
        yield Problem("arguments", f"are required for the verdict {DecisionVerdict.EDIT}: all those of the call made instead")
    else:
        yield from _find_argument_problems(arguments, EDITED_CHARACTERS_MAX)


def _find_answer_problems(questions: Sequence[ServerQuestion], answers: Mapping[str, Any] | None) -> Iterator[Problem]:
    if answers is None:
        yield Problem("arguments", f"are required for the verdict {DecisionVerdict.ANSWER}: by key, the answer")
        return
    problems = list(_find_argument_problems(answers, EDITED_CHARACTERS_MAX))
    yield from problems or find_answer_problems(questions, answers)


def _find_declassifying_problems(value: str, form: str) -> Iterator[Problem]:
    if not VALUE_CHARACTERS_MIN <= len(value) < VALUE_SHOWN_MAX:
        yield Problem("declassify", f"must be {VALUE_CHARACTERS_MIN} to {VALUE_SHOWN_MAX - 1} characters, is {len(value)}")
    elif not has_untrusted(form, value):
        yield Problem("declassify", "must be a value that the approval shows as untrusted, exactly as it is there")


def find_standing_problems(standing: StandingApproval, arguments: Mapping[str, Any], *, days: int) -> Iterator[Problem]:
    """Yield what keeps a standing approval for `days` from being stored; `arguments` are its own, parsed."""
    if not is_tool_name(standing.tool):
        yield Problem("tool", "must be the name of a tool: 1 to 64 letters, digits, _ and -")
    if not 1 <= standing.uses_max <= USES_LIMIT:
        yield Problem("uses", f"must be 1 to {USES_LIMIT}")
    if not 1 <= days <= DAYS_MAX:
        yield Problem("expires_in_days", f"must be 1 to {DAYS_MAX}")
    yield from find_host_problems("hosts", standing.hosts)
    yield from find_method_problems("methods", standing.methods)
    yield from _find_argument_problems(arguments, STANDING_CHARACTERS_MAX)


def encode_arguments(arguments: Mapping[str, Any]) -> str:
    """Return arguments as JSON, always in the same order."""
    return json.dumps(dict(arguments), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _find_argument_problems(arguments: Mapping[str, Any], most: int) -> Iterator[Problem]:
    for path, value in walk(arguments):
        fault = f"must be nested at most {ARGUMENTS_DEPTH_MAX} deep" if len(path) > ARGUMENTS_DEPTH_MAX else find_fault(value)
        if fault is not None:
            yield Problem("arguments", fault)
            return
    characters = len(encode_arguments(arguments))
    if characters > most:
        yield Problem("arguments", f"must be at most {most} characters as JSON, are {characters}")
