"""What the orchestrator adds to a call of a public page: where it may lead. A URL that is not to be fetched goes no further."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.catalog.tools import find_tool, is_kept
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import limit_result
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.kept import KEPT_BYTES_MAX
from ferryman.domain.http.url import InvalidUrlError, parse_page_url
from ferryman.domain.urls.origin import FETCHES_PER_SITE
from ferryman.ports.tickets import ClaimedCall
from ferryman.tools.keyless.hook import CallTarget


@dataclass(frozen=True, slots=True)
class WebHook:
    """The hook of the kind `web`. The decision is the ticket's, made when it was journaled.

    `keeps` tells that what is longer than a model is shown is kept, where the execution can read on.
    """

    keeps: bool = False

    async def find_target(self, claimed: ClaimedCall, execution: Execution) -> CallTarget:  # noqa: ARG002 - the ticket says it
        url, origin = claimed.ticket.display_arguments.get("url"), claimed.ticket.url_origin
        if origin is None or not origin.is_fetched or not isinstance(url, str):
            raise CallRefusedError(_refuse(url, origin))
        try:
            host = parse_page_url(url.strip()).host
        except InvalidUrlError as error:
            raise CallRefusedError(refusal.refuse_malformed_url(str(error))) from None
        return CallTarget(name=url, host=host, method="GET")

    async def prepare(self, claimed: ClaimedCall, execution: Execution) -> Mapping[str, Any]:  # noqa: ARG002 - the ticket says it
        """Return `origin`, and whether redirects may lead `anywhere` public; if not, to hosts of the patterns `domains`.

        `most` are the characters of a page that are answered: those that are shown, or those that are kept.

        Raise `CallRefusedError`.
        """
        origin = claimed.ticket.url_origin
        if origin is None or not origin.is_fetched:
            raise CallRefusedError(_refuse(claimed.ticket.display_arguments.get("url"), origin))
        is_made_up = origin is UrlOrigin.APPROVED
        domains = list(claimed.policy.domains) if is_made_up else []
        tool = claimed.ticket.tool
        keeps = self.keeps and is_kept(tool, claimed.policy)
        most = KEPT_BYTES_MAX if keeps else limit_result(find_tool(tool).policy)
        return {"origin": origin.value, "anywhere": not is_made_up, "domains": domains, "most": most}

    async def conclude(self, claimed: ClaimedCall, execution: Execution, answer: KeylessAnswer | None) -> None:
        """Do nothing: nothing was set aside."""

    def label_answer(self, answer: KeylessAnswer) -> None:
        """Return None: every page has the label of the tool's entry."""


def _refuse(url: object, origin: UrlOrigin | None) -> refusal.Refusal:
    if not isinstance(url, str):
        return refusal.refuse_wrong_argument("web_fetch", "url", "a text")
    if origin is UrlOrigin.SPENT:
        return refusal.refuse_spent_site(FETCHES_PER_SITE)
    try:
        parse_page_url(url.strip())
    except InvalidUrlError as error:
        return refusal.refuse_malformed_url(str(error))
    return refusal.URL_NOT_SEEN
