"""The tool `read_result`: pages of earlier results of the same conversation, and of no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.calls.refusal import ERROR
from ferryman.domain.conversations.images import IMAGE_PLACEHOLDER
from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.message import Block
from ferryman.domain.labels.label import Integrity
from ferryman.egress.leaks import SecretScanner, redact_blocks
from ferryman.inmemory.clock import START, ManualClock
from ferryman.inmemory.conversations import MemoryConversations
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.tools.recalling.read_result import PAGE_CHARACTERS, ResultReadings
from tests.builders import build_execution, build_lease, build_policy, build_settled_ticket, build_task, build_ticket
from tests.egress.plants import VALUES, credential


class Reader:
    """An execution that answers message 3 of `conv`, after an answer whose call 0 read a page."""

    def __init__(self) -> None:
        self.memory, self.clock = Memory(), ManualClock()
        about = {"conversation": "conv", "question": 3, "answer": 4, "lease": build_lease(), "policy": build_policy()}
        self.execution = build_execution(**about, status=Status.RUNNING)
        self.memory.executions["e"] = self.execution
        self.memory.tasks["t"] = build_task()
        self.scanner = SecretScanner([])
        self.store("A page.")

    def store(self, text: str, *, conversation: str = "conv") -> None:
        self.memory.tickets["earlier"] = {0: build_settled_ticket(result=build_result(text))}
        about = {"conversation": conversation, "number": 2, "parent": 1, "role": Speaker.ASSISTANT, "at": START}
        self.memory.messages[conversation] = {2: Message(**about, content="", execution="earlier")}

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
        return redact_blocks(content, self.scanner)

    async def read(self, **arguments: object) -> ToolCallResult:
        ticket = build_ticket(tool="read_result", display_arguments=arguments, seq=5)
        self.memory.tickets.setdefault("e", {})[5] = ticket
        readings = ResultReadings(
            tickets=MemoryTickets(self.memory),
            scanner=self,
            clock=self.clock,
            conversations=MemoryConversations(self.memory),
            executions=MemoryExecutions(self.memory),
        )
        settled = await readings.execute(ticket, execution=self.execution)
        assert settled.result is not None
        return settled.result


def build_result(text: str) -> ToolCallResult:
    return ToolCallResult("http_get", text, parts=(Part(kind=PartKind.TEXT, start=0, end=len(text)),))


def read_body(result: ToolCallResult) -> str:
    return result.content[result.parts[0].start : result.parts[0].end]


@pytest.fixture
def reader() -> Reader:
    return Reader()


async def test_an_earlier_result_is_read_again_in_a_frame_of_its_own(reader: Reader):
    result = await reader.read(message=2, call=0)
    assert (read_body(result), result.ok) == ("A page.", True)
    assert result.content.startswith("<tool_response")
    assert result.parts[0].label.integrity is Integrity.UNTRUSTED


async def test_a_long_result_is_read_page_by_page(reader: Reader):
    text = "".join(f"{number:05d}" for number in range(3_000))
    reader.store(text)
    first = read_body(await reader.read(message=2, call=0))
    how = '{"message": 2, "call": 0, "offset": 9000}'
    assert first == f"{text[:PAGE_CHARACTERS]}\n[Characters 0 to 9,000 of 15,000. To read on: read_result {how}]"
    assert read_body(await reader.read(message=2, call=0, offset=9_000)) == text[9_000:]


async def test_a_result_of_the_same_answer_is_read_on(reader: Reader):
    reader.memory.tickets["e"] = {1: build_settled_ticket(seq=1, result=build_result("0123456789"))}
    assert read_body(await reader.read(message=4, call=1, offset=4)) == "456789"


async def test_no_part_of_a_credential_that_was_stored_later_is_read_by_pages_of_chosen_beginnings(reader: Reader):
    policy = replace(build_policy(), tools=("api_call",), credentials=("KEY",))
    reader.execution = reader.memory.executions["e"] = replace(reader.execution, policy=policy)
    key = VALUES["github"]
    reader.scanner = SecretScanner([credential(key, "KEY")])
    reader.store(f"{'.' * PAGE_CHARACTERS}{key}{'.' * PAGE_CHARACTERS}")
    offsets = [*range(6, len(key), 6), *range(PAGE_CHARACTERS, PAGE_CHARACTERS + len(key), 6)]
    pages = [read_body(await reader.read(message=2, call=0, offset=offset)) for offset in offsets]
    parts = {key[at : at + 6] for at in range(4, len(key) - 5)}
    assert not [part for part in parts if any(part in page for page in pages)]


async def test_an_image_is_not_read_again(reader: Reader):
    reader.store(f"data:image/png;base64,{'A' * 300}")
    assert read_body(await reader.read(message=2, call=0)) == IMAGE_PLACEHOLDER


async def test_what_an_execution_has_left_is_read_from_the_message(reader: Reader):
    reader.memory.tickets.pop("earlier")
    stored = {"call": "toolu_0", "seq": 0, "name": "http_get", "ok": True, "content": "Kept.", "parts": [("text", 0, 5)]}
    message = reader.memory.messages["conv"][2]
    reader.memory.messages["conv"][2] = replace(message, parts=({"text": "", "calls": [], "results": [stored]},))
    assert read_body(await reader.read(message=2, call=0)) == "Kept."


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"message": 2},
        {"message": "2", "call": 0},
        {"message": True, "call": 0},
        {"message": 2, "call": -1},
        {"message": 2, "call": 0, "offset": 10**9},
        {"message": 1, "call": 0},
        {"message": 2, "call": 7},
    ],
    ids=str,
)
async def test_what_is_not_there_is_an_error(reader: Reader, arguments: dict[str, object]):
    result = await reader.read(**arguments)
    assert (result.ok, result.code) == (False, "invalid_arguments")
    assert ERROR in result.content


async def test_no_message_of_another_conversation_is_read(reader: Reader):
    reader.memory.messages.clear()
    reader.store("Of somebody else.", conversation="other")
    for arguments in ({}, {"conversation": "other"}, {"conversation_id": "other", "execution": "earlier"}):
        result = await reader.read(message=2, call=0, **arguments)
        assert "somebody" not in result.content
        assert not result.ok


async def test_an_execution_of_no_conversation_has_none_to_read(reader: Reader):
    reader.execution = replace(reader.execution, conversation="conv", question=0, answer=0)
    assert not (await reader.read(message=2, call=0)).ok
