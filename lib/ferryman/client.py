"""The client of the API: tasks, credentials, executions and their live events, over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote
from uuid import uuid4

import httpx

TIMEOUT_S = 30.0
IMPORT_S = 150.0
"""Documents of many megabytes are read, and what they refer to is fetched."""

SILENCE_S = 45.0
"""The service sends a comment every 15 s; a connection that is silent for three times as long is dead."""

RESUMES_MAX = 20
"""How many times in a row a broken stream of events is resumed without a new event."""

RESUME_AFTER_S = 1.0

RETRY_WAITS_S = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Between the attempts at a POST whose answer was lost: long enough for one that died to count as over."""

AGAIN_S_MAX = 30.0
"""How many seconds a busy service is waited for at most, whatever it asks for."""

PROGRESS = "progress"
"""The one kind of event that has no number."""

Json = dict[str, Any]


class ApiUnreachableError(RuntimeError):
    """Nobody answers at the service's URL, or the connection broke."""


class ApiRefusedError(RuntimeError):
    """The service answered with a problem; `errors` name the fields, as pairs of field and message.

    After `after_s` seconds it asks to be tried again: at most 30, and 0 where it does not say.
    """

    def __init__(self, status: int, detail: str, errors: tuple[tuple[str, str], ...] = (), after_s: float = 0.0) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = errors
        self.after_s = after_s


class _EndOfEventsError(Exception):
    """There are no further events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedEvent:
    """One live event: `kind` is started, turn, tool_call, tool_result, finished or progress, which has no number."""

    number: int | None
    kind: str
    body: Mapping[str, Any] = field(repr=False)


class Client:
    """`async with Client(url, key) as client`. Methods raise `ApiUnreachableError` or `ApiRefusedError`, and answer the
    service's own JSON."""

    def __init__(self, url: str, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT_S, trust_env=False)
        self.url = url

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def create_task(self, task: Mapping[str, Any]) -> Json:
        return await self._ask("POST", "/v1/tasks", task)

    async def list_tasks(self) -> list[Json]:
        return await self._list("/v1/tasks", "tasks")

    async def get_task(self, task: str) -> Json:
        return await self._ask("GET", f"/v1/tasks/{_part(task)}")

    async def change_task(self, task: str, change: Mapping[str, Any]) -> Json:
        return await self._ask("PATCH", f"/v1/tasks/{_part(task)}", change)

    async def delete_task(self, task: str) -> None:
        await self._ask("DELETE", f"/v1/tasks/{_part(task)}")

    async def set_credential(self, task: str, name: str, credential: Mapping[str, Any]) -> Json:
        return await self._ask("PUT", f"/v1/tasks/{_part(task)}/credentials/{_part(name)}", credential)

    async def begin_connection(self, task: str, body: Mapping[str, Any]) -> Json:
        """Begin to connect a service: where its owner consents, and the state that leads back."""
        return await self._ask("POST", f"/v1/tasks/{_part(task)}/credentials/connect", body)

    async def finish_connection(self, task: str, state: str, code: str, iss: str | None = None) -> Json:
        """Return the credential that a consent has brought. `iss` is the issuer that the authorization response named, if
        any."""
        body = {"state": state, "code": code, **({} if iss is None else {"iss": iss})}
        return await self._ask("POST", f"/v1/tasks/{_part(task)}/credentials/connect/finish", body)

    async def list_credentials(self, task: str) -> list[Json]:
        return list((await self._ask("GET", f"/v1/tasks/{_part(task)}/credentials"))["credentials"])

    async def delete_credential(self, task: str, name: str) -> None:
        await self._ask("DELETE", f"/v1/tasks/{_part(task)}/credentials/{_part(name)}")

    async def start_execution(self, task: str, text: str | None = None, *, traceparent: str | None = None) -> Json:
        """Start an execution, with `text` as its input and as part of a trace; it is queued, not awaited."""
        headers = {"traceparent": traceparent} if traceparent else None
        body = {} if text is None else {"input": text}
        return await self._ask("POST", f"/v1/tasks/{_part(task)}/executions", body, headers)

    async def list_executions(self, *, task: str | None = None, limit: int = 50) -> list[Json]:
        path = "/v1/executions" if task is None else f"/v1/tasks/{_part(task)}/executions"
        return list((await self._ask("GET", f"{path}?limit={limit}"))["executions"])

    async def get_execution(self, execution: str) -> Json:
        return await self._ask("GET", f"/v1/executions/{_part(execution)}")

    async def list_calls(self, execution: str) -> list[Json]:
        """Return the execution's calls, with their results in full."""
        return await self._list(f"/v1/executions/{_part(execution)}/calls", "calls")

    async def list_receipts(self, execution: str) -> Json:
        """Return the execution's receipts and the public keys, as one document that can be verified."""
        return await self._ask("GET", f"/v1/executions/{_part(execution)}/receipts")

    async def list_receipt_keys(self) -> Json:
        """Return the public keys of receipts, by version, in hex."""
        return dict((await self._ask("GET", "/v1/receipt-keys"))["keys"])

    async def get_record(self, execution: str) -> Json:
        """Return the full account of an execution."""
        return await self._ask("GET", f"/v1/executions/{_part(execution)}/record")

    async def cancel_execution(self, execution: str) -> Json:
        return await self._ask("POST", f"/v1/executions/{_part(execution)}/cancel")

    async def list_integrations(self) -> list[Json]:
        return list((await self._ask("GET", "/v1/integrations"))["integrations"])

    async def list_tools(self) -> list[Json]:
        return list((await self._ask("GET", "/v1/tools"))["tools"])

    async def list_custom_tools(self, task: str) -> list[Json]:
        """Return the tools that the task's owner declared or imported, by cluster and name."""
        return list((await self._ask("GET", f"/v1/tasks/{_part(task)}/tools"))["data"])

    async def import_tools(self, task: str, body: Mapping[str, Any]) -> Json:
        """Import an OpenAPI document. Return its tools under `data`, how many are disabled, tokens and notes."""
        return await self._ask("POST", f"/v1/tasks/{_part(task)}/tools/import-openapi", body, within_s=IMPORT_S)

    async def delete_tool(self, task: str, name: str) -> None:
        await self._ask("DELETE", f"/v1/tasks/{_part(task)}/tools?id={quote(name, safe='')}")

    async def delete_cluster(self, task: str, cluster: str) -> None:
        await self._ask("DELETE", f"/v1/tasks/{_part(task)}/tools/cluster/{_part(cluster)}")

    async def list_plans(self) -> list[Json]:
        return list((await self._ask("GET", "/v1/plans"))["plans"])

    async def list_models(self) -> list[Json]:
        return list((await self._ask("GET", "/v1/models"))["models"])

    async def set_halt(self, *, on: bool) -> Json:
        """Set the owner's kill switch; answers what stops their executions."""
        return await self._ask("PUT" if on else "DELETE", "/v1/halt")

    async def get_ledger(self, *, month: str | None = None) -> Json:
        """Return a month's statement; without a month, this one's."""
        return await self._ask("GET", "/v1/ledger" + (f"?month={_part(month)}" if month else ""))

    async def get_me(self) -> Json:
        return await self._ask("GET", "/v1/me")

    async def stream_events(self, execution: str, *, after: int = 0, progress: bool = False) -> AsyncIterator[StreamedEvent]:
        """Yield the execution's events numbered above `after`, to the last; a broken stream is resumed where it stopped.

        With `progress`, also what was spent so far, whenever it changes.
        """
        fruitless = 0
        while True:
            try:
                async for event in self._listen(execution, after):
                    if event.number is not None:
                        after, fruitless = event.number, 0
                    elif not progress:
                        continue
                    yield event
                    if event.kind == "finished":
                        return
            except _EndOfEventsError:
                return
            except ApiRefusedError as refused:
                if refused.status not in (httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.TOO_MANY_REQUESTS):
                    raise
                # it passes: a stream that broke may count among the open ones for a moment
                await asyncio.sleep(refused.after_s)
            except httpx.TransportError as error:
                if fruitless >= RESUMES_MAX:
                    raise ApiUnreachableError(f"the events of {execution} broke off and could not be resumed") from error
            fruitless += 1
            if fruitless > RESUMES_MAX:
                raise ApiUnreachableError(f"the events of {execution} ended before it had finished")
            if fruitless > 1:
                await asyncio.sleep(RESUME_AFTER_S)

    async def _listen(self, execution: str, after: int) -> AsyncIterator[StreamedEvent]:
        timeout = httpx.Timeout(TIMEOUT_S, read=SILENCE_S)
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": str(after)} if after else {})}
        path = f"/v1/executions/{_part(execution)}/events"
        async with self._http.stream("GET", path, headers=headers, timeout=timeout) as response:
            if response.is_error:
                await response.aread()
                raise _parse_problem(response)
            if response.status_code == httpx.codes.NO_CONTENT:
                raise _EndOfEventsError
            async for event in parse(response.aiter_lines()):
                yield event

    async def _list(self, path: str, name: str) -> list[Json]:
        """Return the items of every page."""
        page = await self._ask("GET", path)
        items = list(page[name])
        while page["next"] is not None:
            page = await self._ask("GET", f"{path}?cursor={_part(page['next'])}")
            items += page[name]
        return items

    async def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        within_s: float = TIMEOUT_S,
    ) -> Json:
        request = self._http.build_request(
            method, path, json=None if body is None else dict(body), headers=headers, timeout=within_s
        )
        response = await (self._send_once(request) if method == "POST" else self._send(request))
        if response.is_error:
            raise _parse_problem(response)
        if response.status_code == httpx.codes.NO_CONTENT:
            return {}
        try:
            answer: Json = response.json()
        except ValueError as error:
            raise ApiRefusedError(response.status_code, "the answer is not JSON: is this the URL of a Ferryman API?") from error
        return answer

    async def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            return await self._http.send(request)
        except httpx.TransportError as error:
            raise ApiUnreachableError(f"nobody answers at {self.url} ({type(error).__name__})") from error

    async def _send_once(self, request: httpx.Request) -> httpx.Response:
        """Send a request under an idempotency key, and again under the same one where its answer was lost."""
        request.headers["Idempotency-Key"] = f'"{uuid4()}"'
        lost = False
        for wait_s in (*RETRY_WAITS_S, None):
            try:
                response = await self._send(request)
            except ApiUnreachableError as error:
                # a service that was not reached was sent nothing, unless an attempt before this one reached it
                lost = lost or not isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout)
                if not lost or wait_s is None:
                    raise
            else:
                passing = response.status_code in (httpx.codes.CONFLICT, httpx.codes.SERVICE_UNAVAILABLE)
                if not (lost and passing and "Retry-After" in response.headers) or wait_s is None:
                    return response
            await asyncio.sleep(wait_s)
        raise AssertionError("the last attempt answers or raises")


async def parse(lines: AsyncIterator[str]) -> AsyncIterator[StreamedEvent]:
    """Yield the events of a text/event-stream; comments and incomplete blocks are skipped."""
    fields: dict[str, str] = {}
    async for line in lines:
        if not line:
            number = int(fields["id"]) if fields.get("id", "").isdigit() else None
            if {"event", "data"} <= fields.keys() and (number is not None or fields["event"] == PROGRESS):
                yield StreamedEvent(number=number, kind=fields["event"], body=json.loads(fields["data"]))
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields['data']}\n{value}" if name == "data" and "data" in fields else value


def _part(text: str) -> str:
    # a name of dots alone would be taken for a step up the path
    return quote(text, safe="") if text.strip(".") else "%00"


def _parse_problem(response: httpx.Response) -> ApiRefusedError:
    status, text = response.status_code, response.headers.get("retry-after", "")
    after_s = min(float(text), AGAIN_S_MAX) if text.isascii() and text.isdigit() else 0.0
    try:
        problem = response.json()
        errors = tuple((str(error["field"]), str(error["message"])) for error in problem.get("errors", ()))
        return ApiRefusedError(status, str(problem.get("detail") or problem["title"]), errors, after_s)
    except (ValueError, KeyError, TypeError, AttributeError):
        return ApiRefusedError(status, f"the service answered {status}", after_s=after_s)
