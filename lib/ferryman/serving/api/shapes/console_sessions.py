"""The shapes of the console's sessions, and of the links that sign in."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from ferryman.serving.api.shapes.shape import ListPage, ResponseShape


class NewSignInLink(ResponseShape):
    """A link that was just made. Who opens it first is signed in with the API key that made it."""

    url: str | None = Field(description="Shown this once; null where the request is a retry")
    expires_at: datetime = Field(description="Ten minutes after it was made, or with the API key")


class SessionResponse(ResponseShape):
    """A session of the console: a browser that is signed in with an API key."""

    session_id: str = Field(validation_alias="id")
    person_id: str = Field(validation_alias="person", description="Whose it is; empty: the owner's")
    key_id: str = Field(validation_alias="key", description="Of which API key; empty: the owner's own")
    workspace_id: str = Field(validation_alias="current_workspace", description="In which it acts")
    browser: str = Field(description="What the browser said that it is: up to 200 characters, printable and ASCII")
    created_at: datetime
    expires_at: datetime = Field(description="Twelve hours after it began, or with the API key")


class SessionList(ListPage):
    """A page of sessions, by id."""

    sessions: tuple[SessionResponse, ...]
