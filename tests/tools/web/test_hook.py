"""What the function of public pages is asked for: as much of a page as is shown, or as is kept."""

from __future__ import annotations

import pytest

from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.files.kept import KEPT_BYTES_MAX
from ferryman.ports.tickets import CallRequest, ClaimedCall
from ferryman.tools.web.hook import WebHook
from tests.builders import START, build_execution, build_policy, build_ticket

READS_ON = ("web_fetch", "file_read")


@pytest.mark.parametrize(
    ("keeps", "tools", "most"), [(True, READS_ON, KEPT_BYTES_MAX), (True, ("web_fetch",), 30_000), (False, READS_ON, 30_000)]
)
async def test_all_of_a_page_is_asked_for_where_its_rest_is_kept(keeps: bool, tools: tuple[str, ...], most: int) -> None:
    ticket = build_ticket(tool="web_fetch", display_arguments={"url": "https://a.test/"}, url_origin=UrlOrigin.WRITTEN)
    claimed = ClaimedCall(
        call_request=CallRequest(execution="e", seq=0, epoch=1, task="t", owner="o"),
        ticket=ticket,
        policy=build_policy(tools=tools),
        versions={},
        created=START,
    )
    assert (await WebHook(keeps).prepare(claimed, build_execution()))["most"] == most
