"""The credentials of a task, and the consents that bring some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.client import answers
from ferryman.client.request import AnswerPage, ApiRequest, build_path, delete, get, post, put, read_as, read_page


def set_credential(task: str, name: str, credential: Mapping[str, Any]) -> ApiRequest[answers.CredentialJson]:
    """Seal a credential of a task, or replace it: its `value`, and the `service` that it is for."""
    path = build_path("tasks", task, "credentials", name)
    return put(path, read_as(answers.CredentialJson), credential)


def begin_connection(task: str, body: Mapping[str, Any]) -> ApiRequest[answers.ConnectionJson]:
    """Begin to connect a service: where its owner consents, and the state that leads back."""
    return post(build_path("tasks", task, "credentials", "connect"), read_as(answers.ConnectionJson), body)


def finish_connection(task: str, state: str, code: str, iss: str | None = None) -> ApiRequest[answers.CredentialJson]:
    """Return the credential that a consent has brought. `iss` is the issuer that the authorization response named, if any."""
    body = {"state": state, "code": code, **({} if iss is None else {"iss": iss})}
    return post(build_path("tasks", task, "credentials", "connect", "finish"), read_as(answers.CredentialJson), body)


def list_credentials(
    task: str, *, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.CredentialJson]]:
    """Return a page of a task's credentials by name, without their values."""
    return get(build_path("tasks", task, "credentials"), read_page("credentials"), limit=limit, cursor=cursor)


def delete_credential(task: str, name: str) -> ApiRequest[None]:
    """Delete a credential of a task."""
    return delete(build_path("tasks", task, "credentials", name))
