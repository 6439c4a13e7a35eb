"""The composition root of `platform_call`: calls under way are read, signed and sent to the platform. It stores nothing."""

from __future__ import annotations

from ferryman.composition.request_keys import build_request_keys
from ferryman.gcp.clock import SystemClock
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.http import HttpClient
from ferryman.gcp.identity import MetadataIdentity, TokenCallers
from ferryman.gcp.log import JsonLog
from ferryman.gcp.platform import PlatformClient, find_endpoint
from ferryman.gcp.running_calls import FirestoreRunningCalls
from ferryman.gcp.secret_manager import SecretManagerClient
from ferryman.settings import Settings
from ferryman.telemetry.traces import OtelTracer
from ferryman.tools.platform.forwarding import ForwardingDependencies


class PlatformCallFunction:
    """What the function is made of."""

    def __init__(self, settings: Settings) -> None:
        wire, clock = HttpClient(local=settings.local), SystemClock()
        self.firestore, self.secrets = FirestoreClient(settings), SecretManagerClient(settings)
        self.callers = TokenCallers(wire, settings)
        self.tracer = OtelTracer(JsonLog(), settings)
        self.keys = build_request_keys(self.secrets, settings)
        url, audience = find_endpoint(settings)
        platform = PlatformClient(
            wire=wire,
            url=url,
            audience=audience,
            keys=self.keys,
            clock=clock,
            token=MetadataIdentity(wire, settings).token,
            traceparent=self.tracer.traceparent,
        )
        self.forwarding = ForwardingDependencies(
            calls=FirestoreRunningCalls(self.firestore),
            platform=platform,
            clock=clock,
            user=settings.platform_user_id,
            workspace=settings.platform_workspace_id,
        )

    def load(self) -> None:
        """Import what a first call needs besides."""
        self.firestore.load()
        self.callers.load()
        self.secrets.load()
        OtelTracer.load()

    async def warm(self) -> None:
        """Connect, and read the key: what a first call would wait for."""
        await self.firestore.warm()
        await self.secrets.warm()
        await self.keys.valid()
