"""Sessions of the console, and the links that sign in."""

from __future__ import annotations

from ferryman.client import answers
from ferryman.client.request import AnswerPage, ApiRequest, build_path, delete, get, post, read_as, read_page


def create_sign_in_link(*, key: str | None = None) -> ApiRequest[answers.NewSignInLinkJson]:
    """Make a link that signs a browser in to the console, once and within ten minutes, with the API key of this client.

    Its `url` is None in the answer to a retry; `key` is an idempotency key of yours.
    """
    return post(build_path("sign-in-links"), read_as(answers.NewSignInLinkJson), key=key)


def list_sessions(
    *, everybody: bool = False, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.SessionJson]]:
    """Return a page of your sessions of the console, or of those of everybody in the workspace."""
    return get(build_path("sessions"), read_page("sessions"), everybody=everybody or None, limit=limit, cursor=cursor)


def delete_session(session: str) -> ApiRequest[None]:
    """End a session of the console, by its id: its browser is signed out."""
    return delete(build_path("sessions", session))
