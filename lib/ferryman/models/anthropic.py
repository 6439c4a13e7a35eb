"""The Model port on the Messages API through Anthropic's SDK: on Vertex AI by default, which needs no model key."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

from ferryman.domain.executions.message import Prompt, Reply
from ferryman.models import request
from ferryman.models.assembly import ProviderBrokeOffError, ReplyAssembly
from ferryman.models.events import EventReader, UnreadableReplyError
from ferryman.models.heads import RequestHeads
from ferryman.models.reaching import explain_unreached
from ferryman.models.refused import UNCOMPRESSED, RefusedRequestError, check_response
from ferryman.models.request import SCRIPTED
from ferryman.models.sending import find_head, start_record, watch_request
from ferryman.ports.errors import RejectedError, UnavailableError, UnreachedError
from ferryman.ports.model import ReplyWatcher
from ferryman.settings import Settings

UNUSED_KEY = "none"
"""What a server is sent that asks for no key."""

ATTEMPTS = 3
WAITS_S = 2.0
"""How long an answer is waited for before it is asked for again, at most, in seconds."""

WAITS_MOST_S = 86_400.0
"""A provider that says to come back later than in a day is asked again in a day."""

INLINE_CHARACTERS_MAX = 65_536
"""A reply up to this size is put together on the event loop, in a millisecond or two at most; a larger one in a thread."""

_TRANSPORTS = ("httpx2", "httpx", "httpcore2", "httpcore", "google")
_UNKNOWN = 401
_REDIRECTS = range(300, 400)
_RETRIED = frozenset((408, 409, 429, 500, 502, 503, 504, 529))


class AnthropicModel:
    """`ports.Model`. The SDK is imported in a thread at first use: it is the slowest import of all."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._clients: dict[str, Any] = {}
        self._transports: dict[str, Any] = {}
        """The HTTP client of each of the SDK's."""
        self._heads: dict[str, RequestHeads] = {}
        self._is_warm = False

    def load(self) -> None:
        """Import the SDK, and what asks it again; in a thread, and where another does already, wait for that."""
        importlib.import_module("anthropic")
        importlib.import_module("stamina")
        self._is_warm = True

    async def warm(self) -> None:
        """Import the SDK, and what asks it again, off the event loop, while something else is being waited for."""
        if not self._is_warm:
            await asyncio.to_thread(self.load)

    async def connect(self) -> None:
        """Make the client of the scripted models, where they are served: with its trust store, it takes a tenth of a second."""
        await self.warm()
        if self._settings.scripted_model_url is not None:
            await asyncio.to_thread(self.find_client, SCRIPTED)

    async def reply(self, prompt: Prompt, *, watcher: ReplyWatcher | None = None) -> Reply:
        """Return the model's reply.

        A declined request is repeated twice, unless the provider asks for a longer pause, and so is one that did not reach it.
        Raise `UnavailableError` or `RejectedError`; their `lost` means that the provider may have answered and charged. Where
        it is cancelled before anything was sent, raise `UnreachedError`.
        """
        await self.warm()
        import stamina

        attempts, record = 0, start_record()
        try:
            async for attempt in stamina.retry_context(
                on=_is_retried_soon, attempts=ATTEMPTS, wait_initial=0.5, wait_max=WAITS_S, timeout=None
            ):
                with attempt:
                    attempts, record.began = attempts + 1, False
                    return await self._reply(prompt, watcher)
        except asyncio.CancelledError:
            if record.began:
                raise
            raise UnreachedError("the model's provider was not reached: nobody waits for it any longer") from None
        except UnavailableError as error:
            error.attempts = attempts
            raise
        raise AssertionError("the last attempt answers or raises")

    async def _reply(self, prompt: Prompt, watcher: ReplyWatcher | None = None) -> Reply:
        import anthropic

        served = self._settings.models.get(prompt.model)
        client = self.find_client(prompt.model)
        is_vertex = isinstance(client, anthropic.AsyncAnthropicVertex)
        path = request.build_vertex_path(client.project_id, client.region, prompt.model) if is_vertex else request.PATH
        try:
            response = await self._send(prompt.model, client, path, request.encode(prompt, served, is_vertex=is_vertex))
            return await _read(response, watcher)
        except ProviderBrokeOffError:
            raise UnavailableError("the model's provider broke off amid its answer", lost=True) from None
        except UnreadableReplyError as error:
            raise RejectedError(str(error), lost=True) from None
        except anthropic.APIError as error:
            if isinstance(error.__cause__, RefusedRequestError):
                raise _explain_refusal(error.__cause__, prompt.model) from None
            if isinstance(error.__cause__, UnreadableReplyError):
                raise RejectedError(str(error.__cause__), lost=True) from None
            _raise_unreached(error)
            # it may have answered, and been paid for it, without our hearing of it
            kind = type(error.__cause__ or error).__name__
            raise UnavailableError(f"the connection to the model's provider broke ({kind})", lost=True) from None
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in _TRANSPORTS:
                raise
            _raise_unreached(error)
            # a connection that breaks amid the answer
            raise UnavailableError(
                f"the connection to the model's provider broke ({type(error).__name__})", lost=True
            ) from None

    async def _send(self, model: str, client: Any, path: str, body: bytes) -> Any:
        """Send a request, and return the response, whose body is still to be read. Raise as the SDK does.

        The SDK builds, signs and sends the first request; its head serves those that follow for a while. Where the provider no
        longer knows who asks (401), which costs nothing, the SDK builds and signs the request once more.
        """
        import anthropic
        import httpx2

        provider = self._name_provider(model)
        heads = self._heads.setdefault(provider, RequestHeads())
        if (head := heads.find(path)) is not None:
            built = head.build(body)
            try:
                return await self._transports[provider].send(built, stream=True)
            except Exception as error:
                heads.drop(path)
                if not (isinstance(error, RefusedRequestError) and error.status == _UNKNOWN):
                    raise anthropic.APIConnectionError(request=built) from error
        response = await client.post(path, content=body, cast_to=httpx2.Response, stream=True, stream_cls=anthropic.AsyncStream)
        if (sent := find_head()) is not None:
            heads.keep(path, sent)
        return response

    async def close(self) -> None:
        """Close the connections that were opened."""
        for client in self._clients.values():
            await client.close()

    def find_client(self, model: str) -> Any:
        """Return the SDK's client for `model`. Raise `RejectedError` where there is none."""
        provider = self._name_provider(model)
        if provider not in self._clients:
            self._clients[provider] = self._connect(provider)
        return self._clients[provider]

    def _name_provider(self, model: str) -> str:
        family = model.partition("/")[0]
        return family if family == SCRIPTED or family in self._settings.models else ""

    def _connect(self, provider: str) -> Any:
        """Return a client of the scripted models, of one of the operator's own by name, or of the models with list prices."""
        import anthropic

        settings = self._settings
        # a redirect would take the key and the prompt to another host, which nobody chose
        hooks: dict[str, list[Any]] = {"request": [watch_request], "response": [check_response]}
        http_client = self._transports[provider] = anthropic.DefaultAsyncHttpxClient(follow_redirects=False, event_hooks=hooks)
        options: dict[str, Any] = {"max_retries": 0, "http_client": http_client, "default_headers": UNCOMPRESSED}
        if provider in settings.models:
            served = settings.models[provider]
            if served.key is not None and served.key not in settings.model_keys:
                raise RejectedError(f"model {provider} needs a key, and {served.key} is not set")
            # the SDK insists on a key; the environment's is for another provider
            key = UNUSED_KEY if served.key is None else settings.model_keys[served.key]
            return anthropic.AsyncAnthropic(base_url=served.url, api_key=key, **options)
        if provider == SCRIPTED:
            if settings.scripted_model_url is None:
                raise RejectedError("scripted models are played by the local cloud only")
            key = settings.local_token or SCRIPTED
            return anthropic.AsyncAnthropic(base_url=settings.scripted_model_url, api_key=key, **options)
        if settings.anthropic_api_key is not None:
            return anthropic.AsyncAnthropic(api_key=settings.anthropic_api_key, base_url=settings.anthropic_base_url, **options)
        if settings.local:
            raise RejectedError("set ANTHROPIC_API_KEY to use a real model, or name a scripted one")
        return anthropic.AsyncAnthropicVertex(project_id=settings.project, region=settings.vertex_region, **options)


async def _read(response: Any, watcher: ReplyWatcher | None = None) -> Reply:
    """Return the reply that the stream of events of a response holds.

    The SDK's own reader takes seven times as long for it.
    """
    reader, assembly = EventReader(), ReplyAssembly()
    try:
        async for chunk in response.aiter_raw():
            for data in reader.feed(chunk):
                delta = assembly.add(data)
                if watcher is not None and delta is not None:
                    watcher.add(delta)
    except asyncio.CancelledError:
        if watcher is not None:
            watcher.break_off(assembly.usage, assembly.size)
        raise
    finally:
        await response.aclose()
    if not assembly.is_whole:
        raise UnavailableError("the model's provider ended its answer without saying why", lost=True)
    return await asyncio.to_thread(assembly.build) if assembly.size > INLINE_CHARACTERS_MAX else assembly.build()


def _raise_unreached(error: Exception) -> None:
    """Raise `UnreachedError` where nothing of the request was sent."""
    reason = explain_unreached(error)
    if reason is not None:
        raise UnreachedError(f"the model's provider was not reached: {reason}") from None


def _is_retried_soon(error: Exception) -> bool:
    """Say whether a retry within seconds may help; longer waits are left to the queue, which needs no compute."""
    return isinstance(error, UnavailableError) and not error.lost and (error.after_s is None or error.after_s <= WAITS_S)


def _explain_refusal(refused: RefusedRequestError, model: str) -> UnavailableError | RejectedError:
    """Return the error of a request that the provider declined, which cost nothing."""
    status = refused.status
    if status in _REDIRECTS:
        return RejectedError(f"the model's provider is at another address ({status})")
    if status in _RETRIED:
        return UnavailableError(f"the model's provider answered {status}", after_s=_read_hint(refused.retry_after))
    # a script is the owner's; no provider's text is repeated
    message = f": {refused.read_message()}" if model.partition("/")[0] == SCRIPTED else ""
    return RejectedError(f"the model's provider refused the request ({status}){message}")


def _read_hint(retry_after: str | None) -> float | None:
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return min(seconds, WAITS_MOST_S) if seconds >= 0 else None  # which nan is not
