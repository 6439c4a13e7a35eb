"""The port by which a key holder fetches documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class DocumentFetcher(Protocol):
    """Has a key holder fetch a document, with those it refers to, through the gate, for the owner of `task`.

    Returns their texts by URL, in UTF-8. Raises `InvalidInputError` with a message for the owner, or `UnavailableError`.
    """

    async def fetch(self, task: str, *, owner: str, url: str) -> Mapping[str, bytes]: ...
