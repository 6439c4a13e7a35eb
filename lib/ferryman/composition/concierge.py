"""The composition root of `concierge`: local functions with a `db`, and users' documents to read. It has no key, no model."""

from __future__ import annotations

from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.http import HttpClient
from ferryman.gcp.identity import TokenCallers
from ferryman.gcp.log import JsonLog
from ferryman.gcp.user_documents import FirestoreUserDocuments
from ferryman.settings import Settings
from ferryman.telemetry.traces import OtelTracer
from ferryman.tools.own_files import load_own_files

TOOLS = load_own_files("ferryman.tools.concierge")
"""The local functions that keep something for a user; each registers itself when it is imported (S2-24)."""


class ConciergeFunction:
    """What the function is made of."""

    def __init__(self, settings: Settings) -> None:
        self.firestore = FirestoreClient(settings)
        self.documents = FirestoreUserDocuments(self.firestore)
        self.callers = TokenCallers(HttpClient(local=settings.local), settings)
        self.tracer = OtelTracer(JsonLog(), settings)

    def load(self) -> None:
        """Import what a first call needs besides."""
        self.firestore.load()
        self.callers.load()
        OtelTracer.load()

    async def warm(self) -> None:
        """Connect: what a first call would wait for."""
        await self.firestore.warm()
