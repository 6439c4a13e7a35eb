"""Access tokens: one that the authorization server signed for this server is read, and no other, whatever its header says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.workspaces.identity import InvalidAccessTokenError
from ferryman.inmemory.clock import START, ManualClock
from ferryman.ports.errors import UnavailableError
from ferryman.vault.access_tokens import AccessTokenReader, read_keys
from tests.authority import (
    ISSUER,
    RESOURCE,
    SUBJECT,
    Authority,
    build_claims,
    describe_key,
    encode,
    generate_private_key,
    sign_token,
    write_token,
)

PUBLIC_PEM = generate_private_key("RS256").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
NOW = int(START.timestamp())


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def authority() -> Authority:
    return Authority()


@pytest.fixture
def reader(authority: Authority, clock: ManualClock) -> AccessTokenReader:
    return AccessTokenReader(ISSUER, RESOURCE.url, authority, clock)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_a_token_of_the_server_says_whose_it_is_and_its_scopes(reader: AccessTokenReader, algorithm: str) -> None:
    token = await reader.verify(sign_token(algorithm=algorithm))
    assert (token.issuer, token.subject, token.scopes) == (ISSUER, SUBJECT, {"ferryman:read", "ferryman:run"})


@pytest.mark.parametrize("audience", [[RESOURCE.url], ["https://other.test/mcp", RESOURCE.url]])
async def test_a_token_may_be_for_several_servers(reader: AccessTokenReader, audience: list[str]) -> None:
    assert (await reader.verify(sign_token(aud=audience))).subject == SUBJECT


FORGED: dict[str, Callable[[], str]] = {
    "no algorithm": lambda: write_token({"typ": "at+jwt", "alg": "none", "kid": "RS256"}, build_claims()),
    "no algorithm, in capitals": lambda: write_token({"typ": "at+jwt", "alg": "NONE", "kid": "RS256"}, build_claims()),
    "the public key as a secret": lambda: write_token(
        {"typ": "at+jwt", "alg": "HS256", "kid": "RS256"}, build_claims(), secret=PUBLIC_PEM
    ),
    "the secret in the algorithm of another key": lambda: write_token(
        {"typ": "at+jwt", "alg": "RS256", "kid": "RS256"}, build_claims(), secret=PUBLIC_PEM
    ),
    "another key's name": lambda: sign_token(algorithm="EdDSA", header={"kid": "ES256"}),
    "a key of the same name": lambda: sign_token(key=generate_private_key("EdDSA", 1)),
    "no key's name": lambda: sign_token(header={"kid": None}),
    "a path as a key's name": lambda: sign_token(header={"kid": "../../dev/null"}),
    "an empty key's name": lambda: sign_token(header={"kid": ""}),
    "a key in its header": lambda: sign_token(
        key=generate_private_key("EdDSA", 1), header={"kid": "mine", "jwk": describe_key("mine", "EdDSA", 1)}
    ),
    "a URL of keys in its header": lambda: sign_token(
        key=generate_private_key("EdDSA", 1),
        header={"kid": "mine", "jku": "https://evil.test/keys", "x5u": "https://evil.test"},
    ),
    "an extension": lambda: sign_token(header={"crit": ["exp"], "exp": 1}),
    "an ID token": lambda: sign_token(header={"typ": "JWT"}),
    "no type": lambda: sign_token(header={"typ": None}),
    "another issuer": lambda: sign_token(iss="https://login.example.test/other"),
    "an issuer with a slash": lambda: sign_token(iss=f"{ISSUER}/"),
    "an issuer in a list": lambda: sign_token(iss=[ISSUER]),
    "no issuer": lambda: sign_token(iss=None),
    "another audience": lambda: sign_token(aud="https://other.test/mcp"),
    "an audience that begins alike": lambda: sign_token(aud=f"{RESOURCE.url}/more"),
    "an audience in capitals": lambda: sign_token(aud=RESOURCE.url.upper()),
    "an audience within another": lambda: sign_token(aud=f"https://evil.test/?{RESOURCE.url}"),
    "no audience": lambda: sign_token(aud=None),
    "an audience that is an object": lambda: sign_token(aud={RESOURCE.url: 1}),
    "too many audiences": lambda: sign_token(aud=[RESOURCE.url] * 21),
    "expired": lambda: sign_token(exp=NOW - 30),
    "no expiry": lambda: sign_token(exp=None),
    "an expiry as a text": lambda: sign_token(exp=str(NOW + 60)),
    "an expiry without end": lambda: sign_token(exp=10**30),
    "an expiry that is true": lambda: write_token({"typ": "at+jwt"}, build_claims(exp=True)),
    "not valid yet": lambda: sign_token(nbf=NOW + 31),
    "issued in the future": lambda: sign_token(iat=NOW + 31),
    "no subject": lambda: sign_token(sub=None),
    "an empty subject": lambda: sign_token(sub=""),
    "a long subject": lambda: sign_token(sub="a" * 256),
    "a subject that is half a character": lambda: sign_token(sub="\ud800"),
    "scopes in a list": lambda: sign_token(scope=["ferryman:run"]),
    "too many scopes": lambda: sign_token(scope=" ".join(map(str, range(101)))),
    "claims that are a list": lambda: write_token({"typ": "at+jwt", "alg": "EdDSA", "kid": "EdDSA"}, [1]),
    "a token that is too long": lambda: sign_token(jti="a" * 8_192),
    "two parts": lambda: sign_token().rpartition(".")[0],
    "encrypted": lambda: "a.b.c.d.e",
    "deep nesting": lambda: f"{encode(b'[' * 4_000)}.{encode(b'{}')}.{encode(b'x')}",
    "a header that is no object": lambda: write_token([], build_claims()),  # type: ignore[arg-type] # hostile
    "nothing": lambda: "",
    "an API key": lambda: "fm_" + "a" * 43,
}


@pytest.mark.parametrize("name", FORGED)
async def test_no_other_token_is_accepted(reader: AccessTokenReader, name: str) -> None:
    with pytest.raises(InvalidAccessTokenError):
        await reader.verify(FORGED[name]())


@settings(max_examples=200, deadline=None)
@given(place=st.integers(0, 10_000), character=st.sampled_from("AQgw.-_0é"))
def test_no_token_with_another_character_is_accepted(place: int, character: str) -> None:
    reader = AccessTokenReader(ISSUER, RESOURCE.url, Authority(), ManualClock())
    token = sign_token()
    place %= len(token)
    if token[place] == character:
        return
    with pytest.raises(InvalidAccessTokenError):
        asyncio.run(reader.verify(token[:place] + character + token[place + 1 :]))


@pytest.mark.parametrize("claims", [{"exp": NOW - 29}, {"nbf": NOW + 30}, {"iat": NOW + 30}], ids=str)
async def test_clocks_may_be_half_a_minute_apart(reader: AccessTokenReader, claims: dict[str, Any]) -> None:
    assert (await reader.verify(sign_token(**claims))).subject == SUBJECT


async def test_a_token_expires_by_our_clock(reader: AccessTokenReader, clock: ManualClock) -> None:
    token = sign_token()
    await reader.verify(token)
    clock.turn(3_600 + 30)
    with pytest.raises(InvalidAccessTokenError, match="expired"):
        await reader.verify(token)


async def test_keys_are_fetched_once_for_all_that_wait(reader: AccessTokenReader, authority: Authority) -> None:
    await asyncio.gather(*(reader.verify(sign_token()) for _ in range(20)))
    assert authority.fetches == 1


async def test_an_unknown_key_has_them_fetched_again_at_most_once_a_minute(
    reader: AccessTokenReader, authority: Authority, clock: ManualClock
) -> None:
    rotated = sign_token(key=generate_private_key("EdDSA", 2), header={"kid": "next"})
    for _ in range(5):
        with pytest.raises(InvalidAccessTokenError):
            await reader.verify(rotated)
    assert authority.fetches == 1
    authority.listed = [*authority.listed, describe_key("next", "EdDSA", 2)]
    clock.turn(60)
    assert (await reader.verify(rotated)).subject == SUBJECT
    assert authority.fetches == 2


async def test_a_token_of_a_known_key_does_not_wait_while_keys_are_fetched_for_an_unknown_one(
    reader: AccessTokenReader, authority: Authority, clock: ManualClock
) -> None:
    await reader.verify(sign_token())
    clock.turn(60)
    authority.gate = asyncio.Event()
    unknown = asyncio.create_task(reader.verify(sign_token(header={"kid": "nobody's"})))
    await asyncio.sleep(0)
    assert authority.fetches == 2
    async with asyncio.timeout(5):
        assert (await reader.verify(sign_token())).subject == SUBJECT
    authority.gate.set()
    with pytest.raises(InvalidAccessTokenError):
        await unknown


async def test_a_key_that_the_server_withdrew_is_of_no_use_after_an_hour(
    reader: AccessTokenReader, authority: Authority, clock: ManualClock
) -> None:
    await reader.verify(sign_token())
    authority.listed = [describe_key("RS256", "RS256")]
    clock.turn(3_600)
    with pytest.raises(InvalidAccessTokenError, match="no key of that name"):
        await reader.verify(sign_token(now=clock.now()))


async def test_nothing_is_accepted_while_the_keys_cannot_be_fetched(reader: AccessTokenReader, authority: Authority) -> None:
    authority.fails = UnavailableError("it does not answer")
    with pytest.raises(UnavailableError):
        await reader.verify(sign_token())


async def test_keys_that_could_not_be_fetched_are_asked_for_again_after_some_seconds(
    reader: AccessTokenReader, authority: Authority, clock: ManualClock
) -> None:
    authority.fails = UnavailableError("it does not answer")
    for _ in range(10):
        with pytest.raises(UnavailableError):
            await reader.verify(sign_token())
    assert authority.fetches == 1
    authority.fails = None
    clock.turn(5)
    assert (await reader.verify(sign_token())).subject == SUBJECT
    assert authority.fetches == 2


def test_keys_that_no_token_may_be_signed_with_are_left_out() -> None:
    weak = rsa.generate_private_key(65537, 1024).public_key().public_numbers()
    number = encode(weak.n.to_bytes(128, "big"))
    listed: list[dict[str, Any]] = [
        {"kty": "oct", "k": encode(b"secret" * 8), "kid": "symmetric", "alg": "HS256"},
        {**describe_key("encryption", "RS256"), "use": "enc"},
        {**describe_key("algorithm", "RS256"), "alg": "HS256"},
        {**describe_key("other algorithm", "RS256"), "alg": "RS512"},
        {**describe_key("broken", "ES256"), "x": "!"},
        {**describe_key("none", "EdDSA"), "kid": None},
        describe_key("twice", "EdDSA"),
        describe_key("twice", "EdDSA", 1),
        describe_key("good", "EdDSA"),
    ]
    assert set(read_keys(listed)) == {"good"}
    assert set(read_keys([{"kty": "RSA", "n": number, "e": "AQAB", "kid": "weak"}])) == {"weak"}


async def test_a_weak_key_verifies_nothing(authority: Authority, reader: AccessTokenReader) -> None:
    weak = rsa.generate_private_key(65537, 1024)
    number = encode(weak.public_key().public_numbers().n.to_bytes(128, "big"))
    authority.listed = [{"kty": "RSA", "n": number, "e": "AQAB", "kid": "weak"}]
    with pytest.warns(UserWarning, match="below the minimum"):
        token = sign_token(algorithm="RS256", key=weak, header={"kid": "weak"})
    with pytest.raises(InvalidAccessTokenError):
        await reader.verify(token)
