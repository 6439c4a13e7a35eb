"""The checks of texts in worker processes: each comes back as the pure function has it."""

from __future__ import annotations

import re

from ferryman.egress import checking
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
    framed = [await checking.frame_text("ann", iter(KEYS), f"see {VALUE}") for _ in range(2)]
    names = [
        re.fullmatch(r'<tool_response id="([0-9a-f]{16})" truncated="false">see (.*)</tool_response>', text) for text in framed
    ]
    assert [match and match[2] for match in names] == [MARK, MARK]
    assert len({match and match[1] for match in names}) == 2
