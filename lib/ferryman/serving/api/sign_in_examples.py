"""Examples of answers about who is let in, for the description: identities, and sessions of the console."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from ferryman.domain.console_sessions.link import LINK_LIFETIME
from ferryman.domain.console_sessions.session import LIFETIME
from ferryman.serving.api.shapes import console_sessions, identity

_AT = datetime(2026, 11, 22, 9, tzinfo=UTC)
_LINK = {"url": "https://ferryman.example.com/console/enter?code=" + "x" * 43, "expires_at": _AT + LINK_LIFETIME}
_SESSION = {
    **{"id": "session_8fa14cdd754f91cc6554c9e71929cc", "person": "person_900150983cd24fb0d6963f7d28e17f"},
    **{"key": "key_8fa14cdd754f91cc6554c9e71929cc", "current_workspace": "ws_5d41402abc4b2a76b9719d911017c5"},
    **{"browser": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"},
    **{"created_at": _AT - timedelta(hours=1), "expires_at": _AT - timedelta(hours=1) + LIFETIME},
}
_IDENTITY = {
    **{"id": "identity_8fa14cdd754f91cc6554c9e71929cc", "person": _SESSION["person"], "scopes": ["read", "run"]},
    **{"issuer": "https://login.example.com/tenant", "subject": "248289761001"},
    **{"created_at": _AT, "expires_at": None, "last_used_at": _AT},
}


def build_sign_in_answers() -> dict[str, BaseModel]:
    """Return an example of the answer of each of these operations that has one."""
    return {
        "linkIdentity": identity.IdentityResponse.model_validate({**_IDENTITY, "last_used_at": None}),
        "listIdentities": identity.IdentityList.model_validate({"identities": [_IDENTITY], "next": None}),
        "createSignInLink": console_sessions.NewSignInLink.model_validate(_LINK),
        "listSessions": console_sessions.SessionList.model_validate({"sessions": [_SESSION], "next": None}),
    }
