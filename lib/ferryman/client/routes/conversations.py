"""Conversations with agents, and their messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ferryman.client import answers
from ferryman.client.request import AnswerPage, ApiRequest, build_path, delete_by_job, get, patch, post, read_as, read_page

ANSWER_S = 65.0
"""How many seconds a request may take that waits for an answer: the service waits for 50 of them at most."""


def create_conversation(
    agent: str | None = None, *, task: str | None = None, title: str | None = None, key: str | None = None
) -> ApiRequest[answers.ConversationJson]:
    """Begin a conversation with `agent`, the default one without a name, or with a `task`."""
    fields = {"agent_id": agent, "task_id": task, "title": title}
    body = {name: value for name, value in fields.items() if value is not None}
    return post(build_path("conversations"), read_as(answers.ConversationJson), body, key=key)


def list_conversations(
    *, agent: str | None = None, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.ConversationJson]]:
    """Return a page of the workspace's conversations, newest first; of one agent where it is named."""
    return get(build_path("conversations"), read_page("conversations"), agent=agent, limit=limit, cursor=cursor)


def get_conversation(conversation: str) -> ApiRequest[answers.ConversationJson]:
    """Return one conversation."""
    return get(build_path("conversations", conversation), read_as(answers.ConversationJson))


def rename_conversation(conversation: str, title: str) -> ApiRequest[answers.ConversationJson]:
    """Give a conversation a title of your own."""
    return patch(build_path("conversations", conversation), read_as(answers.ConversationJson), {"title": title})


def delete_conversation(conversation: str) -> ApiRequest[answers.JobJson]:
    """Delete a conversation with its messages, and the executions that answered in it; return the job that does so."""
    return delete_by_job(build_path("conversations", conversation), read_as(answers.JobJson))


def list_messages(
    conversation: str, *, branch: int | None = None, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.MessageJson]]:
    """Return a page of the messages, oldest first; with `branch`, the number of its end, only that one's, newest first."""
    path = build_path("conversations", conversation, "messages")
    return get(path, read_page("messages"), branch=branch, limit=limit, cursor=cursor)


def create_message(
    conversation: str,
    content: str,
    *,
    model: str | None = None,
    enable_tools: bool = True,
    attachments: Sequence[str] = (),
    edits: int | None = None,
    after: int | None = None,
    key: str | None = None,
) -> ApiRequest[answers.ChatJson]:
    """Say something, and wait for the answer: one that takes longer than 50 seconds is `pending`, and `stream_answer` waits on.

    `attachments` are keys of files of the workspace. It takes the place of the message `edits`, or follows the answer `after`.
    """
    places = {name: value for name, value in (("edits", edits), ("after", after)) if value is not None}
    body = {"content": content, **_describe_answer(model, enable_tools=enable_tools), **places}
    if attachments:
        body["attachments"] = list(attachments)
    path = build_path("conversations", conversation, "messages")
    return post(path, read_as(answers.ChatJson), body, key=key, within_s=ANSWER_S)


def create_answer(
    conversation: str, message: int, *, model: str | None = None, enable_tools: bool = True, key: str | None = None
) -> ApiRequest[answers.ChatJson]:
    """Ask for another answer in the place of the answer `message`, or to the message of this number, and wait for it."""
    path = build_path("conversations", conversation, "messages", str(message), "regenerate")
    body = _describe_answer(model, enable_tools=enable_tools)
    return post(path, read_as(answers.ChatJson), body, key=key, within_s=ANSWER_S)


def cancel_answers(conversation: str, *, answer: int | None = None) -> ApiRequest[answers.ConversationJson]:
    """Stop what is waited for; with `answer`, that one alone. What was written until then is kept."""
    request = post(build_path("conversations", conversation, "stop"), read_as(answers.ConversationJson))
    return request if answer is None else request.with_query(answer=str(answer))


def _describe_answer(model: str | None, *, enable_tools: bool) -> dict[str, Any]:
    """Return the fields of a request that say how its answer is made."""
    return {**({"model": model} if model else {}), **({} if enable_tools else {"enableTools": False})}
