"""The functions without keys, as the orchestrator reaches them in the campaigns, and what counts their calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import UUID

from ferryman.catalog.tools import FILES
from ferryman.domain.calls.call import ToolCall
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.http.url import parse_page_url
from ferryman.ports.user_documents import UserDocuments
from ferryman.tools.concierge import save_preference  # noqa: F401 - it registers itself
from ferryman.tools.concierge.unit_of_work import UnitOfWork
from ferryman.tools.local_function import calculator  # noqa: F401 - it registers itself
from ferryman.tools.local_function.execute import answer
from ferryman.tools.search import web_search_tool  # noqa: F401 - as above
from tests.campaigns.crash import platform
from tests.campaigns.crash.files import build_page
from tests.campaigns.crash.platform import PlatformTools
from tests.campaigns.crash.scenarios import LONG_PAGE
from tests.plain_pages import PlainPages, ask_web
from tests.searxng.engines import ask_fixture


class Tally(Protocol):
    """What was seen from outside: it outlives every process that is killed."""

    def add(self, kind: str, **line: Any) -> None: ...
    def list_lines(self, kind: str) -> list[dict[str, Any]]: ...


class LocalFunctions:
    """The functions without keys, as the orchestrator reaches them: they remember nothing that could be lost.

    `files` is the function of that name, which may be in a process of its own.
    """

    def __init__(
        self, documents: UserDocuments, tally: Tally | None = None, files: Any = None, platform: PlatformTools | None = None
    ) -> None:
        self._documents, self._tally, self._files, self._platform = documents, tally, files, platform
        self._engine = ask_fixture([])

    async def ask(self, function: str, body: Mapping[str, Any]) -> KeylessAnswer:
        """Run the tool that `body` names."""
        if function == FILES:
            answered_file: KeylessAnswer = await self._files.ask(body)
            return answered_file
        if function == platform.FUNCTION:
            assert self._platform is not None, "a scenario calls it"
            return await self._platform.ask(body)
        if function == "web":
            answered_page = await ask_web(body, self._find_page(str(body["arguments"].get("url"))))
            if self._tally is not None and answered_page.url is not None:
                path = parse_page_url(answered_page.url).path
                self._tally.add("effect", path=path, method=answered_page.method, key=None)
            return answered_page
        tool_call = ToolCall(id=body["call"], name=body["tool"], arguments=body["arguments"])
        if function != "concierge":
            answered = await answer(tool_call, UUID(body["user"]), self._engine if function == "search" else None)
            return KeylessAnswer(answered.content, answered.code)
        db = UnitOfWork(self._documents, body["user"])
        answered = await answer(tool_call, UUID(body["user"]), db)
        return KeylessAnswer(answered.content, answered.code, db.close(failed=answered.code is not None))

    def _find_page(self, url: str) -> PlainPages:
        if self._tally is None or not url.endswith(LONG_PAGE):
            return PlainPages()
        fetched = [line for line in self._tally.list_lines("effect") if line["path"] == LONG_PAGE]
        return PlainPages(build_page(len(fetched)).encode())
