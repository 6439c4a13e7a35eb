"""Idempotency keys over HTTP: every POST takes one, and a retry under it is answered as the first request was.

The answer of a request that has an effect is stored in the transaction that has it (`IdempotentRequest.complete`); of any
other, once it is known. It is sealed under the secret of who asked, which is stored nowhere: the API key, or the secret of the
session of the console. What fails is not kept: the next attempt is made as if it were the first.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Header, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, JsonValue
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.owners import idempotency
from ferryman.domain.owners.idempotency import AnsweredError, Completion, KeyedRequest
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.access import CurrentCaller, Dependencies, read_secret
from ferryman.serving.api.edge import IMPORT_PATH
from ferryman.serving.api.rights import Caller
from ferryman.vault.answers import StoredResponse, compute_fingerprint, open_response, seal_response

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
ABOUT = (
    "A string in double quotes, 1 to 255 printable ASCII characters, new for each thing that is asked for (a UUID, say). "
    "For 24 hours the same request under it is answered as the first one was, and has no further effect."
)
FORM: dict[str, JsonValue] = {
    "pattern": r'^"([ !#-\[\]-~]|\\["\\]){1,255}"$',
    "examples": ['"monday-report"'],
}


@dataclass
class IdempotentRequest:
    """A request that may have an idempotency key. Without one, nothing here does anything, and every name is new."""

    deps: ApiDependencies
    caller: Caller
    secret: str
    key: str | None
    claimed: KeyedRequest | None = None
    answered: bool = False

    @property
    def now(self) -> datetime:
        """When the request came: the same moment in every attempt at it."""
        return self.deps.clock.now() if self.claimed is None else self.claimed.claimed_at

    def name(self, prefix: str) -> str:
        """Return a name for something that is made in several steps: the same one in every attempt."""
        return self.deps.ids.new(prefix) if self.claimed is None else self.claimed.name(prefix)

    async def begin(self, request: Request) -> None:
        """Claim the key for this request. Raise 422, `InProgressError`, and `AnsweredError` where it has its answer."""
        if self.key is None:
            return
        owner = self.caller.owner.id
        now, address = self.deps.clock.now(), f"{request.url.path}?{request.url.query}"
        keyed_request = KeyedRequest(
            id=idempotency.derive_id(owner, self.key, workspace=self._name_workspace(), person=self.caller.person),
            owner=owner,
            workspace=self.caller.workspace,
            # in a thread, as everything here that may take megabytes
            fingerprint=await to_thread(
                compute_fingerprint, self.secret, request.method.encode(), address.encode(), await request.body()
            ),
            seed=self.deps.ids.new("seed"),
            claimed_at=now,
            until=now + idempotency.ATTEMPT,
        )
        try:
            claimed = await self.deps.keyed.claim(keyed_request, now=now)
        except idempotency.KeyReusedError:
            detail = f"this {HEADER} was used for another request, or with another API key; nothing was done"
            raise HTTPException(422, detail) from None
        if claimed.answer is not None:
            raise AnsweredError(claimed)
        self.claimed = claimed

    async def complete(
        self,
        status: int,
        answer: BaseModel | Response,
        *,
        location: str | None = None,
        brief: Callable[[], Awaitable[Response]] | None = None,
    ) -> Completion | None:
        """Return what is stored together with the effect: the answer, or a `brief` one where that is too large to be kept."""
        if self.claimed is None:
            return None
        self.answered = True
        response = answer if isinstance(answer, Response) else JSONResponse(answer.model_dump(mode="json"))
        sealed = await self._seal(self.claimed, status, location, response)
        if len(sealed) > idempotency.ANSWER_BYTES_MAX and brief is not None:
            sealed = await self._seal(self.claimed, status, location, await brief())
        return Completion(request=self.claimed, answer=sealed)

    async def end(self, response: Response | None) -> None:
        """Keep the answer where it was not stored with an effect; after a failure, have the next attempt not wait."""
        if self.claimed is None or (self.answered and response is not None):
            return
        try:
            if response is not None:
                sealed = await self._seal(self.claimed, response.status_code, response.headers.get("location"), response)
                if len(sealed) <= idempotency.ANSWER_BYTES_MAX:
                    await self.deps.keyed.complete(Completion(request=self.claimed, answer=sealed))
                    return
            # it failed, or it had no effect: whatever has one completes the request itself, with a brief answer if need be
            await self.deps.keyed.release(self.claimed)
        except (UnavailableError, AnsweredError, idempotency.InProgressError) as error:
            # what was done is done, and who asked is told; a retry waits until this attempt counts as over
            self.deps.tracer.line("request.not_kept", severity="WARNING", error=type(error).__name__)

    async def replay(self, request: KeyedRequest) -> Response:
        """Return the answer that `request` was given."""
        assert request.answer is not None, "it was answered"
        answer = await to_thread(open_response, self.secret, request.id, request.answer)
        headers = {REPLAYED: "true"} | ({"Location": answer.location} if answer.location else {})
        return Response(answer.body, status_code=answer.status, media_type="application/json", headers=headers)

    def _name_workspace(self) -> str:
        """Return the workspace that the request acts in, "" for the default one."""
        return "" if self.caller.workspace == derive_default_workspace(self.caller.owner.id) else self.caller.workspace

    async def _seal(self, keyed_request: KeyedRequest, status: int, location: str | None, response: Response) -> bytes:
        answer = StoredResponse(status=status, location=location, body=bytes(response.body))
        return await to_thread(seal_response, self.secret, keyed_request.id, answer)


async def _once(
    request: Request,
    deps: Dependencies,
    caller: CurrentCaller,
    idempotency_key: Annotated[str | None, Header(description=ABOUT, json_schema_extra=FORM)] = None,
) -> IdempotentRequest:
    try:
        # one that is given twice is a list, and no string
        key = None if idempotency_key is None else idempotency.parse_key(", ".join(request.headers.getlist(HEADER)))
    except idempotency.MalformedKeyError as error:
        raise HTTPException(400, f"{HEADER} {error}") from None
    once = IdempotentRequest(deps=deps, caller=caller, secret=read_secret(request), key=key)
    request.state.once = once
    if not request.url.path.endswith(IMPORT_PATH):  # a large body is read when it is its turn, and the route begins then
        await once.begin(request)
    return once


Idempotency = Annotated[IdempotentRequest, Depends(_once)]


class IdempotentRoute(APIRoute):
    """A route that takes an idempotency key where its method is POST, whatever it does."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.keyed = "POST" in {method.upper() for method in options.get("methods") or ()}
        if self.keyed:
            # before everything else that the route asks for: a retry is answered also when that is gone
            options["dependencies"] = [Depends(_once), *(options.get("dependencies") or ())]
        super().__init__(path, endpoint, **options)

    async def replay(self, request: Request, once: IdempotentRequest, answered: KeyedRequest) -> Response:  # noqa: ARG002
        """Return the answer to `request`, a retry of `answered`, the request that was answered before."""
        return await once.replay(answered)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what handles a request: the route itself, or the answer that is kept for a retry."""
        handle = super().get_route_handler()
        if not self.keyed:
            return handle

        async def handle_once(request: Request) -> Response:
            response: Response | None = None
            try:
                response = await handle(request)
            except AnsweredError as answered:
                once_before: IdempotentRequest = request.state.once
                request.state.is_repeated = True
                return await self.replay(request, once_before, answered.request)
            finally:
                if isinstance(once := getattr(request.state, "once", None), IdempotentRequest):
                    await once.end(response)
            return response

        return handle_once
