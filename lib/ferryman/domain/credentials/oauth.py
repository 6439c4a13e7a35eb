"""OAuth token responses (RFC 6749, 5.1 and 5.2): the one set of rules by which a token is accepted or refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.domain.credentials.credential import Secret
from ferryman.domain.credentials.value import CHARACTERS_MIN, find_value_problems

RESPONSE_BYTES_MAX = 65_536  # the longest answer of a token endpoint: two tokens and a few words
TOKEN_CHARACTERS_MAX = 8_192
LIFETIME_SECONDS_MAX = 10 * 366 * 24 * 3_600

BEARER = frozenset(("bearer", "bearertoken"))
"""Names of the token type of RFC 6750, in lower case. A token of another type could not be applied (7.1)."""

UNIX_TIME_MIN = 1_000_000_000
"""From this value on, a lifetime in seconds is read as the Unix time at which the token expires."""

TRANSIENT_ERRORS = frozenset(("server_error", "temporarily_unavailable"))
ERRORS = TRANSIENT_ERRORS | {
    *("invalid_request", "invalid_client", "invalid_grant", "unauthorized_client"),
    *("unsupported_grant_type", "invalid_scope", "access_denied", "unsupported_response_type"),
}
"""The errors that the standard names (RFC 6749, 4.1.2.1 and 5.2): messages repeat only these, any other text may hold a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenResponse:
    """A token that may be used. `expires_in_s` and `scopes` are None where the answer does not say."""

    access_token: Secret
    refresh_token: Secret | None = None
    expires_in_s: int | None = None
    scopes: tuple[str, ...] | None = None


class TokenResponseError(Exception):
    """The answer holds no token that may be used. The text is ours and repeats nothing of the answer.

    `error` is the standard's error code, where the endpoint sent one; `final` tells that a retry cannot succeed.
    """

    def __init__(self, message: str, *, error: str | None = None) -> None:
        super().__init__(message)
        self.error = error
        self.final = error is not None and error not in TRANSIENT_ERRORS


def read_token_response(
    status: int,
    body: bytes,
    *,
    now_s: float,
    cut: bool = False,
    sent: Iterable[Secret] = (),
    fields: Mapping[str, Any] | None = None,
) -> TokenResponse:
    """Return the token in an answer. Raise `TokenResponseError`, also where a failure was sent with status 200.

    `now_s` is the time in Unix seconds; `cut` tells that the answer was longer than `body`. `sent` are the secrets of the
    request: a token that contains one, or is a part of one, is an echo, and would be sent on. `fields` replace the body of an
    answer that is not OAuth: its values by their OAuth names.
    """
    if cut or len(body) > RESPONSE_BYTES_MAX:
        raise TokenResponseError(f"the token endpoint's answer is longer than {RESPONSE_BYTES_MAX} bytes")
    if 300 <= status < 400:
        raise TokenResponseError("the token endpoint answered with a redirect, which is not followed")
    answer = _object(body) if fields is None else fields
    error = None if answer is None else answer.get("error")
    if error or not 200 <= status < 300:
        if isinstance(error, str) and error in ERRORS:
            raise TokenResponseError(f"the token endpoint answered {error}", error=error)
        raise TokenResponseError(f"the token endpoint answered with status {status} and no error that the standard names")
    if answer is None:
        raise TokenResponseError("the token endpoint's answer is not a JSON object")
    kind = answer.get("token_type")
    if kind is not None and not (isinstance(kind, str) and kind.lower() in BEARER):
        raise TokenResponseError("the token endpoint gave a token that is not of the type bearer")
    refresh, scope = answer.get("refresh_token"), answer.get("scope")
    return TokenResponse(
        access_token=_reject_echo(_secret(answer.get("access_token"), "access token"), sent),
        refresh_token=_secret(refresh, "refresh token") if refresh else None,
        expires_in_s=_lifetime_s(answer.get("expires_in"), now_s),
        scopes=tuple(scope.split(" ")) if isinstance(scope, str) and scope else None,
    )


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _secret(value: Any, what: str) -> Secret:
    if not isinstance(value, str):
        raise TokenResponseError(f"the token endpoint gave no {what} where one is expected")
    # the same rules as for any credential: a value that occurs by chance cannot be scanned for
    for problem in find_value_problems(value, characters_max=TOKEN_CHARACTERS_MAX):
        raise TokenResponseError(f"the {what} that the token endpoint gave {problem.message}")
    return Secret(value)


def _reject_echo(token: Secret, sent: Iterable[Secret]) -> Secret:
    value, values = token.reveal(), (secret.reveal() for secret in sent)
    if any(other in value or value in other for other in values if len(other) >= CHARACTERS_MIN):
        raise TokenResponseError("the token endpoint gave back what it was sent as the token")
    return token


def _lifetime_s(value: Any, now_s: float) -> int | None:
    """Return whole seconds. None for no number, or a negative one: some services send -1 for a token that does not expire."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        return None
    if not 0 <= seconds < float("inf"):
        return None
    if seconds >= UNIX_TIME_MIN:
        seconds = max(0.0, seconds - now_s)
    return min(int(seconds), LIFETIME_SECONDS_MAX)
