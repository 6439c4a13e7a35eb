"""Requests: what an application may write into the document of an execution that it wants started, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.executions.execution import INPUT_CHARACTERS_MAX
from ferryman.domain.ids import ID_ABOUT, is_id
from ferryman.domain.problem import InvalidInputError, Problem, build_input_error
from ferryman.domain.workspaces.names import Placed

REQUEST_FIELDS = ("task", "owner", "conversation", "input", "labels")
"""The fields of a request. `task` is enough; an application's other fields are ignored, and dropped once it is answered."""

RESERVED = "exec_"
"""How the ids begin that are made here: a document of an application by such a name would take the place of a scheduled run."""

RESERVED_CONVERSATIONS = "conv_"
"""How the ids of chats begin: an execution of a task by such an id would be counted with a chat, and deleted with it."""

LABELS_MAX = 16
LABEL_CHARACTERS_MAX = 200

_LABEL = re.compile(r"[a-z][a-z0-9_-]{0,62}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionRequest:
    """A run that an application asks for; `owner` is the task's, where it is given.

    `conversation` is an id of the application's choice, "" for none.
    """

    task: str
    owner: str | None = None
    conversation: str = ""
    input: str | None = field(default=None, repr=False)
    labels: Mapping[str, str] = field(default_factory=dict, repr=False)


def parse_request(execution: str, fields: Mapping[str, Any]) -> ExecutionRequest:
    """Return the request in the `fields` of the document `execution`. Raise `InvalidInputError` with every problem."""
    problems = [*_find_id_problems(execution)]
    for name, find_problems in _CHECKS.items():
        problems += find_problems(fields.get(name))
    if problems:
        raise InvalidInputError(problems)
    return ExecutionRequest(
        task=fields["task"],
        owner=fields.get("owner"),
        conversation=fields.get("conversation") or "",
        input=fields.get("input"),
        labels=dict(fields.get("labels") or {}),
    )


def select_accepted(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the request's `fields` that are as they should be: a refused request keeps them in its document."""
    present = {name: fields[name] for name in REQUEST_FIELDS if fields.get(name) is not None}
    return {name: value for name, value in present.items() if not [*_CHECKS[name](value)]}


def place_refused(accepted: Mapping[str, Any], task: Placed | None) -> dict[str, Any]:
    """Return what is stored of a refused request: what was `accepted`, and the place of its `task`, with which it is deleted.

    Of one that names no task of its owner's, nobody could delete the content: it is not stored.
    """
    if task is None or accepted.get("owner", task.owner) != task.owner:
        return {name: value for name, value in accepted.items() if name in ("task", "owner")}
    return {**accepted, "owner": task.owner, "workspace": task.workspace, "agent": task.agent}


def build_reused_error() -> InvalidInputError:
    """Return the error for a document by the name of an earlier run, whose ledger entries or receipts are still there."""
    return build_input_error("id", "an earlier run had this name; choose another for the document")


def find_label_problems(labels: Any) -> Iterator[Problem]:
    """Return the problems of labels: names of lower-case letters, with short texts."""
    if labels is None:
        return
    if not isinstance(labels, Mapping):
        yield Problem("labels", "must be a map of names to texts")
        return
    if len(labels) > LABELS_MAX:
        yield Problem("labels", f"must be at most {LABELS_MAX}, are {len(labels)}")
        return
    for name, text in labels.items():
        if not isinstance(name, str) or _LABEL.fullmatch(name) is None:
            allowed = "lower-case letters, digits, _ and -, and begin with a letter"
            yield Problem("labels", f"must have names of at most 63 {allowed}")
        elif not _is_text(text) or len(text) > LABEL_CHARACTERS_MAX:
            yield Problem(f"labels.{name}", f"must be a text of at most {LABEL_CHARACTERS_MAX} characters")


def find_conversation_problems(conversation: Any) -> Iterator[Problem]:
    """Yield the problem of the id that a starter chose for a conversation; None is none."""
    if conversation is not None and not (isinstance(conversation, str) and is_id(conversation)):
        yield Problem("conversation", f"must be an id of your choice: {ID_ABOUT}")
    elif conversation is not None and conversation.startswith(RESERVED_CONVERSATIONS):
        yield Problem("conversation", f"must not begin with {RESERVED_CONVERSATIONS}, as the ids of chats do; choose another")


def _find_id_problems(execution: str) -> Iterator[Problem]:
    if not is_id(execution):
        allowed = "letters, digits, _ and -, and begin with a letter or a digit"
        yield Problem("id", f"the document's name must have at most 64 characters, {allowed}")
    elif execution.startswith(RESERVED):
        yield Problem("id", f"names that begin with {RESERVED} are given by Ferryman alone; choose another for the document")


def _find_task_problems(task: Any) -> Iterator[Problem]:
    if task is None:
        yield Problem("task", "is missing; it must be the id of a task")
    elif not isinstance(task, str):
        yield Problem("task", "must be a text: the id of a task")
    elif not is_id(task):
        yield Problem("task", "is not the id of a task")


def _find_owner_problems(owner: Any) -> Iterator[Problem]:
    if owner is not None and (not _is_text(owner) or len(owner) > LABEL_CHARACTERS_MAX):
        yield Problem("owner", "must be a text: the id of the task's owner; it may be left out")


def _find_input_problems(text: Any) -> Iterator[Problem]:
    if text is None:
        return
    if not _is_text(text):
        yield Problem("input", "must be a text")
    elif len(text) > INPUT_CHARACTERS_MAX:
        yield Problem("input", f"must be at most {INPUT_CHARACTERS_MAX} characters, is {len(text)}")


def _is_text(value: Any) -> bool:
    """Tell whether `value` is a text that can be stored: Firestore holds valid Unicode alone."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


_CHECKS = {
    "task": _find_task_problems,
    "owner": _find_owner_problems,
    "conversation": find_conversation_problems,
    "input": _find_input_problems,
    "labels": find_label_problems,
}
