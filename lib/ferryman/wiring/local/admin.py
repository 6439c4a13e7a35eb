"""The local cloud's admin API: hosts of the pretend internet, scripts of the model, functions coming and going."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import httpx

STARTS_S = 60.0
"""How long one admin request may take; a function's start is the longest."""


class Refused(RuntimeError):  # noqa: N818 - reads as the fact it states
    """The local cloud did not do what it was asked; the text is its reason."""


class Admin:
    """`async with Admin(url) as admin`. Every method raises `Refused`, or httpx.TransportError when nobody is there."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx.AsyncClient(base_url=url, timeout=STARTS_S, trust_env=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def status(self) -> dict[str, Any]:
        """What the cloud says of itself: data folder, process, ports, functions."""
        return await self._ask("GET", "/")

    async def start(self, function: str, env: Mapping[str, str]) -> None:
        """Start a function, or start it anew, and wait until it answers."""
        await self._ask("PUT", f"/functions/{function}", {"env": dict(env)})

    async def change(self, function: str, env: Mapping[str, str]) -> None:
        """Start a function anew as it was started last, but for these variables, and wait until it answers."""
        await self._ask("PATCH", f"/functions/{function}", {"env": dict(env)})

    async def token(self, email: str, audience: str) -> str:
        """An identity token of a service account, as whoever may impersonate it gets one."""
        return str((await self._ask("POST", "/tokens", {"email": email, "audience": audience}))["token"])

    async def kill(self, function: str) -> None:
        """Let a function die on the spot, as an instance may."""
        await self._ask("POST", f"/functions/{function}/kill")

    async def answer(self, host: str, routes: Sequence[Mapping[str, Any]]) -> None:
        """Have `host` answer HTTPS requests with these routes."""
        await self._ask("PUT", f"/hosts/{host}", {"routes": [dict(route) for route in routes]})

    async def map(self, host: str, port: int) -> None:
        """Have `host` lead to an HTTPS server on a loopback port."""
        await self._ask("PUT", f"/hosts/{host}", {"port": port})

    async def authorize(self, host: str, rules: Mapping[str, Any]) -> None:
        """Have `host` be an OAuth server with these rules, which knows no token yet."""
        await self._ask("PUT", f"/hosts/{host}", {"oauth": dict(rules)})

    async def change_oauth(self, host: str, rules: Mapping[str, Any]) -> None:
        """Have an OAuth server go on with other rules."""
        await self._ask("PATCH", f"/oauth/{host}", rules)

    async def oauth(self, host: str) -> dict[str, Any]:
        """How often each grant was used at an OAuth server, and all that it has `issued`."""
        return await self._ask("GET", f"/oauth/{host}")

    async def trust(self, path: Path) -> None:
        """Trust the CA certificates of a PEM file (an absolute path) on the pretend internet."""
        await self._ask("POST", "/ca", {"path": str(path)})

    async def requests(self, host: str | None = None) -> list[dict[str, Any]]:
        """What the hosts with routes were asked, oldest first."""
        answer = await self._ask("GET", "/requests" + (f"?host={host}" if host else ""))
        return list(answer["requests"])

    async def script(self, name: str, script: Mapping[str, Any]) -> None:
        """Set what the model `scripted/<name>` says."""
        await self._ask("PUT", f"/scripts/{name}", script)

    async def report(self, name: str) -> dict[str, Any]:
        """How far a script was played, and its `problems`: steps not played, requests not expected."""
        return await self._ask("GET", f"/scripts/{name}")

    async def model_requests(self) -> list[dict[str, Any]]:
        """Every request the scripted model received."""
        answer = await self._ask("GET", "/model/requests")
        return list(answer["requests"])

    async def delivered(self) -> list[dict[str, Any]]:
        """Every attempt of Cloud Tasks to deliver a task, with its URL, headers and body, but for the token."""
        answer = await self._ask("GET", "/tasks/delivered")
        return list(answer["tasks"])

    async def shutdown(self) -> None:
        """Ask the cloud to end all functions and itself."""
        await self._ask("POST", "/shutdown")

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        response = await self._http.request(method, path, json=body)
        answer: dict[str, Any] = response.json()
        if response.is_error:
            raise Refused(str(answer.get("error", response.status_code)))
        return answer
