"""Identity: whose token is accepted, and which of seven forgeries is not."""

from __future__ import annotations

import base64
import json
from datetime import timedelta

import httpx
import pytest

from emulator.clock import EmulatorClock
from emulator.identity import IdentityTokens
from ferryman.gcp.identity import MetadataAccess, TokenCallers
from ferryman.ports.errors import UnavailableError
from ferryman.settings import Settings

AUDIENCE = "https://tool.test"
QUEUE = "ferryman-queue@p.iam.gserviceaccount.com"


class Certificates:
    """A wire whose other end serves the certificates of one key pair, or nothing at all."""

    def __init__(self, certs) -> None:
        self._certs = certs

    def client(self) -> httpx.AsyncClient:
        def answer(request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, json=self._certs) if self._certs else httpx.Response(500)

        return httpx.AsyncClient(transport=httpx.MockTransport(answer))


@pytest.fixture
def tokens(tmp_path):
    return IdentityTokens(path=tmp_path / "ours", clock=EmulatorClock())


@pytest.fixture
def callers(tokens):
    return TokenCallers(Certificates(tokens.certs()), Settings())


async def identify(callers, token: str) -> str:
    return await callers.identify(f"Bearer {token}", audience=AUDIENCE)


def segment(value) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def claims(token: str) -> dict:
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


async def test_a_token_for_this_audience_names_its_caller(callers, tokens):
    assert await identify(callers, tokens.mint(QUEUE, AUDIENCE)) == QUEUE


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer ", "Basic abc", "Bearer not.a.token"])
async def test_what_is_no_token_is_refused(callers, authorization):
    with pytest.raises(PermissionError):
        await callers.identify(authorization, audience=AUDIENCE)


async def test_a_token_for_another_audience_is_refused(callers, tokens):
    with pytest.raises(PermissionError):
        await identify(callers, tokens.mint(QUEUE, "https://other.test"))


async def test_an_expired_token_is_refused(callers, tokens):
    with pytest.raises(PermissionError):
        await identify(callers, tokens.mint(QUEUE, AUDIENCE, lifetime=timedelta(seconds=-120)))


async def test_a_token_signed_by_another_key_is_refused(callers, tmp_path):
    with pytest.raises(PermissionError):
        await identify(callers, IdentityTokens(path=tmp_path / "theirs", clock=EmulatorClock()).mint(QUEUE, AUDIENCE))


async def test_an_unsigned_token_is_refused(callers, tokens):
    real = claims(tokens.mint(QUEUE, AUDIENCE))
    with pytest.raises(PermissionError):
        await identify(callers, f"{segment({'alg': 'none', 'typ': 'JWT'})}.{segment(real)}.")


async def test_a_token_whose_claims_were_changed_is_refused(callers, tokens):
    head, _, signature = tokens.mint(QUEUE, AUDIENCE).split(".")
    forged = {**claims(tokens.mint(QUEUE, AUDIENCE)), "email": "someone@else.test"}
    with pytest.raises(PermissionError):
        await identify(callers, f"{head}.{segment(forged)}.{signature}")


async def test_a_token_made_with_the_public_key_as_a_shared_secret_is_refused(callers, tokens):
    import hmac

    kid, certificate = next(iter(tokens.certs().items()))
    signed = f"{segment({'alg': 'HS256', 'typ': 'JWT', 'kid': kid})}.{segment(claims(tokens.mint(QUEUE, AUDIENCE)))}"
    mark = base64.urlsafe_b64encode(hmac.digest(certificate.encode(), signed.encode(), "sha256")).rstrip(b"=").decode()
    with pytest.raises(PermissionError):
        await identify(callers, f"{signed}.{mark}")


async def test_a_caller_is_not_identified_while_the_certificates_cannot_be_had(tokens):
    with pytest.raises(UnavailableError):
        await identify(TokenCallers(Certificates(None), Settings()), tokens.mint(QUEUE, AUDIENCE))


class MetadataServer:
    """A wire whose other end is a metadata server that counts the access tokens it gave."""

    def __init__(self, answer: dict) -> None:
        self._answer = answer
        self.count = 0

    def client(self) -> httpx.AsyncClient:
        def answer(request: httpx.Request) -> httpx.Response:
            assert request.headers["metadata-flavor"] == "Google"
            assert request.url.path == "/computeMetadata/v1/instance/service-accounts/default/token"
            self.count += 1
            return httpx.Response(200, json={"access_token": f"token {self.count}", **self._answer})

        return httpx.AsyncClient(transport=httpx.MockTransport(answer))


@pytest.mark.parametrize(("lives", "second"), [(3_600, "token 1"), (299, "token 2"), (0, "token 2")])
async def test_an_access_token_is_kept_until_shortly_before_it_expires(lives, second):
    access = MetadataAccess(MetadataServer({"expires_in": lives}), Settings())
    assert [await access.token(), await access.token()] == ["token 1", second]


@pytest.mark.parametrize("answer", [{}, {"expires_in": "soon"}, {"expires_in": None}])
async def test_an_answer_without_an_access_token_is_unavailable(answer):
    with pytest.raises(UnavailableError, match="access token"):
        await MetadataAccess(MetadataServer(answer), Settings()).token()
