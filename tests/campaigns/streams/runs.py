"""Generated answers, by a seed: every state that a watcher may see of one, in order.

They have parallel calls, calls that ask for others, calls that wait for people and what these decide, errors, texts that are
replaced, turns that are asked for again, a stop at any moment, and an end without an answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Any

from ferryman.domain.calls.approved import ApprovedSend
from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.conversations.live import LiveBlock, LiveTurn
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Execution, Status, Step
from ferryman.domain.executions.message import join_text
from ferryman.domain.executions.usage import Usage
from tests.builders import START, build_execution, build_step, build_ticket

WORDS = (
    "Hello",
    "we",
    "looked",
    "it",
    "up",
    "für",
    "你好",
    "🙂",
    "\u2028",
    "\n\n",
    "data: x",
    "id: 9",
    "a\r\nb",
    '"q"',
    "</s>",
    " ",
)
TOOLS = ("web_fetch", "calculator", "file_read")
TURNS_MAX = 4
CALLS_MAX = 4


@dataclass(slots=True)
class Run:
    """An answer under way, and the states of it that were there so far."""

    random: Random
    execution: Execution
    steps: list[Step] = field(default_factory=list)
    tickets: dict[int, Ticket] = field(default_factory=dict)
    states: list[WatchedAnswer] = field(default_factory=list)

    def note(self, live: LiveTurn | None = None) -> None:
        """Add the state as it is now; a watcher does not see every one."""
        state = WatchedAnswer(execution=self.execution, steps=tuple(self.steps), tickets=dict(self.tickets), live=live)
        self.states.append(state)

    @property
    def next_event(self) -> int:
        """The number of the event that comes next."""
        if not self.steps:
            return 2
        last = self.steps[-1]
        return last.event + 1 + 2 * sum(ticket.step == last.number for ticket in self.tickets.values())


def generate_run(seed: int) -> Sequence[WatchedAnswer]:
    """Return the states of one answer; the last one has ended."""
    random = Random(seed)
    run = Run(random, build_execution(id=f"exec_{seed}", conversation="conv_1", answer=2, question=1))
    run.note()
    if random.random() < 0.06:
        _end(run, Status.KILLED, "cancelled")
        return run.states
    run.execution = replace(run.execution, status=Status.RUNNING, started_at=START)
    run.note()
    if random.random() < 0.1:
        _summarize(run)
    for _ in range(random.randint(1, TURNS_MAX)):
        if random.random() < 0.08:
            return _break_off(run)
        if not _take_turn(run, is_last=random.random() < 0.25):
            break
    if not run.execution.status.terminal:
        _end(run, Status.COMPLETED, None)
    return run.states


def _summarize(run: Run) -> None:
    """Begin with a turn that is no part of the answer: nobody is shown its text."""
    content = ({"type": "text", "text": "They have spoken of ferries."},)
    run.steps.append(build_step(content=content, usage=Usage(input_tokens=9), summarizes=3, event=run.next_event))
    run.note()


def _take_turn(run: Run, *, is_last: bool) -> bool:
    """Write, commit and execute a turn; return whether another one follows."""
    random = run.random
    while random.random() < 0.15:  # the model is asked again: what was written is void
        _write(run, _draw_content(random, calls=random.randint(0, 2)))
        run.note(random.choice([None, LiveTurn(event=run.next_event)]))
    calls = 0 if is_last else random.randint(0, CALLS_MAX)
    content = _draw_content(random, calls=calls)
    if random.random() < 0.8:
        _write(run, content, is_whole=True)
        if random.random() < 0.3:
            run.note()
    if random.random() < 0.15:
        content = _redact(random, content)
    is_broken = calls > 0 and random.random() < 0.1
    _commit(run, content, calls=0 if is_broken else calls, stop_reason="max_tokens" if is_broken else "tool_use")
    if random.random() < 0.3:
        run.note(LiveTurn(event=run.steps[-1].event, blocks=_read_live(content, random)))  # of a turn that is committed
    if not calls or is_broken:
        return False
    _settle(run)
    return not run.execution.status.terminal


def _draw_content(random: Random, *, calls: int) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if random.random() < 0.2:
        blocks.append({"type": "thinking", "thinking": _draw_text(random), "signature": "s"})
    texts = random.choice([0, 1, 1, 1, 2])
    blocks += [{"type": "text", "text": _draw_text(random)} for _ in range(texts)]
    for number in range(calls):
        name = random.choice(["toolu_1", f"toolu_{random.randrange(10**6)}_{number}"])
        arguments = {"query": _draw_text(random), "most": random.randint(0, 9), "deep": [{"ä": None}] * random.randint(0, 2)}
        blocks.append({"type": "tool_use", "id": name, "name": random.choice(TOOLS), "input": arguments})
        if random.random() < 0.15:
            blocks.append({"type": "text", "text": _draw_text(random)})
    return blocks


def _draw_text(random: Random) -> str:
    return " ".join(random.choice(WORDS) for _ in range(random.randint(0, 8)))


def _read_live(content: Sequence[dict[str, Any]], random: Random) -> tuple[LiveBlock, ...]:
    """Return a content as the model writes it, in a spelling of its own; what is no text and no call may be an empty text."""
    separators = random.choice([(", ", ": "), (",", ":"), (" ,\n", " : ")])
    is_ascii, blocks = random.random() < 0.5, []
    for block in content:
        if block["type"] == "tool_use":
            text = json.dumps(block["input"], separators=separators, ensure_ascii=is_ascii)
            blocks.append(LiveBlock(text, block["id"], block["name"]))
        else:
            blocks.append(LiveBlock(block.get("text", "")))
    return tuple(blocks)


def _write(run: Run, content: Sequence[dict[str, Any]], *, is_whole: bool = False) -> None:
    """Have the watchers see a turn grow, to its end or to any place in it."""
    random, blocks = run.random, _read_live(content, run.random)
    length = sum(len(block.text) for block in blocks)
    most = length if is_whole else random.randint(0, length)
    place = 0
    while place < most:
        place = min(most, place + random.randint(1, 12))
        run.note(LiveTurn(event=run.next_event, blocks=_shorten(blocks, place)))
        if random.random() < 0.05:
            run.note()  # nothing is known of it for a moment


def _shorten(blocks: Sequence[LiveBlock], length: int) -> tuple[LiveBlock, ...]:
    seen = []
    for block in blocks:
        seen.append(replace(block, text=block.text[:length]))
        length -= len(block.text)
        if length <= 0:
            break
    return tuple(seen)


def _redact(random: Random, content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a content as a scan leaves it: without a block, or with a text that is another one from some place on."""
    number = random.randrange(len(content)) if content else 0
    if not content or content[number]["type"] != "text":
        return content
    if random.random() < 0.3:
        return content[:number] + content[number + 1 :]
    text = content[number]["text"]
    place = random.randint(0, len(text))
    return [*content[:number], {"type": "text", "text": f"{text[:place]}[redacted]"}, *content[number + 1 :]]


def _commit(run: Run, content: Sequence[dict[str, Any]], *, calls: int, stop_reason: str) -> None:
    first = max(run.tickets, default=-1) + 1
    uses = [block for block in content if block["type"] == "tool_use"] if calls else []
    step = build_step(
        number=len(run.steps) + 1,
        content=tuple(content),
        stop_reason=stop_reason if uses or stop_reason == "max_tokens" else "end_turn",
        usage=Usage(input_tokens=run.random.randint(1, 99), output_tokens=run.random.randint(1, 99)),
        first_call=first,
        calls=len(uses),
        event=run.next_event,
    )
    run.steps.append(step)
    if uses and run.random.random() < 0.2:
        run.note()  # the turn was read before its calls
    for seq, block in enumerate(uses, first):
        about = {"call": block["id"], "tool": block["name"], "display_arguments": block["input"]}
        run.tickets[seq] = build_ticket(seq=seq, step=step.number, **about)
    run.execution = replace(run.execution, usage=run.execution.usage + step.usage, credits_used=Decimal(step.number))
    run.note()


def _settle(run: Run) -> None:
    """Settle the calls of the last turn, in any order; one may ask for another before."""
    random, step = run.random, run.steps[-1].number
    waiting = [seq for seq, ticket in run.tickets.items() if ticket.step == step]
    if len(waiting) == 1 and random.random() < 0.4:
        seq = max(run.tickets) + 1
        run.tickets[seq] = build_ticket(seq=seq, step=step, call="sub", tool="file_read", parent=waiting[0])
        run.note()
        _settle_one(run, seq)
    random.shuffle(waiting)
    _ask(run, [seq for seq in waiting if random.random() < 0.25])
    for seq in waiting:
        ticket = run.tickets[seq]
        if ticket.state is TicketState.WAITING:
            if random.random() < 0.1:
                _end(run, Status.KILLED, "cancelled")  # while a person is asked
                return
            _decide(run, seq)
            continue
        if random.random() < 0.2:
            run.tickets[seq] = replace(ticket, state=TicketState.SENT, sent_at=START)
            run.note()
        _settle_one(run, seq)


def _ask(run: Run, seqs: Sequence[int]) -> None:
    """Have calls wait for a person, one after the other."""
    for seq in seqs:
        digest = f"{run.random.getrandbits(256):064x}"
        fields = {"approval": f"appr_{digest[:30]}", "form_digest": digest}
        run.tickets[seq] = replace(run.tickets[seq], state=TicketState.WAITING, **fields)
        run.note()


def _decide(run: Run, seq: int) -> None:
    """Have a person decide about a call: also to change it, which asks about another one, and after it has become another."""
    random = run.random
    if random.random() < 0.2:
        _ask(run, [seq])
    if random.random() < 0.2:
        sub = max(run.tickets) + 1
        run.tickets[seq] = replace(run.tickets[seq], state=TicketState.INTENDED)
        run.tickets[sub] = build_ticket(seq=sub, step=run.tickets[seq].step, call="sub", tool="file_read", parent=seq)
        _ask(run, [sub])
        _decide(run, sub)
        _settle_one(run, seq)
        return
    ticket = run.tickets[seq]
    if random.random() < 0.5:
        run.tickets[seq] = ticket = replace(ticket, state=TicketState.SENT, sent_at=START)
        run.note()
    code = random.choice(["", "", "denied", "approval_expired"])
    if not code:
        send = ApprovedSend(approval=ticket.approval, digest=ticket.form_digest, by=f"person_{seq}", at=START)
        run.tickets[seq] = replace(ticket, approved=send)
        _settle_one(run, seq)
        return
    result = ToolCallResult(ticket.tool, f"Error: {_draw_text(random)}", blocked=True, block_reason=code, ok=False, code=code)
    run.tickets[seq] = replace(ticket, state=TicketState.SETTLED, settled_at=START, result=result)
    run.note()


def _settle_one(run: Run, seq: int) -> None:
    ticket = run.tickets[seq]
    result = _draw_result(run.random, ticket.tool)
    settled_at = START + timedelta(seconds=seq)
    run.tickets[seq] = replace(ticket, state=TicketState.SETTLED, settled_at=settled_at, result=result)
    run.note()


def _draw_result(random: Random, tool: str) -> ToolCallResult:
    value = {"results": [{"title": _draw_text(random)}] * random.randint(0, 3)}
    text = random.choice([json.dumps(value), _draw_text(random), '{"error": "not there", "code": "NOT_FOUND"}'])
    kind = PartKind.JSON if text.startswith("{") else PartKind.TEXT
    parts = (Part(kind=kind, start=0, end=len(text)),) if random.random() < 0.8 else ()
    return ToolCallResult(tool, text, ok=random.random() < 0.7, parts=parts)


def _break_off(run: Run) -> Sequence[WatchedAnswer]:
    """End an answer amid a turn: stopped, failed or too slow; what was written is kept, or void, or there was nothing."""
    random = run.random
    content = _draw_content(random, calls=random.randint(0, 2))
    _write(run, content)
    status = random.choice([Status.KILLED, Status.KILLED, Status.FAILED, Status.TIMEOUT])
    if random.random() < 0.5 and (live := run.states[-1].live) is not None:
        texts = [{"type": "text", "text": block.text} for block in live.blocks if not block.call]
        _commit(run, texts, calls=0, stop_reason="stopped")
    elif random.random() < 0.3:
        _commit(run, content, calls=sum(block["type"] == "tool_use" for block in content), stop_reason="tool_use")
    _end(run, status, "cancelled" if status is Status.KILLED else "the model's provider is gone")
    return run.states


def _end(run: Run, status: Status, error: str | None) -> None:
    output = join_text(run.steps[-1].content) if run.steps and not run.steps[-1].summarizes else None
    if run.random.random() < 0.1:
        output = "The limit of 8 iterations was reached before there was an answer."
    if run.random.random() < 0.1:
        status, error = Status.FAILED, "the model refused the task"
    run.execution = replace(run.execution, status=status, completed_at=START, output=output, error=error)
    run.note()
