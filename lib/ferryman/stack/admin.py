"""The local cloud's admin API: hosts of the simulated internet, scripts of the model, functions coming and going."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import httpx

KEEPALIVE_S = 2.0
"""Less than the 5 s after which the cloud closes a connection that nobody uses: a request never meets its end."""

STARTS_S = 60.0
"""How long one admin request may take; a function's start is the longest."""


def read_token(env: Mapping[str, str]) -> str:
    """Return the token of the local cloud whose variables are `env`. Raise OSError where there is none any longer."""
    return Path(env["LOCAL_CLOUD_TOKEN_FILE"]).read_text().strip()


def trust_nobody() -> ssl.SSLContext:
    """Return the TLS context for clients of the local cloud, which is reached in plain HTTP on loopback: to read authorities
    takes most of the time of making a client."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class AdminRefusedError(RuntimeError):
    """The local cloud did not do what it was asked; the text is its reason."""


class Admin:
    """`async with Admin.from_note(note) as admin`. Every method raises `AdminRefusedError`, or httpx.TransportError when nobody
    is there."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.bearer = {"Authorization": f"Bearer {token}"}
        limits = httpx.Limits(keepalive_expiry=KEEPALIVE_S)
        self._http = httpx.AsyncClient(
            base_url=url, verify=trust_nobody(), timeout=STARTS_S, trust_env=False, headers=self.bearer, limits=limits
        )

    @classmethod
    def from_note(cls, known: Mapping[str, Any]) -> Self:
        """Return the admin of the cloud that noted this of itself. Raise OSError where its token is gone: it has ended."""
        return cls(known["admin"], read_token(known["env"]))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def read_status(self) -> dict[str, Any]:
        """Return what the cloud says of itself: data folder, process, ports, functions."""
        return await self._ask("GET", "/")

    async def start(self, function: str, env: Mapping[str, str]) -> None:
        """Start a function, or start it again, and wait until it answers."""
        await self._ask("PUT", f"/functions/{function}", {"env": dict(env)})

    async def change(self, function: str, env: Mapping[str, str]) -> None:
        """Start a function again as it was started last, but for these variables, and wait until it answers."""
        await self._ask("PATCH", f"/functions/{function}", {"env": dict(env)})

    async def create_token(self, email: str, audience: str) -> str:
        """Return an identity token of a service account, as anyone who may impersonate it gets one."""
        return str((await self._ask("POST", "/tokens", {"email": email, "audience": audience}))["token"])

    async def kill(self, function: str) -> None:
        """Let a function die on the spot, as an instance may."""
        await self._ask("POST", f"/functions/{function}/kill")

    async def forget_host(self, host: str) -> None:
        """Have `host` lead nowhere."""
        await self._ask("DELETE", f"/hosts/{host}")

    async def read_certificates(self) -> dict[str, str]:
        """Return the certificates of identity tokens, by key id."""
        return await self._ask("GET", "/certs")

    async def put_host(self, host: str, body: Mapping[str, Any]) -> None:
        """Have `host` stand for what the admin API is given: a port or routes, and addresses of its own."""
        await self._ask("PUT", f"/hosts/{host}", body)

    async def serve_routes(self, host: str, routes: Sequence[Mapping[str, Any]]) -> None:
        """Have `host` answer HTTPS requests with these routes."""
        await self._ask("PUT", f"/hosts/{host}", {"routes": [dict(route) for route in routes]})

    async def map_host(self, host: str, port: int) -> None:
        """Have `host` lead to an HTTPS server on a loopback port."""
        await self._ask("PUT", f"/hosts/{host}", {"port": port})

    async def serve_oauth(self, host: str, rules: Mapping[str, Any]) -> None:
        """Have `host` be an OAuth server with these rules, which knows no token yet."""
        await self._ask("PUT", f"/hosts/{host}", {"oauth": dict(rules)})

    async def change_oauth(self, host: str, rules: Mapping[str, Any]) -> None:
        """Have an OAuth server go on with other rules."""
        await self._ask("PATCH", f"/oauth/{host}", rules)

    async def read_oauth(self, host: str) -> dict[str, Any]:
        """Return how often each grant was used at an OAuth server, and all that it has `issued`."""
        return await self._ask("GET", f"/oauth/{host}")

    async def serve_mcp(self, host: str, rules: Mapping[str, Any]) -> None:
        """Have `host` be an MCP server with these rules."""
        await self._ask("PUT", f"/hosts/{host}", {"mcp": dict(rules)})

    async def change_mcp(self, host: str, rules: Mapping[str, Any]) -> None:
        """Have an MCP server go on with other rules: descriptors that changed, tools that came and went."""
        await self._ask("PATCH", f"/mcp/{host}", rules)

    async def read_mcp(self, host: str) -> dict[str, Any]:
        """Return what an MCP server has counted: requests by method, the calls of its tools, people's answers, its tasks."""
        return await self._ask("GET", f"/mcp/{host}")

    async def trust(self, path: Path) -> None:
        """Trust the CA certificates of a PEM file (an absolute path) on the simulated internet."""
        await self._ask("POST", "/ca", {"path": str(path)})

    async def list_requests(self, host: str | None = None) -> list[dict[str, Any]]:
        """Return the requests to hosts with routes, oldest first."""
        answer = await self._ask("GET", "/requests" + (f"?host={host}" if host else ""))
        return list(answer["requests"])

    async def set_script(self, name: str, script: Mapping[str, Any]) -> None:
        """Set what the model `scripted/<name>` says."""
        await self._ask("PUT", f"/scripts/{name}", script)

    async def read_report(self, name: str) -> dict[str, Any]:
        """Return how far a script was run, and its `problems`: steps not run, requests not expected."""
        return await self._ask("GET", f"/scripts/{name}")

    async def list_model_requests(self) -> list[dict[str, Any]]:
        """Return every request the scripted model received."""
        answer = await self._ask("GET", "/model/requests")
        return list(answer["requests"])

    async def list_deliveries(self) -> list[dict[str, Any]]:
        """Return every attempt of Cloud Tasks to deliver a task, with its URL, headers and body, but for the token."""
        answer = await self._ask("GET", "/tasks/delivered")
        return list(answer["tasks"])

    async def shutdown(self) -> None:
        """Ask the cloud to end all functions and itself."""
        await self._ask("POST", "/shutdown")

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        response = await self._http.request(method, path, json=body)
        answer: dict[str, Any] = response.json()
        if response.is_error:
            raise AdminRefusedError(str(answer.get("error", response.status_code)))
        return answer


async def read_functions(note: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the state of each function of the cloud that noted this of itself; None where it does not answer."""
    try:
        async with Admin.from_note(note) as admin:
            functions: list[dict[str, Any]] = (await admin.read_status())["functions"]
    except (httpx.TransportError, AdminRefusedError, OSError):
        return None
    return functions
