"""Hostile: token endpoints as an attacker would have them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse

HUGE_BYTES = 8 * 1024 * 1024
DRIP_S = 0.05
KINDS = ("echo", "echo-error", "redirect", "endless", "huge", "text", "deep")


def answer(kind: str, form: Mapping[str, str], authorization: str) -> Response:
    """Return what the token endpoint of this kind answers; KeyError for an unknown kind."""
    sent = [authorization.partition(" ")[2], *(form.get(name, "") for name in ("client_secret", "refresh_token", "code"))]
    secret = next((item for item in sent if item), "nothing-was-sent")
    answers: dict[str, Callable[[], Response]] = {
        "echo": lambda: JSONResponse({"access_token": secret, "token_type": "Bearer", "expires_in": 3600, "scope": secret}),
        "echo-error": lambda: JSONResponse({"error": secret, "error_description": f"{secret} is no good"}, 400),
        "redirect": lambda: RedirectResponse("https://elsewhere.example.com/token", 307),
        "endless": lambda: StreamingResponse(_endless(), media_type="application/json"),
        "huge": lambda: Response(b'{"access_token": "' + b"a" * HUGE_BYTES + b'"}', media_type="application/json"),
        "text": lambda: Response(f"access_token={secret}", media_type="text/html"),
        "deep": lambda: Response(b"[" * 50_000, media_type="application/json"),
    }
    return answers[kind]()


async def _endless() -> AsyncIterator[bytes]:
    yield b'{"access_token": "'
    while True:
        yield b"a"
        await asyncio.sleep(DRIP_S)
