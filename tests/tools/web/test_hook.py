"""What the function of public pages is asked for: as much of a page as is shown, or as is kept."""

from __future__ import annotations

import pytest

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.files.kept import KEPT_BYTES_MAX
from ferryman.ports.tickets import CallRequest, ClaimedCall
from ferryman.tools.web.hook import WebHook
from tests.builders import START, build_execution, build_policy, build_ticket

READS_ON = ("web_fetch", "file_read")


def claim(origin: UrlOrigin | None, tools: tuple[str, ...] = READS_ON) -> ClaimedCall:
    """Return a call of a page whose URL is of this origin."""
    return ClaimedCall(
        call_request=CallRequest(execution="e", seq=0, epoch=1, task="t", owner="o"),
        ticket=build_ticket(tool="web_fetch", display_arguments={"url": "https://a.test/"}, url_origin=origin),
        policy=build_policy(tools=tools, domains=("ok.test",)),
        versions={},
        created=START,
        context=build_execution().context,
    )


@pytest.mark.parametrize(
    ("keeps", "tools", "most"), [(True, READS_ON, KEPT_BYTES_MAX), (True, ("web_fetch",), 30_000), (False, READS_ON, 30_000)]
)
async def test_all_of_a_page_is_asked_for_where_its_rest_is_kept(keeps: bool, tools: tuple[str, ...], most: int) -> None:
    claimed = claim(UrlOrigin.WRITTEN, tools)
    assert (await WebHook(keeps).prepare(claimed, build_execution()))["most"] == most


@pytest.mark.parametrize("origin", [None, *(origin for origin in UrlOrigin if not origin.is_fetched)])
async def test_a_url_that_was_not_judged_or_not_seen_is_not_asked_for(origin: UrlOrigin | None) -> None:
    with pytest.raises(CallRefusedError):
        await WebHook().prepare(claim(origin), build_execution())


@pytest.mark.parametrize(
    ("origin", "anywhere"), [(UrlOrigin.WRITTEN, True), (UrlOrigin.RESULT, True), (UrlOrigin.APPROVED, False)]
)
async def test_a_made_up_url_leads_to_approved_domains_alone(origin: UrlOrigin, anywhere: bool) -> None:
    addition = await WebHook().prepare(claim(origin), build_execution())
    assert (addition["anywhere"], addition["domains"]) == (anywhere, [] if anywhere else ["ok.test"])


async def test_a_person_reads_which_page_would_be_fetched() -> None:
    target = await WebHook().find_target(claim(UrlOrigin.WRITTEN), build_execution())
    assert (target.name, target.host, target.method) == ("https://a.test/", "a.test", "GET")


async def test_nobody_is_asked_about_a_page_that_is_not_fetched_anyway() -> None:
    with pytest.raises(CallRefusedError):
        await WebHook().find_target(claim(None), build_execution())
