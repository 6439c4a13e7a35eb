"""Quiet: what the network libraries would write of a request on the way out reaches no log."""

from __future__ import annotations

import io
import logging

import pytest

from ferryman.egress import quiet
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import GateHarness, reply
from tests.egress.plants import VALUES, credential, outbound, policy

VALUE = VALUES["prefixed"]
KEYS = {"NEWS_KEY": credential(VALUE)}


@pytest.mark.parametrize("name", ["httpx", "httpcore", "httpcore.http11", "httpcore.connection", "h11", "hpack.table", "h2"])
def test_a_library_of_the_way_out_is_not_heard_at_any_level(name: str, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger(name)
    quiet.silence_network_logs()
    with caplog.at_level(logging.DEBUG):
        for level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.CRITICAL):
            logging.getLogger(name).log(level, "authorization: %s", VALUE)
    assert caplog.records == []


def test_a_childs_own_level_does_not_undo_the_silence(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("httpcore.http11").setLevel(logging.DEBUG)
    quiet.silence_network_logs()
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("httpcore.http11").debug(VALUE)
    assert caplog.records == []


def test_a_warning_of_asyncio_is_heard_without_what_follows_the_name_of_a_key(caplog: pytest.LogCaptureFixture) -> None:
    quiet.silence_network_logs()
    logging.getLogger("asyncio").warning("Executing %s took long", {"Authorization": f"Bearer {VALUE}"})
    assert "Executing" in caplog.text
    assert VALUE not in caplog.text


async def test_a_response_header_that_repeats_the_key_is_in_no_log(harness: GateHarness) -> None:
    """httpcore writes the headers of every response at DEBUG."""
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    logging.getLogger().addHandler(handler)
    try:
        async with harness.serve("api.news.test", reply(headers=[f"x-you-sent: {VALUE}", f"set-cookie: a={VALUE}"])):
            result = await harness.gate().send(outbound(), CallPolicy(execution=policy(), credentials=KEYS))
    finally:
        logging.getLogger().removeHandler(handler)
    assert result.response_status == 200
    assert VALUE not in heard.getvalue()
