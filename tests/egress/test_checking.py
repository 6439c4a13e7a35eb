"""The checks of texts in worker processes: each comes back as the pure function has it."""

from __future__ import annotations

import re
from dataclasses import replace

import brotli
import pytest

from ferryman import offload
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.egress import checking
from ferryman.egress.body import ResponseBody
from ferryman.stack import functions
from tests.budgets import SHIPPED_TEXT
from tests.egress.plants import VALUES, credential

VALUE = VALUES["prefixed"]
KEYS = [credential(VALUE), credential(VALUES["github"], "OTHER_KEY")]
MARK = "[redacted:NEWS_KEY]"


async def test_texts_documents_and_turns_are_redacted_in_a_worker() -> None:
    assert await checking.redact("ann", iter(KEYS), f"see {VALUE}") == f"see {MARK}"
    assert await checking.redact_document("ann", iter(KEYS), f"see {VALUE}".encode()) == f"see {MARK}".encode()
    turn = [{"type": "text", "text": VALUE}, {"type": "text", "text": VALUES["github"]}]
    assert [block["text"] for block in await checking.scan_output("ann", iter(KEYS), turn)] == [MARK, "[redacted:OTHER_KEY]"]


async def test_a_text_of_the_system_is_framed_by_a_name_that_is_new_each_time() -> None:
    framed = [(await checking.frame_text("ann", iter(KEYS), f"see {VALUE}"))[0] for _ in range(2)]
    names = [
        re.fullmatch(r'<tool_response id="([0-9a-f]{16})" truncated="false">see (.*)</tool_response>', text) for text in framed
    ]
    assert [match and match[2] for match in names] == [MARK, MARK]
    assert len({match and match[1] for match in names}) == 2


def test_the_first_worker_has_longer_to_start_than_a_text_may_take_and_less_than_who_waits_for_it() -> None:
    assert 5 * SHIPPED_TEXT.wall_s < checking.WARMING.wall_s < functions.WARM_S


async def test_brotli_that_takes_more_than_its_budget_is_a_failed_request() -> None:
    body = ResponseBody("br", 100)
    body.feed(brotli.compress(b"plain"))
    with pytest.raises(CallRefusedError) as refused:
        await checking.finish_body("o", body, replace(offload.TEXT, wall_s=0))
    assert refused.value.refusal == refusal.report_failure("the answer's content coding took too long to undo")
    assert (await checking.finish_body("o", body)).content == b"plain"
