"""`extract` in the loop: a quarantined model reads, its value stays hidden and keeps its label, and is paid for once."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar

import pytest

from ferryman.catalog.tools import EXTRACTING
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.message import Reply
from ferryman.domain.expense import Expense
from ferryman.domain.extraction.prompt import SOURCE_CHARACTERS_MAX
from ferryman.domain.labels.label import Integrity
from ferryman.halting import HaltWatch
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.model import ScriptedModel
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.loop.dependencies import LoopDependencies
from ferryman.ports.errors import UnavailableError
from ferryman.tools.extracting.asking import QuarantinedModel
from ferryman.tools.extracting.extract import Extractions
from ferryman.tools.passing.pass_call import ask_for_call
from ferryman.tools.recalling.read_result import ResultReadings
from ferryman.tools.registry import ToolRegistry
from tests.loop.test_passing import GIST, PING, SECRET, PassingStage, label, passes, ref
from tests.replay.conftest import otherwise
from tests.replay.test_replay import went_on

from .conftest import PRICES, says

SCHEMA = {"type": "object", "properties": {"amount": {"type": "number"}, "day": {"type": "string", "format": "date"}}}
VALUE = {"amount": 12.5, "day": "2026-11-24"}


class ExtractingStage(PassingStage):
    """A stage whose task may extract values as well."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.task(tools=("http_get", "http_post", "pass", "extract"))

    def deps(self) -> LoopDependencies:
        deps = super().deps()
        extractions = Extractions(
            tickets=MemoryTickets(self.memory),
            scanner=self,
            clock=self.clock,
            executions=deps.executions,
            quarantined=QuarantinedModel(
                model=self.model, halt_watch=HaltWatch(MemoryHalts(self.memory), self.log, every=deps.poll_interval)
            ),
            price=PRICES.find,
        )
        kinds = {"passing": ask_for_call, EXTRACTING: extractions.execute}
        return replace(deps, registry=ToolRegistry(self._execute, kinds))


@pytest.fixture
def stage() -> ExtractingStage:
    return ExtractingStage()


def extracts(source: Any = None, *, schema: Any = SCHEMA, question: str = "Amount and day?", **more: Any) -> Reply:
    arguments = {"from": ref(1, "text") if source is None else source, "schema": schema, "question": question, **more}
    return says("", ("extract", arguments))


def says_found(value: Any = VALUE, **more: Any) -> Reply:
    return says(json.dumps({"found": True, "value": value, **more}), tokens=20)


SCRIPT = [passes("http_get", PING), extracts(), says_found(), says("Done.")]


async def test_the_model_reads_the_reference_and_the_shape_alone(stage: ExtractingStage) -> None:
    await stage.run(*SCRIPT)
    answer = stage.model.prompts[-1].messages[-1]["content"][0]["content"]
    assert 'Refer to it by {"$from": {"call": 2}}' in answer
    assert '{"amount": "number", "day": "string"}' in answer
    acting = [prompt.messages for prompt in stage.model.prompts if prompt.tools]
    assert len(acting) == 3
    assert not any(word in json.dumps(acting) for word in (SECRET, "12.5", "2026-11-24"))


async def test_the_quarantined_model_has_no_tools_and_nothing_of_the_conversation(stage: ExtractingStage) -> None:
    await stage.run(*SCRIPT)
    (prompt,) = [prompt for prompt in stage.model.prompts if not prompt.tools]
    text = json.dumps([prompt.system, prompt.messages])
    assert SECRET in text
    assert "Amount and day?" in text
    assert "Read the prices" not in text
    assert len(prompt.messages) == 1


async def test_the_value_has_the_label_of_its_source_and_the_conversation_stays_trusted(stage: ExtractingStage) -> None:
    await stage.run(*SCRIPT[:3], passes("http_post", {"url": GIST, "body": ref(2)}), says("Done."))
    extracted, passed, sent = stage.tickets_of[2:]
    assert extracted.hidden
    assert extracted.result is not None
    assert extracted.result.parts[0].label.integrity is Integrity.UNTRUSTED
    assert passed.label.integrity is Integrity.TRUSTED
    assert sent.label.integrity is Integrity.UNTRUSTED
    assert [source.call for source in sent.label.sources] == [1, 2]
    assert sent.display_arguments["body"] == VALUE


@pytest.mark.parametrize("path", [("amount",), ("day",)])
async def test_a_value_in_a_deciding_argument_asks_whatever_its_type(stage: ExtractingStage, path: tuple[str, ...]) -> None:
    await stage.run(*SCRIPT[:3], passes("http_post", {"url": GIST, "body": {"to": ref(2, *path)}}), says("Done."))
    flow = stage.tickets_of[-1].flow
    assert flow is not None
    assert flow.asks
    assert any("handed on from call 2 (http_get), call 3 (extract)" in line for line in flow.lines)


async def test_a_wrong_answer_is_asked_for_again_once(stage: ExtractingStage) -> None:
    await stage.run(*SCRIPT[:2], says(SECRET), says_found(), says("Done."))
    prompts = [prompt for prompt in stage.model.prompts if not prompt.tools]
    assert [len(prompt.messages) for prompt in prompts] == [1, 3]
    assert stage.results[2].ok
    assert stage.results[2].model_use is not None
    assert stage.results[2].model_use.calls == 2


@pytest.mark.parametrize(
    "answers",
    [
        (says(SECRET), says(SECRET)),
        (says_found({"amount": SECRET, "day": "2026-11-24"}),) * 2,
        (says_found({**VALUE, "more": SECRET}),) * 2,
        (says_found(VALUE, note=SECRET),) * 2,
        (says_found({"amount": 1, "day": SECRET}),) * 2,
        (says('{"found": false}'),),
        (says("", ("http_get", PING)), says_found(), says("unused")),
        (says(json.dumps({"found": True, "value": VALUE}), stop="max_tokens"),) * 2,
    ],
)
async def test_what_is_wrong_tells_nothing_of_the_source(stage: ExtractingStage, answers: tuple[Reply, ...]) -> None:
    await stage.run(*SCRIPT[:2], *answers, says("Done."), says("Done."))
    acting = [prompt.messages for prompt in stage.model.prompts if prompt.tools]
    assert SECRET not in json.dumps(acting)
    assert stage.execution.status is Status.COMPLETED


async def test_after_two_wrong_answers_there_is_a_clear_error(stage: ExtractingStage) -> None:
    await stage.run(*SCRIPT[:2], says("a"), says("b"), says("Done."))
    assert stage.results[2].code == "not_extracted"
    assert stage.results[2].content == "Error: the model that read the text gave no answer of this schema"


@pytest.mark.parametrize("source", [ref(0), ref(2), ref(9), ref(-1), ref(1, "nothing"), {"$from": {"call": True}}, "text", 1])
async def test_a_source_that_is_none_is_refused_before_any_model_call(stage: ExtractingStage, source: Any) -> None:
    await stage.run(passes("http_get", PING), extracts(source), says("Done."))
    assert stage.results[2].code in ("reference_not_found", "invalid_arguments")
    assert all(prompt.tools for prompt in stage.model.prompts)


async def test_a_blocked_call_is_no_source(stage: ExtractingStage) -> None:
    await stage.run(passes("nothing", PING), extracts(ref(1)), says("Done."))
    assert stage.results[2].code == "reference_not_found"


async def test_a_long_text_is_cut_and_that_is_said(stage: ExtractingStage) -> None:
    stage.on_call = lambda ticket: label(ticket, json.dumps({"text": "x" * (SOURCE_CHARACTERS_MAX + 7)}))
    await stage.run(*SCRIPT)
    answer = stage.model.prompts[-1].messages[-1]["content"][0]["content"]
    assert "Only the first 40,000 of 40,007 characters were read." in answer
    (prompt,) = [prompt for prompt in stage.model.prompts if not prompt.tools]
    assert "its first 40,000 characters, of 40,007" in json.dumps(prompt.messages)


def tokens_of(stage: ExtractingStage) -> Decimal:
    postings = [posting for entry in stage.memory.entries.values() for posting in entry.postings]
    return sum((posting.credits for posting in postings if posting.account == Expense.LLM_TOKENS), Decimal(0))


async def test_it_is_paid_for_with_the_execution_s_credits(stage: ExtractingStage) -> None:
    await stage.run(*SCRIPT)
    price = PRICES.find("scripted/x")
    assert price is not None
    use = stage.results[2].model_use
    assert use is not None
    assert (use.input_tokens, use.output_tokens) == (20, 20)
    steps = sum((step.credits for step in stage.memory.steps["e"].values()), Decimal(0))
    assert stage.execution.credits_used == steps + use.credits == tokens_of(stage)
    assert use.credits > 0
    assert stage.execution.usage.input_tokens == 3 * 10 + 20


async def test_usage_events_have_what_it_used(stage: ExtractingStage) -> None:
    await stage.run(*SCRIPT)
    events = list(stage.memory.usage_events.values())
    assert sum((event.count_all().llm_tokens for event in events), Decimal(0)) == stage.execution.credits_used
    assert sum(event.usage.total for event in events) == stage.execution.usage.total
    for event in events:
        tools = sum(tool.definition_tokens + tool.result_tokens + tool.call_tokens for tool in event.tools)
        assert tools + event.text_tokens == event.usage.total


async def test_what_it_used_before_the_end_is_in_the_event_of_the_end(stage: ExtractingStage) -> None:
    await stage.run(*SCRIPT[:3], says("", stop="end_turn", tokens=10_000_000))
    events = list(stage.memory.usage_events.values())
    assert sum((event.count_all().llm_tokens for event in events), Decimal(0)) == stage.execution.credits_used


async def test_it_is_refused_where_the_credits_do_not_suffice(stage: ExtractingStage) -> None:
    stage.task(max_credits=Decimal(1))
    await stage.run(passes("http_get", PING), extracts(), says_found(), says("Done."))
    assert stage.execution.credits_used <= 1


class Dying(MemoryExecutions):
    """A store whose instance dies once, after a write."""

    at: ClassVar[int] = 0

    async def _count(self, done: Any) -> Any:
        result = await done
        type(self).at -= 1
        if self.at == 0:
            raise UnavailableError("the instance dies")
        return result

    async def journal_sub_calls(self, *arguments: Any, **named: Any) -> Any:
        return await self._count(super().journal_sub_calls(*arguments, **named))

    async def settle(self, *arguments: Any, **named: Any) -> Any:
        return await self._count(super().settle(*arguments, **named))

    async def commit(self, *arguments: Any, **named: Any) -> Any:
        return await self._count(super().commit(*arguments, **named))


class ByPrompt(ScriptedModel):
    """A model that answers by what it is asked, so that it may be asked again."""

    async def reply(self, prompt: Any, **_: Any) -> Reply:
        self.prompts.append(prompt)
        if not prompt.tools:
            return says_found()
        turn = sum(message["role"] == "assistant" for message in prompt.messages)
        return [SCRIPT[0], SCRIPT[1], passes("http_post", {"url": GIST, "body": {}}), SCRIPT[3]][turn]


@pytest.mark.parametrize("point", range(1, 9))
async def test_wherever_the_instance_dies_it_is_paid_for_once(
    stage: ExtractingStage, point: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = PassingStage.deps
    monkeypatch.setattr(PassingStage, "deps", lambda self: replace(before(self), executions=Dying(self.memory)))
    Dying.at = point
    stage.model = ByPrompt([])
    await went_on(stage)
    assert stage.execution.status is Status.COMPLETED
    use = stage.results[2].model_use
    assert use is not None
    steps = sum((step.credits for step in stage.memory.steps["e"].values()), Decimal(0))
    assert stage.execution.credits_used == steps + use.credits == tokens_of(stage)
    assert stage.execution.usage.total == 4 * 20 + 40


async def test_a_lost_answer_is_asked_for_again_and_paid_for_once(stage: ExtractingStage) -> None:
    stage.model = ScriptedModel([*SCRIPT[:2], UnavailableError("gone", lost=True), says_found(), says("Done.")])
    await went_on(stage)
    use = stage.results[2].model_use
    assert use is not None
    steps = sum((step.credits for step in stage.memory.steps["e"].values()), Decimal(0))
    assert stage.execution.credits_used == steps + use.credits
    assert stage.tickets_of[2].attempt == 2


async def test_a_replay_needs_no_quarantined_model(stage: ExtractingStage) -> None:
    await stage.run(*SCRIPT[:3], passes("http_post", {"url": GIST, "body": ref(2)}), says("Done."))
    assert await otherwise(stage) == []


async def test_a_replay_of_one_that_ended_with_it(stage: ExtractingStage) -> None:
    stage.task(max_iterations=2)
    await stage.run(passes("http_get", PING), extracts(), says_found(), says("Done."))
    assert await otherwise(stage) == []


async def test_a_replay_of_what_was_refused(stage: ExtractingStage) -> None:
    await stage.run(passes("http_get", PING), extracts(ref(9)), extracts(), says("a"), says("b"), says("Done."))
    assert await otherwise(stage) == []


async def test_a_hidden_value_is_not_read_again_with_its_number(stage: ExtractingStage) -> None:
    await stage.run(*SCRIPT)
    readings = ResultReadings(
        tickets=stage.tickets, scanner=stage, clock=stage.clock, conversations=None, executions=MemoryExecutions(stage.memory)
    )  # type: ignore[arg-type]
    assert await readings._read_ticket("e", 1) is None
    assert await readings._read_ticket("e", 2) is None
    assert isinstance(await readings._read_ticket("e", 0), ToolCallResult)
