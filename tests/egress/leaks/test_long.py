"""Long values: a signed token of some thousand letters is looked for like any other."""

from __future__ import annotations

import base64

import pytest

from ferryman.domain.credentials.oauth import TOKEN_CHARACTERS_MAX
from ferryman.egress.leaks import LeakFinding, SecretScanner, redact_text
from tests.canaries.canary import create_key
from tests.egress.plants import credential

LONG = create_key("long", TOKEN_CHARACTERS_MAX)
NOTATIONS = {
    "as it is": LONG,
    "in part": LONG[4_000:4_040],
    "in base64": base64.b64encode(LONG.encode()).decode(),
    "in hexadecimal": LONG.encode().hex(),
}


@pytest.fixture(scope="module")
def scanner() -> SecretScanner:
    return SecretScanner([credential(LONG, "LONG")])


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_long_value_does_not_leave(scanner: SecretScanner, notation: str) -> None:
    assert scanner.find(f"see {NOTATIONS[notation]} there") == LeakFinding("LONG")


def test_a_long_value_as_one_number_does_not_leave() -> None:
    value = create_key("number", 2_000)
    number, digits = int.from_bytes(value.encode(), "big"), []
    while number:
        number, digit = divmod(number, 10)
        digits.append(str(digit))
    assert SecretScanner([credential(value, "LONG")]).find("".join(reversed(digits))) == LeakFinding("LONG")


def test_a_long_value_is_redacted(scanner: SecretScanner) -> None:
    assert redact_text(f"<{LONG}>", scanner) == "<[redacted:LONG]>"
