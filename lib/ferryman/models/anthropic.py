"""The Model port on the Messages API through Anthropic's SDK: on Vertex AI by default, which needs no model key."""

from __future__ import annotations

import asyncio
import importlib
import math
from typing import Any

from ferryman.domain.executions.message import Prompt, Reply
from ferryman.domain.executions.usage import Usage
from ferryman.models.reaching import explain_unreached
from ferryman.ports.errors import RejectedError, UnavailableError, UnreachedError
from ferryman.settings import Settings

SCRIPTED = "scripted"
"""Models of this name (or `scripted/NAME`) are played by the local cloud's scripted Messages API."""

_SAMPLED = ("claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-5", "claude-sonnet-4-6", "claude-haiku-4-5", SCRIPTED)
"""Models that still take a temperature; later ones refuse it."""

UNUSED_KEY = "none"
"""What a server is sent that asks for no key."""

ATTEMPTS = 3
WAITS_S = 2.0
"""How long an answer is waited for before it is asked for again, at most, in seconds."""

WAITS_MOST_S = 86_400.0
"""A provider that says to come back later than in a day is asked again in a day."""

_TRANSPORTS = ("httpx2", "httpx", "httpcore2", "httpcore", "google")
_REDIRECTS = range(300, 400)
_RETRIED = frozenset((408, 409, 429, 500, 502, 503, 504, 529))


class AnthropicModel:
    """`ports.Model`. The SDK is imported in a thread at first use: it is the slowest import of all."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._clients: dict[str, Any] = {}

    async def warm(self) -> None:
        """Import the SDK, and what asks it again, off the event loop, while something else is being waited for."""
        await asyncio.to_thread(importlib.import_module, "anthropic")
        await asyncio.to_thread(importlib.import_module, "stamina")

    async def connect(self) -> None:
        """Make the client of the scripted models, where they are served: with its trust store, it takes a tenth of a second."""
        await self.warm()
        if self._settings.scripted_model_url is not None:
            await asyncio.to_thread(self.find_client, SCRIPTED)

    async def reply(self, prompt: Prompt) -> Reply:
        """Return the model's reply.

        A declined request is repeated twice, unless the provider asks for a longer pause, and so is one that did not reach it.
        Raise `UnavailableError` or `RejectedError`; their `lost` means that the provider may have answered and charged.
        """
        await self.warm()
        import stamina

        attempts = 0
        try:
            async for attempt in stamina.retry_context(
                on=_is_retried_soon, attempts=ATTEMPTS, wait_initial=0.5, wait_max=WAITS_S, timeout=None
            ):
                with attempt:
                    attempts += 1
                    return await self._reply(prompt)
        except UnavailableError as error:
            error.attempts = attempts
            raise
        raise AssertionError("the last attempt answers or raises")

    async def _reply(self, prompt: Prompt) -> Reply:
        import anthropic

        options: dict[str, Any] = {}
        if prompt.tools:
            options["tools"] = list(prompt.tools)
            if prompt.closing:
                options["tool_choice"] = {"type": "none"}
        served = self._settings.models.get(prompt.model)
        if served is None:
            options["cache_control"] = {"type": "ephemeral"}
        if prompt.temperature is not None and (served is not None or prompt.model.startswith(_SAMPLED)):
            options["extra_body"] = {"temperature": prompt.temperature}
        try:
            async with self.find_client(prompt.model).messages.stream(
                model=prompt.model if served is None else served.served_as,
                system=prompt.system,
                messages=list(prompt.messages),
                max_tokens=prompt.max_tokens,
                **options,
            ) as stream:
                message = await stream.get_final_message()
        except anthropic.APIStatusError as error:
            if error.status_code in _REDIRECTS:
                raise RejectedError(f"the model's provider is at another address ({error.status_code})") from None
            if error.status_code < 400:
                raise UnavailableError("the model's provider broke off amid its answer", lost=True) from None
            if error.status_code in _RETRIED:
                raise UnavailableError(f"the model's provider answered {error.status_code}", after_s=_hint(error)) from None
            message = f": {_read_message(error)}" if prompt.model.partition("/")[0] == SCRIPTED else ""
            raise RejectedError(f"the model's provider refused the request ({error.status_code}){message}") from None
        except anthropic.APIError as error:
            _raise_unreached(error)
            # it may have answered, and been paid for it, without our hearing of it
            kind = type(error.__cause__ or error).__name__
            raise UnavailableError(f"the connection to the model's provider broke ({kind})", lost=True) from None
        except ValueError:
            # the SDK cannot parse the arguments the model wrote, and quotes them in what it raises
            raise RejectedError("the model's reply could not be read", lost=True) from None
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in _TRANSPORTS:
                raise
            _raise_unreached(error)
            # a connection that breaks amid the answer: the SDK lets its transport's own error through
            raise UnavailableError(
                f"the connection to the model's provider broke ({type(error).__name__})", lost=True
            ) from None
        if message.stop_reason is None:
            raise UnavailableError("the model's provider ended its answer without saying why", lost=True)
        return Reply(
            content=tuple(_block(block) for block in message.content if block.type in ("text", "tool_use")),
            stop_reason=message.stop_reason,
            usage=Usage(
                input_tokens=message.usage.input_tokens,
                output_tokens=message.usage.output_tokens,
                cache_read_tokens=message.usage.cache_read_input_tokens or 0,
                cache_write_tokens=message.usage.cache_creation_input_tokens or 0,
            ),
        )

    async def close(self) -> None:
        """Close the connections that were opened."""
        for client in self._clients.values():
            await client.close()

    def find_client(self, model: str) -> Any:
        """Return the SDK's client for `model`. Raise `RejectedError` where there is none."""
        family = model.partition("/")[0]
        provider = family if family == SCRIPTED or family in self._settings.models else ""
        if provider not in self._clients:
            self._clients[provider] = self._connect(provider)
        return self._clients[provider]

    def _connect(self, provider: str) -> Any:
        """Return a client of the scripted models, of one of the operator's own by name, or of the models with list prices."""
        import anthropic

        settings = self._settings
        # a redirect would take the key and the prompt to another host, which nobody chose
        http_client = anthropic.DefaultAsyncHttpxClient(follow_redirects=False)
        options: dict[str, Any] = {"max_retries": 0, "http_client": http_client}
        if provider in settings.models:
            # the SDK insists on a key; the environment's is for another provider
            return anthropic.AsyncAnthropic(base_url=settings.models[provider].url, api_key=UNUSED_KEY, **options)
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


def _raise_unreached(error: Exception) -> None:
    """Raise `UnreachedError` where nothing of the request was sent."""
    reason = explain_unreached(error)
    if reason is not None:
        raise UnreachedError(f"the model's provider was not reached: {reason}") from None


def _is_retried_soon(error: Exception) -> bool:
    """Say whether a retry within seconds may help; longer waits are left to the queue, which needs no compute."""
    return isinstance(error, UnavailableError) and not error.lost and (error.after_s is None or error.after_s <= WAITS_S)


def _block(block: Any) -> dict[str, Any]:
    if block.type == "text":
        return {"type": "text", "text": _make_storable(block.text)}
    # an argument list that is not an object is the model's mistake; the tool's schema says so
    arguments = block.input if isinstance(block.input, dict) else {"": block.input}
    return {
        "type": "tool_use",
        "id": _make_storable(block.id),
        "name": _make_storable(block.name),
        "input": _make_storable(arguments),
    }


def _make_storable(value: Any) -> Any:
    """Return `value` with lone surrogates replaced and numbers that JSON lacks as text: neither can be stored."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {_make_storable(name): _make_storable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_make_storable(item) for item in value]
    return value


def _read_message(error: Any) -> str:
    """Return the scripted service's message: a script is the owner's; no provider's text is repeated."""
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")
    return str(inner.get("message", "")) if isinstance(inner, dict) else ""


def _hint(error: Any) -> float | None:
    try:
        seconds = float(error.response.headers.get("retry-after"))
    except (TypeError, ValueError):
        return None
    return min(seconds, WAITS_MOST_S) if seconds >= 0 else None  # which nan is not
