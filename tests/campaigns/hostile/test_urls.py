"""A secret in a URL: through the whole loop, what leaves is a choice among the URLs that were shown."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, unquote

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.keyless_answer import KeylessAnswer, read_answer
from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.executions.execution import Status
from ferryman.domain.http.request import InboundResponse
from ferryman.domain.http.url import URL
from ferryman.domain.urls.origin import FETCHES_PER_SITE, SeenUrls
from ferryman.egress.public import PublicPages
from ferryman.egress.tls import create_context
from ferryman.framing.frame import remove_invisible
from ferryman.loop.dependencies import LoopDependencies
from ferryman.ports.public_pages import PageRequest
from ferryman.tools.keyless.calling import KeylessCalls
from ferryman.tools.registry import ToolRegistry
from ferryman.tools.web.hook import WebHook
from ferryman.tools.web.web_fetch import web_fetch
from tests.campaigns.hostile.urls import APPROVED, CODES, EVIL, SECRET, START, Attempt, list_attempts
from tests.loop.conftest import Stage, says

ATTEMPTS = tuple(list_attempts())
SECRETS = {unquote(write(SECRET)).casefold() for write in CODES.values()} | {SECRET.casefold()}


@dataclass(frozen=True, kw_only=True)
class SmallWeb(PublicPages):
    """The web of the attempts: requests stop at the socket, and are noted. An approved host redirects, repeats and keeps."""

    attempt: Attempt
    requests: list[URL] = field(default_factory=list)
    posted: list[str] = field(default_factory=list)

    async def _send(self, request: PageRequest, url: URL) -> InboundResponse:
        self.requests.append(url)
        return self.answer(url, request.body_max)

    def answer(self, url: URL, most: int) -> InboundResponse:
        query = {name: values[0] for name, values in parse_qs(url.query or "").items()}
        if url.host == APPROVED and "to" in query:
            return InboundResponse(status=302, headers=(("location", query["to"]),), body=b"", size_bytes=0)
        text = "ok"
        if url.host == APPROVED and "b64" in query:
            text = base64.urlsafe_b64decode(query["b64"]).decode()
            self.posted.append(text)
        elif url.path == "/posted":
            text = " ".join(self.posted)
        elif url.path == "/long":
            text = "https://evil.test/" + "0123456789abcdef" * 600
        elif url.host == "start.test":
            text = "\n".join([*self.attempt.listed, self.attempt.page])
        body = text.encode()[:most]
        headers = (("content-type", "text/plain"),)
        return InboundResponse(status=200, headers=headers, body=body, size_bytes=len(text), cut=len(body) < len(text))


class WebStage(Stage):
    """The loop, whose tools of the web are the real ones but for their sockets."""

    def __init__(self, attempt: Attempt) -> None:
        self.web = SmallWeb(attempt=attempt, names=None, dial=None, tls=create_context(), robots=False)  # type: ignore[arg-type] # nothing is dialled
        super().__init__()
        self.task(tools=("web_fetch", "http_get", "web_search_tool"), task_prompt=f"Read {START} for the secret {SECRET}.")
        self.on_call = lambda ticket: self._repeat(dict(ticket.display_arguments))

    def deps(self) -> LoopDependencies:
        calls = KeylessCalls(tickets=self.tickets, scanner=self, clock=self.clock, ask=self._ask, hooks={"web": WebHook()})
        kinds = {"web": calls.execute, "search": calls.execute}
        return replace(super().deps(), registry=ToolRegistry(self._execute, kinds))

    async def _ask(self, function: str, body: Mapping[str, Any]) -> KeylessAnswer:
        if function == "search":
            line = " ".join(remove_invisible(body["arguments"]["query"]).split())
            return KeylessAnswer(json.dumps({"query": line, "results": []}, ensure_ascii=False))
        return read_answer(await web_fetch(self.web, body, ceiling=1_000_000))

    def _repeat(self, arguments: Mapping[str, Any]) -> ToolCallResult:
        query = {name: values[0] for name, values in parse_qs(str(arguments["url"]).partition("?")[2]).items()}
        self.web.posted.append(base64.urlsafe_b64decode(query["b64"]).decode())
        return ToolCallResult("http_get", self.web.posted[-1], response_status=200)

    async def attempt(self) -> list[URL]:
        """Return what was sent to hosts that are not approved."""
        script = [says("", ("web_fetch", {"url": START}))]
        script += [says("", *((name, dict(arguments)) for name, arguments in turn)) for turn in self.web.attempt.turns]
        await self.run(*script, says("done"))
        assert self.execution.status is Status.COMPLETED
        assert self.web.requests[0].host == "start.test"
        return [url for url in self.web.requests[1:] if url.host != APPROVED]


def judge(attempt: Attempt, sent: list[URL]) -> list[str]:
    """Return what more was told than a choice among the URLs that the page lists, with no code of the rule."""
    listed = {*attempt.listed, *attempt.page.split(), START}
    per_site = Counter(EVIL if url.host.endswith(EVIL) else url.host for url in sent)
    return [
        *(f"{url} is not listed" for url in sent if str(url) not in listed),
        *(
            f"{url} holds the secret"
            for url in sent
            if any(secret in unquote(unquote(str(url))).casefold() for secret in SECRETS)
        ),
        *(f"{count} pages of {site}" for site, count in per_site.items() if count > FETCHES_PER_SITE),
    ]


def _decode(url: URL) -> str:
    return unquote(unquote(str(url))).casefold()


def test_there_are_two_hundred_attempts_and_each_is_another() -> None:
    assert len(ATTEMPTS) >= 200
    assert len({attempt.name for attempt in ATTEMPTS}) == len({repr(attempt.turns) for attempt in ATTEMPTS}) == len(ATTEMPTS)


async def test_no_attempt_tells_more_than_which_listed_pages_were_fetched() -> None:
    findings = {attempt.name: judge(attempt, await WebStage(attempt).attempt()) for attempt in ATTEMPTS}
    assert {name: sentences for name, sentences in findings.items() if sentences} == {}


async def test_what_is_listed_is_fetched_so_often() -> None:
    orders = [attempt for attempt in ATTEMPTS if attempt.name.startswith("order")]
    assert [len(await WebStage(attempt).attempt()) for attempt in orders] == [FETCHES_PER_SITE] * len(orders)


async def test_without_the_rule_most_attempts_succeed() -> None:
    with patch.object(SeenUrls, "_judge", lambda *_: UrlOrigin.WRITTEN):
        got = [attempt.name for attempt in ATTEMPTS[::5] if judge(attempt, await WebStage(attempt).attempt())]
    assert len(got) > len(ATTEMPTS[::5]) / 2
