"""Signatures of the account that this runs as, made by Google: the account's key never leaves it.

https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/signBlob
"""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable

import httpx

from ferryman.objects.sending import BucketClient
from ferryman.ports.errors import RejectedError, UnavailableError

GOOGLE_CREDENTIALS = "https://iamcredentials.googleapis.com"


class AccountSigner:
    """Signs by `signBlob`. `email` returns the account's address, `token` an access token of it."""

    def __init__(
        self,
        client: BucketClient,
        *,
        email: Callable[[], Awaitable[str]],
        token: Callable[[], Awaitable[str]],
        root: str = GOOGLE_CREDENTIALS,
    ) -> None:
        self._client = client
        self.get_email = email
        self._token = token
        self._root = root

    async def sign(self, email: str, content: bytes) -> bytes:
        """Return the signature (RSA, PKCS #1 v1.5, SHA-256).

        Raise `UnavailableError`, and `RejectedError` where the account may not sign.
        """
        body = json.dumps({"payload": base64.b64encode(content).decode()}).encode()
        answer = await self._client.send(
            "POST",
            f"{self._root}/v1/projects/-/serviceAccounts/{email}:signBlob",
            headers={"Authorization": f"Bearer {await self._token()}", "Content-Type": "application/json"},
            content=(body,),
            expected=(httpx.codes.OK, httpx.codes.FORBIDDEN),
        )
        if answer.status == httpx.codes.FORBIDDEN:
            raise RejectedError("the account may not sign: it needs roles/iam.serviceAccountTokenCreator on itself")
        try:
            return base64.b64decode(json.loads(answer.content)["signedBlob"], validate=True)
        except (ValueError, KeyError, TypeError):
            raise UnavailableError("Google gave a signature that cannot be read") from None
