"""Values: what may be a credential's value, and of a user name with its password (RFC 7617) which half is the secret."""

from __future__ import annotations

import base64
import re

from ferryman.domain.problem import Problem

CHARACTERS_MIN = 16
CHARACTERS_MAX = 4_096
ALPHANUMERICS_MIN = 12
DISTINCT_MIN = 8
_VISIBLE = re.compile(r"[\x21-\x7e]+", re.ASCII)


def find_value_problems(value: str, *, characters_max: int = CHARACTERS_MAX) -> list[Problem]:
    """Return the problems of a credential's value: what to change, and nothing of the value."""

    def problem(message: str) -> list[Problem]:
        return [Problem("value", message)]

    if not _VISIBLE.fullmatch(value):
        return problem(
            "must be visible ASCII characters and not empty, without spaces or line breaks; check for a stray newline"
        )
    if len(value) < CHARACTERS_MIN:
        return problem(f"must be at least {CHARACTERS_MIN} characters, so that a leak can be told from chance")
    if len(value) > characters_max:
        return problem(f"must be at most {characters_max} characters")
    if sum(character.isalnum() for character in value) < ALPHANUMERICS_MIN:
        return problem(f"must have at least {ALPHANUMERICS_MIN} letters and digits")
    if len(set(value)) < DISTINCT_MIN:
        return problem(f"must have at least {DISTINCT_MIN} different characters")
    return []


def find_pair_problems(value: str) -> list[Problem]:
    """Return the problems of a pair `user:password`: what to change, and nothing of the value.

    One half has to be a secret by itself. Services that take a key in the place of the user name want no password, or any.
    """
    if ":" not in value:
        return [Problem("value", "must be a user name and a password with a colon between them, for auth_type basic")]
    problems = find_value_problems(value)
    if not problems and find_value_problems(get_secret_half(value)):
        (problem,) = find_value_problems(value.partition(":")[2])
        message = f"is a user name and a password, of which one has to be a secret by itself; the password {problem.message}"
        return [Problem("value", message)]
    return problems


def get_secret_half(value: str) -> str:
    """Return the half of a pair that must not leave by itself: the password, or the user name where only that is a secret.

    Next to a password that is a secret a user name is public: services have it in their URLs and answers, and it may be a word.
    """
    user, _, password = value.partition(":")
    return user if find_value_problems(password) and not find_value_problems(user) else password


def encode_pair(value: str) -> str:
    """Return a pair as it is sent."""
    return base64.b64encode(value.encode()).decode("ascii")


def list_pair_secrets(value: str) -> tuple[str, ...]:
    """Return what must not leave of a pair: the whole, its secret half, and the characters of that half in base64."""
    half = get_secret_half(value)
    start = len(value) - len(half) if value.endswith(f":{half}") else 0
    first, last = -(-start * 4 // 3), (start + len(half)) * 4 // 3
    return value, half, encode_pair(value)[first:last]
