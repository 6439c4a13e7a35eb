"""Whether a provider was reached: only then it may have answered, and been paid for it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import anthropic
import httpx2
import pytest

from ferryman.domain.executions.message import Prompt
from ferryman.models.anthropic import AnthropicModel
from ferryman.models.reaching import explain_unreached
from ferryman.ports.errors import RejectedError, UnavailableError, UnreachedError
from ferryman.settings import Settings

PROMPT = Prompt(model="scripted", system="s", messages=({"role": "user", "content": "x"},), max_tokens=100)
BEFORE = {"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol"}


def list_errors(kind: type[Exception]) -> Iterator[type[Exception]]:
    yield kind
    for inner in kind.__subclasses__():
        yield from list_errors(inner)


def wrap(error: BaseException) -> anthropic.APIConnectionError:
    """Return the SDK's error for an error of its transport."""
    wrapped = anthropic.APIConnectionError(request=httpx2.Request("POST", "https://a.test"))
    wrapped.__cause__ = error
    return wrapped


async def ask(url: str) -> UnavailableError | RejectedError:
    """Return the error that one request to a provider at `url` ends with."""
    model = AnthropicModel(Settings(scripted_model_url=url))
    try:
        with pytest.raises((UnavailableError, RejectedError)) as caught:
            await model._reply(PROMPT)
    finally:
        await model.close()
    return caught.value


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[int]:
    """Yield the port of a server that reads the head of a request, answers with these bytes and hangs up."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1_000)
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize("kind", sorted(list_errors(httpx2.TransportError), key=lambda kind: kind.__name__))
def test_only_an_error_from_before_the_connection_stood_means_that_nothing_was_sent(kind: type[Exception]) -> None:
    assert (explain_unreached(wrap(kind("x"))) is not None) == (kind.__name__ in BEFORE)


def test_an_error_that_only_followed_a_failed_connection_means_nothing() -> None:
    error = httpx2.ReadError("x")
    error.__cause__ = httpx2.ConnectError("x")
    assert explain_unreached(wrap(error)) is None


def test_an_error_without_a_cause_means_nothing() -> None:
    assert explain_unreached(anthropic.APIConnectionError(request=httpx2.Request("POST", "https://a.test"))) is None


def test_an_identity_that_cannot_be_fetched_comes_before_the_request() -> None:
    from google.auth.exceptions import RefreshError

    assert explain_unreached(RefreshError("secret")) == "no identity for it could be fetched (RefreshError)"


def test_a_name_that_cannot_be_resolved_is_the_reason() -> None:
    error = httpx2.ConnectError("x")
    error.__cause__ = socket.gaierror(-2, "Name or service not known")
    assert explain_unreached(wrap(error)) == "its name could not be resolved"


async def test_a_provider_that_refuses_the_connection_was_sent_nothing(closed_port: int) -> None:
    error = await ask(f"http://127.0.0.1:{closed_port}")
    assert isinstance(error, UnreachedError)
    assert (error.lost, str(error)) == (False, "the model's provider was not reached: it refused the connection")


async def test_a_provider_without_tls_was_sent_nothing() -> None:
    async with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        error = await ask(f"https://127.0.0.1:{port}")
    assert isinstance(error, UnreachedError)
    assert str(error) == "the model's provider was not reached: the TLS handshake failed"


async def test_a_connection_that_ends_once_the_request_was_sent_may_have_been_answered() -> None:
    async with answering(b"") as port:
        error = await ask(f"http://127.0.0.1:{port}")
    assert (isinstance(error, UnreachedError), error.lost) == (False, True)


async def test_a_redirect_takes_key_and_prompt_nowhere(closed_port: int) -> None:
    answer = f"HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:{closed_port}/\r\ncontent-length: 0\r\n\r\n"
    async with answering(answer.encode()) as port:
        error = await ask(f"http://127.0.0.1:{port}")
    assert isinstance(error, RejectedError)
    assert str(error) == "the model's provider is at another address (307)"


async def test_all_attempts_at_a_provider_are_counted(closed_port: int) -> None:
    model = AnthropicModel(Settings(scripted_model_url=f"http://127.0.0.1:{closed_port}"))
    with pytest.raises(UnreachedError) as caught:
        await model.reply(PROMPT)
    await model.close()
    assert caught.value.attempts == 3


async def cancel_reply(url: str, when: asyncio.Event) -> BaseException:
    """Return what a reply ends with that is cancelled once `when` is set."""
    model = AnthropicModel(Settings(scripted_model_url=url))
    try:
        asking = asyncio.ensure_future(model.reply(PROMPT))
        await when.wait()
        asking.cancel()
        (ended,) = await asyncio.gather(asking, return_exceptions=True)
    finally:
        await model.close()
    assert isinstance(ended, BaseException)
    return ended


@asynccontextmanager
async def listening(*, reads: bool) -> AsyncIterator[tuple[int, asyncio.Event]]:
    """Yield the port of a server that answers nothing, and what is set once it has a connection, or has read of it."""
    begun = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if reads:
            await reader.read(1)
        begun.set()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(handle, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], begun


async def test_a_reply_that_is_cancelled_before_anything_was_sent_was_not_reached() -> None:
    async with listening(reads=False) as (port, begun):
        # the server never answers the handshake
        ended = await cancel_reply(f"https://127.0.0.1:{port}", begun)
    assert isinstance(ended, UnreachedError)


async def test_a_reply_that_is_cancelled_after_a_byte_was_sent_may_be_billed() -> None:
    async with listening(reads=True) as (port, begun):
        ended = await cancel_reply(f"http://127.0.0.1:{port}", begun)
    assert isinstance(ended, asyncio.CancelledError)
