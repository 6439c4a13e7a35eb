"""Tokens: Google's own library checks them and believes them, and nobody else's."""

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from google.auth import exceptions, jwt

from emulator.clock import EmulatorClock
from emulator.identity import IdentityTokens

EMAIL = "orchestrator@test.iam.gserviceaccount.com"
AUDIENCE = "http://127.0.0.1:8081"


@pytest.fixture(scope="module")
def tokens():
    return IdentityTokens(path=None, clock=EmulatorClock())


def test_a_token_says_who_speaks_and_to_whom(tokens):
    claims = jwt.decode(tokens.mint(EMAIL, AUDIENCE), certs=tokens.certs(), audience=AUDIENCE)
    assert claims["iss"] == "https://accounts.google.com"
    assert claims["email"] == EMAIL
    assert claims["email_verified"] is True
    assert claims["sub"] == claims["azp"]
    assert claims["exp"] - claims["iat"] == 3600


def test_a_token_names_the_key_that_signed_it(tokens):
    header = jwt.decode_header(tokens.mint(EMAIL, AUDIENCE))
    assert header["alg"] == "RS256"
    assert header["kid"] in tokens.certs()


def test_a_token_for_another_audience_is_not_believed(tokens):
    with pytest.raises(exceptions.InvalidValue):
        jwt.decode(tokens.mint(EMAIL, "http://127.0.0.1:1"), certs=tokens.certs(), audience=AUDIENCE)


def test_a_token_of_another_signer_is_not_believed(tokens):
    stranger = IdentityTokens(path=None, clock=EmulatorClock())
    with pytest.raises(exceptions.MalformedError):
        jwt.decode(stranger.mint(EMAIL, AUDIENCE), certs=tokens.certs(), audience=AUDIENCE)


def test_an_old_token_is_not_believed(tokens):
    with pytest.raises(exceptions.InvalidValue):
        jwt.decode(tokens.mint(EMAIL, AUDIENCE, timedelta(hours=-1)), certs=tokens.certs(), audience=AUDIENCE)


def test_a_token_is_dated_by_the_clock():
    clock = EmulatorClock(datetime(2026, 1, 1, tzinfo=UTC))
    clock.advance(timedelta(days=1))
    claims = jwt.decode(IdentityTokens(path=None, clock=clock).mint(EMAIL, AUDIENCE), verify=False)
    assert datetime.fromtimestamp(claims["iat"], UTC) == datetime(2026, 1, 2, tzinfo=UTC)


def test_an_account_has_one_number_and_no_other_account_has_it(tokens):
    def number(email: str) -> str:
        return jwt.decode(tokens.mint(email, AUDIENCE), verify=False)["sub"]

    assert number(EMAIL) == number(EMAIL) != number("api@test.iam.gserviceaccount.com")
    assert len(number(EMAIL)) == 21


def test_the_key_set_and_the_certificates_show_one_key(tokens):
    (key,) = tokens.jwks()["keys"]
    ((name, pem),) = tokens.certs().items()
    modulus, exponent = (int.from_bytes(base64.urlsafe_b64decode(key[part] + "=="), "big") for part in "ne")
    assert key["kid"] == name
    certificate = x509.load_pem_x509_certificate(pem.encode())
    assert certificate.public_key().public_numbers() == RSAPublicNumbers(exponent, modulus)


def test_the_key_outlives_the_process_and_is_for_its_owner_alone(tmp_path: Path):
    token = IdentityTokens(path=tmp_path / "data", clock=EmulatorClock()).mint(EMAIL, AUDIENCE)
    again = IdentityTokens(path=tmp_path / "data", clock=EmulatorClock())
    assert jwt.decode(token, certs=again.certs(), audience=AUDIENCE)["email"] == EMAIL
    (file,) = (tmp_path / "data").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
