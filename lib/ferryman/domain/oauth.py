"""OAuth: what a token endpoint answers (RFC 6749, 5.1 and 5.2), and what of it may be told."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ferryman.domain.credential import VALUE_CHARACTERS_MIN, Secret, value_problems

ANSWER_BYTES_MAX = 65_536
"""A token endpoint's answer: two tokens and a few words."""

LIFETIME_SECONDS_MAX = 10 * 366 * 24 * 3_600
SCOPES_CHARACTERS_MAX = 2_048

ERRORS = frozenset(
    (
        *("invalid_request", "invalid_client", "invalid_grant", "unauthorized_client"),
        *("unsupported_grant_type", "invalid_scope", "access_denied", "unsupported_response_type"),
        *("server_error", "temporarily_unavailable"),
    )
)
"""The errors that the standard names (RFC 6749, 4.1.2.1 and 5.2): only these are repeated, any other text may hold a key."""

PASSING = frozenset(("server_error", "temporarily_unavailable"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A token endpoint's yes. `expires_in_s` and `scopes` are None where it does not say."""

    access_token: Secret
    refresh_token: Secret | None = None
    expires_in_s: int | None = None
    scopes: tuple[str, ...] | None = None


class Unusable(Exception):  # noqa: N818 - reads as the fact it states
    """The answer holds no token. Its text is ours, and may be told.

    `error` is the standard's word for why, where the endpoint said one; `final` tells that asking again cannot help.
    """

    def __init__(self, message: str, *, error: str | None = None) -> None:
        super().__init__(message)
        self.error = error
        self.final = error is not None and error not in PASSING


def read(status: int, body: bytes, *, cut: bool = False, sent: Iterable[Secret] = ()) -> Answer:
    """The token in the answer `body`; raises `Unusable`. Some say no with status 200, so that the body decides.

    `sent` is what the request carried: an access token that is, or holds, any of it is an echo, which would be sent on.
    """
    answer = _object(status, body, cut)
    if "error" in answer or not 200 <= status < 300:
        said = answer.get("error")
        if isinstance(said, str) and said in ERRORS:
            raise Unusable(f"the token endpoint answered {said}", error=said)
        raise Unusable(f"the token endpoint answered with status {status} and no error that the standard names")
    kind = answer.get("token_type", "bearer")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise Unusable("the token endpoint gave a token that is no bearer token")
    access = _secret(answer.get("access_token"), "access token")
    values = (each.reveal() for each in sent)
    if any(value in access.reveal() for value in values if len(value) >= VALUE_CHARACTERS_MIN):
        raise Unusable("the token endpoint gave back what it was sent as the token")
    return Answer(
        access_token=access,
        refresh_token=_secret(answer["refresh_token"], "refresh token") if answer.get("refresh_token") else None,
        expires_in_s=_seconds(answer.get("expires_in")),
        scopes=_scopes(answer.get("scope")),
    )


def _object(status: int, body: bytes, cut: bool) -> dict[str, Any]:
    if cut or len(body) > ANSWER_BYTES_MAX:
        raise Unusable("the token endpoint's answer is too long")
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise Unusable(f"the token endpoint answered with status {status} and no JSON object")
    return answer


def _secret(value: Any, what: str) -> Secret:
    # the same rules as for any credential: what could not be told from chance could not be kept from leaking
    if not isinstance(value, str) or value_problems(value):
        raise Unusable(f"the token endpoint gave no {what} that can be kept: 16 to 4096 visible ASCII characters")
    return Secret(value)


def _seconds(value: Any) -> int | None:
    """Some write the number as a text. What is no number of seconds counts as not said."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        return None
    return min(int(value), LIFETIME_SECONDS_MAX)


def _scopes(value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, str) or len(value) > SCOPES_CHARACTERS_MAX:
        return None
    found = tuple(value.split(" "))
    return found if value and all(each and each.isascii() and each.isprintable() for each in found) else None
