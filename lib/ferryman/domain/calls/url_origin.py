"""Where the URL of a call comes from, as its ticket has it: decided before anything is sent (`ferryman.domain.urls`)."""

from __future__ import annotations

from enum import StrEnum


class UrlOrigin(StrEnum):
    """Where a URL comes from. Of the last three, nothing is fetched."""

    WRITTEN = "written"
    """A person or the owner wrote it: in the prompts of the task and the agent, or in what the execution was started with."""
    RESULT = "result"
    """The model was shown it in a result of the web, whole."""
    APPROVED = "approved"
    """The model made it up, and its host is of an approved domain; so must be those that it redirects to."""
    SPENT = "spent"
    """The model was shown it, and the execution has fetched as many of its site."""
    UNSEEN = "unseen"
    """The model made it up."""
    INVALID = "invalid"
    """It is no URL of a page."""

    @property
    def is_fetched(self) -> bool:
        return self in (UrlOrigin.WRITTEN, UrlOrigin.RESULT, UrlOrigin.APPROVED)
