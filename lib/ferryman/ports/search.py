"""The port of web search: one search engine, which the operator chose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ferryman.domain.search import FoundPage


class SearchFailedError(Exception):
    """The engine has not answered with results. The text says why, for a model; `code` is one of `domain.calls.suggestion`."""

    def __init__(self, text: str, *, code: str) -> None:
        self.code = code
        super().__init__(text)


class SearchEngine(Protocol):
    """A search engine at an endpoint that no argument of a call changes (`NetworkPolicy.OPERATOR_ENDPOINT`).

    `search` returns at most `most` results in the engine's order, no page twice. `query` is what is searched for, as it leaves;
    `owner` is whose answers wait for each other where they take long to read. Raise `SearchFailedError`.
    """

    async def search(self, query: str, *, most: int, owner: str) -> Sequence[FoundPage]: ...
