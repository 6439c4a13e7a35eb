"""The judge: an answer may say nothing of the other side, and what the other side has may not change."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ferryman.domain.workspaces.api_key import ApiKey
from tests.campaigns.isolation.deployment import Answer
from tests.serving.conftest import Stage

SHOWN_MAX = 300
_SIGNATURE = re.compile(rb"\?link=[A-Za-z0-9_-]+")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers to one attempt: where the other is `there`, where the attacker is `alone`, and to an id that was `guessed`.

    `guessed` is None where the request names nothing. `request_text` is the request as it was sent the first time; `ghosts` are
    the ids that nobody has, each with the one whose place it takes.
    """

    request_text: str
    there: Answer
    alone: Answer
    guessed: Answer | None
    ghosts: Mapping[str, str]


def find_told(answers: Answers, marks: Iterable[str]) -> Iterator[str]:
    """Yield what an answer tells of the other side: a difference to what is answered without it, or one of its words.

    A word that is answered without the other as well is one that the attacker wrote itself.
    """
    there = answers.there
    if there != answers.alone:
        yield f"it tells that the thing is there: {_describe(there)}; in a deployment without it {_describe(answers.alone)}"
    guessed = None if answers.guessed is None else _put_in_place(answers.guessed, answers.ghosts)
    if guessed is not None and _drop_signatures(there) != _drop_signatures(guessed):
        yield f"it is not answered as an id that nobody has: {_describe(there)}; that one {_describe(guessed)}"
    for mark in marks:
        if mark not in answers.request_text and mark.encode() in _join(there) and mark.encode() not in _join(answers.alone):
            yield f"it was answered with the other's {mark}: {_describe(there)}"


def _drop_signatures(answer: Answer) -> Answer:
    """Return an answer without the signatures of links: they are made of the names that they are for."""
    return dataclasses.replace(answer, body=_SIGNATURE.sub(b"?link=", answer.body))


def _put_in_place(answer: Answer, ghosts: Mapping[str, str]) -> Answer:
    """Return an answer with the ids of the other in the place of those that nobody has: what the caller itself wrote."""
    body, headers, text = answer.body, answer.headers, _join(answer)
    for ghost, name in ((ghost.encode(), name.encode()) for ghost, name in ghosts.items()):
        if ghost in text:
            body = body.replace(ghost, name)
            headers = tuple((field, value.replace(ghost, name)) for field, value in headers)
            text = _join(dataclasses.replace(answer, body=body, headers=headers))
    return dataclasses.replace(answer, body=body, headers=headers)


def _join(answer: Answer) -> bytes:
    return b"\n".join([answer.body, *(value for _, value in answer.headers)])


def _describe(answer: Answer) -> str:
    headers = {name.decode(): value.decode() for name, value in answer.headers}
    return f"{answer.status} {headers} {answer.body[:SHOWN_MAX]!r}"


Rows = dict[tuple[str, str], str]


def copy_rows(stage: Stage) -> Rows:
    """Return all that the stores and the bucket hold, by store and name, as text."""
    objects = {("the bucket", repr(key)): repr(stored) for key, stored in stage.objects._objects.items()}
    return objects | {
        (store.name, repr(name)): repr(_leave_out(document))
        for store in dataclasses.fields(stage.memory)
        for name, document in _list_documents(getattr(stage.memory, store.name))
    }


def _leave_out(document: Any) -> Any:
    """Return a document without what depends on when it was written: the double's versions, and the last use of a key."""
    if isinstance(document, ApiKey):
        return dataclasses.replace(document, last_used_at=None)
    return document[0] if isinstance(document, tuple) and len(document) == 2 and isinstance(document[1], str) else document


def _list_documents(documents: Any) -> list[tuple[Any, Any]]:
    if isinstance(documents, Mapping):
        return list(documents.items())
    return [(item, item) for item in documents] if isinstance(documents, set | list | tuple) else []


OF_OWNERS = frozenset({"balances"})
"""Stores with one row for each owner, in which both sides may have a part; it is made when one of them first uses credits."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """What only the other side has, and what both have a part in, as it was before the first attempt.

    Everything else is the attacker's, and has to become the same whether the other is there or not.
    """

    theirs: Rows = dataclasses.field(repr=False)
    shared: frozenset[tuple[str, str]]

    @classmethod
    def draw(cls, there: Rows, alone: Rows) -> Boundary:
        return cls(
            theirs={row: text for row, text in there.items() if row not in alone},
            shared=frozenset(row for row in there.keys() & alone.keys() if there[row] != alone[row]),
        )

    def find_crossed(self, there: Rows, alone: Rows) -> Iterator[str]:
        """Yield what of the other's was changed or deleted, and what of the attacker's depends on the other."""
        for row in self.theirs.keys() | there.keys() | alone.keys():
            store, name = row
            if row in self.shared or (store in OF_OWNERS and row in self.theirs and row in alone):
                continue
            expected = self.theirs.get(row, alone.get(row))
            if there.get(row) != expected:
                was = "is gone" if row not in there else "is there" if expected is None else f"is {there[row][:SHOWN_MAX]}"
                yield f"{'the other' if row in self.theirs else 'one'}'s {store}/{name} {was}"
