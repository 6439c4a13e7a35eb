"""The service: one store, served at a port for each caller, in both APIs."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
from collections.abc import Mapping
from pathlib import Path

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from emulator.clock import EmulatorClock
from emulator.objects.accounts import AccountKeys
from emulator.objects.callers import CallerCheck, StorageCaller
from emulator.objects.errors import StorageError, denied, invalid, unsupported
from emulator.objects.exchange import StorageRequest, answer_json_error, split_path
from emulator.objects.json_api import find_handler, get_object
from emulator.objects.parts import Parts
from emulator.objects.resumable import ResumableUploads
from emulator.objects.s3 import S3Api
from emulator.objects.signatures import UNSIGNED, RequestSignature
from emulator.objects.store import SCHEMA, ObjectStore
from emulator.objects.uploads import Uploads
from emulator.objects.xml import answer_xml_error
from emulator.storage import open_store
from emulator.web import App, Receive, Scope, Send

JSON, UPLOAD, DOWNLOAD = ("storage", "v1"), ("upload", "storage", "v1"), ("download", "storage", "v1")
SIGN = (":signBlob", ("v1", "projects", "-", "serviceAccounts"))


class ObjectStoreEmulator:
    """Buckets and objects, durable in the folder `path`; in memory for None. Signatures are of the time of `real`."""

    def __init__(self, *, path: Path | None, clock: EmulatorClock, real: EmulatorClock | None = None) -> None:
        self._store = ObjectStore(open_store(path, "objects", SCHEMA), clock)
        self._real = real or EmulatorClock()
        self._keys = AccountKeys(self._store.db)
        self._uploads = Uploads(ResumableUploads(self._store))
        self._s3 = S3Api(Parts(self._store))
        self._collecting: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to delete contents that nothing refers to, also those of a process that died."""
        self._store.tidy()
        self._collecting = asyncio.create_task(self._store.contents.collect_always())

    async def close(self) -> None:
        """Close the file."""
        if self._collecting is not None:
            self._collecting.cancel()
            await asyncio.gather(self._collecting, return_exceptions=True)
        self._store.close()

    def app(self, caller: StorageCaller, accounts: Mapping[str, StorageCaller]) -> App:
        """Return the application for the port of one caller; `accounts` are those whose signed URLs count, by address."""
        check = CallerCheck(caller, accounts, self._keys)

        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope, receive)
            with contextlib.suppress(ClientDisconnect):
                response = await self._answer(request, check)
                await response(scope, receive, send)

        return serve

    async def _answer(self, request: Request, check: CallerCheck) -> Response:
        signature: RequestSignature | None = None
        is_json = request.scope["path"].startswith(("/storage/v1/", "/upload/", "/download/", "/v1/"))
        try:
            caller, signature = check.identify(request, self._real.now())
            payload = None if signature is None or signature.payload == UNSIGNED else signature.payload
            path = split_path(request.scope["raw_path"])
            if signature is not None:
                is_json = False
                return await self._s3.answer(StorageRequest(request, caller, self._store, path, payload))
            return await self._answer_json(request, caller, path)
        except StorageError as error:
            answer = answer_json_error(error) if is_json else answer_xml_error(error, body=request.method != "HEAD")
            if "expect" in request.headers:
                # the client, which waits for a word before it sends the body, now never does: nothing may follow in its place
                answer.headers["connection"] = "close"
            return answer

    async def _answer_json(self, request: Request, caller: StorageCaller, path: tuple[str, ...]) -> Response:
        if path[:2] == JSON:
            return await find_handler(request.method, path[2:])(StorageRequest(request, caller, self._store, path[2:]))
        exchange = StorageRequest(request, caller, self._store, path[3:])
        if path[:3] == UPLOAD:
            return await self._uploads.answer(exchange)
        if path[:3] == DOWNLOAD and path[3:4] + path[5:6] == ("b", "o") and len(path) == 7 and request.method == "GET":
            return await get_object(exchange)
        suffix, parents = SIGN
        if path[:4] == parents and len(path) == 5 and path[4].endswith(suffix) and request.method == "POST":
            return await self._sign(exchange, path[4].removesuffix(suffix))
        raise unsupported(f"{request.method} {request.url.path}")

    async def _sign(self, exchange: StorageRequest, email: str) -> Response:
        """Return a signature of an account: anybody's for the operator, its own for a function that may sign."""
        caller = exchange.caller
        if caller.grants is not None and not (caller.grants.signs and email == caller.email):
            raise denied("iam.serviceAccounts.signBlob", email)
        try:
            payload = base64.b64decode(str((await exchange.read_json()).get("payload", "")), validate=True)
        except binascii.Error as error:
            raise invalid("The payload must be in base64.") from error
        signature = base64.b64encode(await self._keys.sign(email, payload)).decode()
        return JSONResponse({"keyId": email, "signedBlob": signature})
