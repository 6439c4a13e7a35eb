"""Questions of MCP servers to a person: what a server asks before it goes on with a call, as it is shown and hashed.

Everything in a question is a stranger's text. A model never reads a question, and never answers one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.approvals.question_fields import (
    KEY_CHARACTERS_MAX,
    UnaskableQuestionError,
    asks_for_secret,
    list_fields,
)
from ferryman.domain.calls.continuation import ServerQuestion
from ferryman.domain.http.url import InvalidUrlError, parse_url

QUESTIONS_MAX = 5
MESSAGE_CHARACTERS_MAX = 4_096

FORM, PAGE = "form", "url"
"""The two modes: fields that a person fills in, and a page that a person opens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionForm:
    """What a server asks before it goes on with a call: of the tool `tool` of the server `server` at `url`.

    `descriptor` is the digest of the tool as people accepted it, `state` that of what the server gets back with the answers,
    "" for nothing.
    """

    server: str
    url: str
    tool: str
    descriptor: str
    questions: tuple[ServerQuestion, ...] = field(repr=False)
    state: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the question as it is hashed, and shown."""
        return {
            "kind": "question",
            "server": self.server,
            "url": self.url,
            "tool": self.tool,
            "descriptor": self.descriptor,
            "questions": [
                {"key": item.key, "mode": item.mode, "message": item.message, "schema": item.schema, "url": item.url}
                for item in self.questions
            ],
            "state": self.state,
        }


def check_questions(questions: Sequence[ServerQuestion]) -> None:
    """Raise `UnaskableQuestionError` unless a person can be asked all of these."""
    if not 1 <= len(questions) <= QUESTIONS_MAX:
        raise UnaskableQuestionError(f"it asks {len(questions)} questions at once, and 1 to {QUESTIONS_MAX} are possible")
    for question in questions:
        if not 1 <= len(question.key) <= KEY_CHARACTERS_MAX or len(question.message) > MESSAGE_CHARACTERS_MAX:
            raise UnaskableQuestionError("the name of a question, or its text, is too long")
        if question.mode == PAGE:
            _check_page(question)
        elif question.mode == FORM:
            if asks_for_secret(question.message):
                raise UnaskableQuestionError("a form may not ask for a secret, such as a password or a key")
            list_fields(question.schema)
        else:
            raise UnaskableQuestionError("its mode is neither form nor url")


def read_questions(form: Mapping[str, Any]) -> tuple[ServerQuestion, ...] | None:
    """Return the questions of a canonical form that was parsed; None where it is of no question."""
    what = form.get("what")
    if not isinstance(what, Mapping) or what.get("kind") != "question":
        return None
    return tuple(ServerQuestion(**question) for question in what["questions"])


def is_question(form: str) -> bool:
    """Tell whether a canonical form is of a question."""
    try:
        parsed = json.loads(form)
    except (ValueError, RecursionError):
        return False
    what = parsed.get("what") if isinstance(parsed, dict) else None
    return isinstance(what, dict) and what.get("kind") == "question"


def _check_page(question: ServerQuestion) -> None:
    try:
        parse_url(question.url or "")
    except InvalidUrlError as error:
        raise UnaskableQuestionError(f"the page that it would have a person open has no usable URL: {error}") from None
