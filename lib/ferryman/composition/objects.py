"""The bucket that files are kept in, as the settings name it."""

from __future__ import annotations

from ferryman.gcp.http import HttpClient
from ferryman.gcp.identity import MetadataAccess
from ferryman.objects.account_signer import GOOGLE_CREDENTIALS, AccountSigner
from ferryman.objects.google import GOOGLE_STORAGE, GoogleObjects
from ferryman.objects.s3 import S3Objects
from ferryman.objects.sending import BucketClient
from ferryman.ports.clock import Clock
from ferryman.ports.objects import Objects
from ferryman.settings import Settings


def build_wire(settings: Settings) -> HttpClient:
    """Return the HTTP client for the bucket's service, which its owner closes. One without TLS is on this machine."""
    url = settings.s3_endpoint or settings.storage_host or GOOGLE_STORAGE
    return HttpClient(local=url.startswith("http://"))


def build_objects(settings: Settings, wire: HttpClient, clock: Clock) -> Objects | None:
    """Return the bucket; None where there is none, and so no tool of files is offered (`Settings.has_files`).

    `wire` is what `build_wire` returns.
    """
    client = BucketClient(wire.client)
    if settings.s3 is not None:
        return S3Objects(client, settings.s3, clock)
    if not settings.objects_bucket:
        return None

    async def get_local_token() -> str:
        return settings.local_token or ""

    access = MetadataAccess(wire, settings)
    token = access.token if settings.storage_host is None else get_local_token
    # the local cloud signs where its objects are
    signer = AccountSigner(client, email=access.email, token=token, root=settings.storage_host or GOOGLE_CREDENTIALS)
    root = settings.storage_host or GOOGLE_STORAGE
    return GoogleObjects(client, settings.objects_bucket, token=token, signer=signer, clock=clock, root=root)
