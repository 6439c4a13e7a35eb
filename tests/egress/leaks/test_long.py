"""Long values: a signed token of some thousand letters is looked for like any other."""

from __future__ import annotations

import base64

import pytest

from ferryman.domain.token import TOKEN_CHARACTERS_MAX
from ferryman.egress.leaks import Finding, Scanner
from tests.egress.plants import credential
from tests.planted import key

LONG = key("long", TOKEN_CHARACTERS_MAX)
NOTATIONS = {
    "as it is": LONG,
    "in part": LONG[4_000:4_040],
    "in base64": base64.b64encode(LONG.encode()).decode(),
    "in hexadecimal": LONG.encode().hex(),
}


@pytest.fixture(scope="module")
def scanner() -> Scanner:
    return Scanner([credential(LONG, "LONG")])


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_long_value_does_not_leave(scanner: Scanner, notation: str) -> None:
    assert scanner.find(f"see {NOTATIONS[notation]} there") == Finding("LONG")


def test_a_long_value_as_one_number_does_not_leave() -> None:
    value = key("number", 2_000)
    number, digits = int.from_bytes(value.encode(), "big"), []
    while number:
        number, digit = divmod(number, 10)
        digits.append(str(digit))
    assert Scanner([credential(value, "LONG")]).find("".join(reversed(digits))) == Finding("LONG")


def test_a_long_value_is_redacted(scanner: Scanner) -> None:
    assert scanner.redact(f"<{LONG}>") == "<[redacted:LONG]>"
