"""Methods: the clients' methods made of the routes' descriptions, with their signatures, so that none is written twice."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from ferryman.client.request import AnswerPage, ApiRequest

P = ParamSpec("P")
Answer = TypeVar("Answer")
Item = TypeVar("Item")


class RequestSender(Protocol):
    """A client that sends a request and returns the answer."""

    def send(self, request: ApiRequest[Answer], /) -> Answer:
        """Send `request`, again where it may be and has to be."""
        ...


class AsyncRequestSender(Protocol):
    """A client whose sending is awaited."""

    async def send(self, request: ApiRequest[Answer], /) -> Answer:
        """Send `request`, again where it may be and has to be."""
        ...


def method(describe: Callable[P, ApiRequest[Answer]]) -> Callable[Concatenate[RequestSender, P], Answer]:
    """Return the method that sends what `describe` describes."""

    @functools.wraps(describe)
    def send(self: RequestSender, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        return self.send(describe(*args, **kwargs))

    return _sign(send, describe)


def async_method(describe: Callable[P, ApiRequest[Answer]]) -> Callable[Concatenate[AsyncRequestSender, P], Awaitable[Answer]]:
    """Return the method that sends what `describe` describes, to be awaited."""

    @functools.wraps(describe)
    async def send(self: AsyncRequestSender, /, *args: P.args, **kwargs: P.kwargs) -> Answer:
        return await self.send(describe(*args, **kwargs))

    return _sign(send, describe)


def pager(describe: Callable[P, ApiRequest[AnswerPage[Item]]]) -> Callable[Concatenate[RequestSender, P], Iterator[Item]]:
    """Return the method that yields the items of all pages of a list."""

    @functools.wraps(describe)
    def iterate(self: RequestSender, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[Item]:
        request = describe(*args, **kwargs)
        while True:
            page = self.send(request)
            yield from page
            if page.next is None:
                return
            request = request.turn_page(page.next)

    return _sign(iterate, describe)


def async_pager(
    describe: Callable[P, ApiRequest[AnswerPage[Item]]],
) -> Callable[Concatenate[AsyncRequestSender, P], AsyncIterator[Item]]:
    """Return the method that yields the items of all pages of a list, for `async for`."""

    @functools.wraps(describe)
    async def iterate(self: AsyncRequestSender, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[Item]:
        request = describe(*args, **kwargs)
        while True:
            page = await self.send(request)
            for item in page:
                yield item
            if page.next is None:
                return
            request = request.turn_page(page.next)

    return _sign(iterate, describe)


Method = TypeVar("Method", bound=Callable[..., Any])


def _sign(target: Method, describe: Callable[..., Any]) -> Method:
    """Give a method the parameters of its description, behind `self`, for `help` and editors."""
    signature = inspect.signature(describe)
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    parameters = [itself, *signature.parameters.values()]
    target.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined] # what inspect reads first
    return target
