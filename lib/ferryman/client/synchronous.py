"""The client that blocks: a transport of httpx below the shared descriptions."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Self, TypeVar

import httpx

from ferryman.client import answers
from ferryman.client.answer_events import MEDIA_TYPE, AnswerEvent, AnswerParser, AnswerStream
from ferryman.client.attempts import RETRY_WAITS_S, Attempts, describe_loss
from ferryman.client.downloads import build_download_headers, check_download
from ferryman.client.errors import ApiRefusedError, ApiUnreachableError, parse_problem
from ferryman.client.events import PROGRESS, SILENCE_S, EventParser, EventStream, StreamedEvent
from ferryman.client.request import LIMITS, NO_CONTENT, TIMEOUT_S, ApiRequest, Json, build_headers, build_path
from ferryman.client.routes import conversations, executions
from ferryman.client.synchronous_methods import Methods
from ferryman.client.trust import create_context

Answer = TypeVar("Answer")


class Client(Methods):
    """`with Client(url, key) as client`. Methods raise `ApiUnreachableError` or `ApiRefusedError`, and answer the service's own
    JSON.

    All act in one workspace: `workspace`, else that of FERRYMAN_WORKSPACE_ID or CRAWBL_WORKSPACE_ID, else the key's own, which
    `workspace=""` asks for whatever the environment says. Raise `ValueError` for what can be no id of a workspace.
    """

    def __init__(
        self, url: str, key: str, *, workspace: str | None = None, retry_waits_s: Sequence[float] = RETRY_WAITS_S
    ) -> None:
        headers = build_headers(key, workspace)
        self._http = httpx.Client(
            base_url=url, headers=headers, verify=create_context(), timeout=TIMEOUT_S, limits=LIMITS, trust_env=False
        )
        self._retry_waits_s = tuple(retry_waits_s)
        self.url = url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def run_task(
        self, task: str, text: str | None = None, *, labels: Mapping[str, str] | None = None, key: str | None = None
    ) -> answers.ExecutionJson:
        """Start an execution and return its record when it has ended, however long that takes."""
        execution = self.start_execution(task, text, labels=labels, key=key)["execution_id"]
        for _ in self.stream_events(execution):
            pass
        return self.get_execution(execution)

    def get_receipts(self, execution: str) -> Json:
        """Return all receipts of the execution and the public keys, as one document that can be verified."""
        request = executions.get_receipt_page(execution)
        document = self.send(request)
        while (cursor := document.pop("next")) is not None:
            page = self.send(request.turn_page(cursor))
            document |= {"entries": [*document["entries"], *page["entries"]], "next": page["next"]}
        return document

    def export_workspace(self, workspace: str) -> Iterator[bytes]:
        """Yield the bytes of an archive of the workspace as they come; it is whole where `read_archive` finds its manifest."""
        path, timeout = build_path("workspaces", workspace, "export"), httpx.Timeout(TIMEOUT_S, read=SILENCE_S)
        try:
            with self._http.stream("GET", path, timeout=timeout) as response:
                if response.is_error:
                    raise parse_problem(response.status_code, response.headers, response.read())
                yield from response.iter_raw()
        except httpx.RequestError as error:
            raise ApiUnreachableError(f"the export from {self.url} broke off ({type(error).__name__})") from error

    def download_file(self, file: str, *, start: int = 0, etag: str | None = None) -> Iterator[bytes]:
        """Yield the bytes of a file as they come, from byte `start` on; `etag` names the version that goes on."""
        path, timeout = build_path("files", file), httpx.Timeout(TIMEOUT_S, read=SILENCE_S)
        headers = build_download_headers(start, etag)
        try:
            with self._http.stream("GET", path, headers=headers, timeout=timeout) as response:
                if response.is_error:
                    raise parse_problem(response.status_code, response.headers, response.read())
                check_download(response.status_code, start)
                yield from response.iter_raw()
        except httpx.RequestError as error:
            raise ApiUnreachableError(f"the download from {self.url} broke off ({type(error).__name__})") from error

    def stream_events(self, execution: str, *, after: int = 0, progress: bool = False) -> Iterator[StreamedEvent]:
        """Yield the execution's events numbered above `after`, to the last; a broken stream is resumed where it stopped.

        With `progress`, also what was spent so far, whenever it changes; such an event has no number. Nor have `waiting` and
        `decided`, about a call that waits for a person: a stream that is resumed tells them again.
        """
        stream = EventStream(execution, after)
        while True:
            fault: Exception | None = None
            try:
                with closing(self._listen(stream)) as events:
                    for event in events:
                        is_last = stream.receive(event)
                        if progress or event.kind != PROGRESS:
                            yield event
                        if is_last:
                            return
                if stream.is_over:
                    return
            except (httpx.RequestError, ApiRefusedError) as error:
                fault = error
            time.sleep(stream.resume(fault))

    def _listen(self, stream: EventStream) -> Generator[StreamedEvent, None, None]:
        request, parser = stream.describe_request(), EventParser()
        timeout = httpx.Timeout(TIMEOUT_S, read=SILENCE_S)
        with self._http.stream(request.method, request.path, headers=request.headers, timeout=timeout) as response:
            if response.is_error:
                raise parse_problem(response.status_code, response.headers, response.read())
            stream.is_over = response.status_code == NO_CONTENT
            for line in response.iter_lines():
                if event := parser.feed(line):
                    yield event

    def stream_message(
        self, conversation: str, content: str, *, key: str | None = None, **options: Any
    ) -> Iterator[AnswerEvent]:
        """Say something, and yield the events of the answer as they happen; `options` are those of `create_message`.

        A stream that breaks goes on where it stopped. To leave it does not stop the answer: `cancel_answers` does.
        """
        return self._stream(AnswerStream(conversations.create_message(conversation, content, key=key, **options)))

    def stream_other_answer(
        self, conversation: str, message: int, *, key: str | None = None, **options: Any
    ) -> Iterator[AnswerEvent]:
        """Ask for another answer, and yield its events as they happen; `options` are those of `create_answer`."""
        return self._stream(AnswerStream(conversations.create_answer(conversation, message, key=key, **options)))

    def stream_answer(self, conversation: str, answer: int | None = None) -> Iterator[AnswerEvent]:
        """Yield the events of the answer of this number, or of the one that is waited for, from its beginning to its end."""
        return self._stream(AnswerStream(conversation=conversation, answer=answer))

    def _stream(self, stream: AnswerStream) -> Iterator[AnswerEvent]:
        while True:
            fault: Exception | None = None
            try:
                with closing(self._listen_to_answer(stream)) as events:
                    for event in events:
                        is_last = stream.receive(event)
                        yield event
                        if is_last:
                            return
                if stream.is_over:
                    return
            except (httpx.RequestError, ApiRefusedError) as error:
                fault = error
            time.sleep(stream.resume(fault))

    def _listen_to_answer(self, stream: AnswerStream) -> Generator[AnswerEvent, None, None]:
        request, parser = stream.describe_request(), AnswerParser()
        timeout = httpx.Timeout(TIMEOUT_S, read=SILENCE_S)
        with self._http.stream(
            request.method,
            request.path,
            params=request.query or None,
            json=request.body,
            headers=request.headers,
            timeout=timeout,
        ) as response:
            if response.is_error:
                raise parse_problem(response.status_code, response.headers, response.read())
            stream.is_over = response.status_code == NO_CONTENT
            if not response.headers.get("content-type", "").startswith(MEDIA_TYPE):
                if not stream.is_over:
                    stream.read_document(request.parse(response.status_code, response.headers, response.read()))
                return
            for line in response.iter_lines():
                if event := parser.feed(line):
                    yield event

    def send(self, request: ApiRequest[Answer], /) -> Answer:
        """Send a request, and again where its answer was lost: under the same idempotency key, or where it only reads."""
        attempts = Attempts(request, self._retry_waits_s)
        sent = self._http.build_request(
            request.method,
            request.path,
            params=request.query or None,
            json=None if request.body is None else dict(request.body),
            content=request.content,
            headers=request.headers,
            timeout=request.within_s,
        )
        while True:
            try:
                response = self._http.send(sent)
            except httpx.RequestError as error:
                pause_s = attempts.after_loss(error)
                if pause_s is None:
                    raise ApiUnreachableError(describe_loss(self.url, error)) from error
            else:
                pause_s = attempts.after_answer(response.status_code, response.headers)
                if pause_s is None:
                    return request.parse(response.status_code, response.headers, response.content)
            time.sleep(pause_s)
