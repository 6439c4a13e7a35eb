"""Scenarios: what a model asks for in a run that is going to be killed, and how the run has to end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.conversations.compaction import SUMMARIZE
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.message import Prompt, Reply
from ferryman.domain.executions.usage import Usage
from ferryman.domain.tasks.task import ToolLoading
from ferryman.domain.tools.settings import ToolSettings

PLAIN, KEYED, HOOK = "api.plain.test", "api.keyed.test", "hooks.plain.test"
SERVER_HOST = "tools.remote.test"
KEY = "PLAIN_KEY"
PIECES = ("Zq8kP2vN", "5xW9rT4m", "4mLb7c")
"""Of the value of `KEY`: the first may leave, as often as it likes; with the second more than half of it would have."""

ANSWER = "All of it is done."
LONG_ANSWER = "It was a long way, and this is how it went. " * 8 + ANSWER
"""Long enough for a part of it to be shown while it is written."""

SUMMARY = "They spoke of ferries."

LONG_PAGE = "/timetable"
"""The path of a page that is longer than a model is shown."""

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation with the agent, in credits of the month: its limit, what an execution that has ended used of it, and what
    is reserved for another that is under way beside."""

    credits_max: Decimal
    credits_used: Decimal = Decimal(0)
    credits_reserved: Decimal = Decimal(0)

    def has_room(self, amount: Decimal) -> bool:
        """Tell whether an execution that reserves `amount` may begin."""
        return self.credits_used + self.credits_reserved + amount <= self.credits_max


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """`turns` are the calls of each turn before the answer. `cancelled_at` is the turn during which the owner cancels.

    `requested` says that an application asks for it by a document, and no API starts it. With `tool_settings`, or in a
    `conversation`, it is one of an agent that has these settings and limits its conversations; otherwise of the default agent.
    With `chats` it answers a message of a chat, with a text in every turn, and with `summarizes` one of a chat so long that the
    model writes a summary of it first; where it `is_titled`, the model writes the title of the chat, too. With `files` its task
    has tools of files, and these are the contents by key that the calls leave, long results left out. With `decides` every call
    that changes something waits for a person, who decides so about it, and approves the call that an edit makes of it: a day
    later, or where they are `hurried` while the delivery is still under way. Where it is `contested` the other device denies.
    With `schedules` its task has tools of the platform, and this is how many schedules the calls add. With `remote` its agent
    has an MCP server, whose questions the person who `decides` answers.
    One that is `direct` was started with its only call, as an MCP client starts it, and asks no model.
    """

    name: str
    turns: tuple[tuple[Call, ...], ...] = ()
    status: Status = Status.COMPLETED
    stop_reason: str = "end_turn"
    cancelled_at: int | None = None
    thinks: timedelta = timedelta(seconds=1)
    slice: timedelta = timedelta(minutes=20)
    enabled: bool = True
    requested: bool = False
    max_credits: Decimal = Decimal(500)
    tool_loading: ToolLoading = ToolLoading.ALL
    tool_settings: Mapping[str, ToolSettings] = field(default_factory=dict)
    conversation: Conversation | None = None
    files: Mapping[str, str] | None = None
    chats: bool = False
    summarizes: bool = False
    decides: DecisionVerdict | None = None
    hurried: bool = False
    contested: bool = False
    is_titled: bool = False
    direct: bool = False
    schedules: int = 0
    remote: bool = False

    @property
    def answer(self) -> str:
        """What the model says at the end."""
        return LONG_ANSWER if self.chats else ANSWER

    @property
    def is_parallel(self) -> bool:
        """Whether calls of a turn run beside each other."""
        return self.chats and any(len(calls) > 1 for calls in self.turns)

    @property
    def is_racing(self) -> bool:
        """Whether the points that it passes depend on who is first."""
        return self.is_parallel or self.hurried

    @property
    def has_agent(self) -> bool:
        """Whether it is one of an agent of its own."""
        return bool(self.tool_settings) or self.conversation is not None or self.chats or self.remote

    @property
    def begins(self) -> bool:
        """Whether the execution gets as far as its first turn."""
        return self.enabled and (self.conversation is None or self.conversation.has_room(self.max_credits))

    @property
    def output(self) -> str | None:
        """What the execution says when it ends; None where that is nothing, or how far it came."""
        return self.answer if self.begins and self.cancelled_at is None and not self.direct else None

    @property
    def turns_due(self) -> int:
        """How many turns it takes where nothing ends it."""
        return 1 if self.direct else len(self.turns) + 1 + self.summarizes

    @property
    def start_fields(self) -> dict[str, Any]:
        """The fields of the execution as it is started, beside those of every one."""
        if not self.direct:
            return {}
        ((tool, arguments),) = self.turns[0]
        return {"called_tool": tool, "input": json.dumps(arguments), "is_from_client": True}

    def reply(self, prompt: Prompt) -> Reply:
        """Return the model's reply to `prompt`: it depends on nothing but the turn."""
        turn = turn_of(prompt)
        usage = Usage(input_tokens=1_000 + turn, output_tokens=100 + turn)
        if prompt.messages[-1]["content"] == SUMMARIZE:
            return Reply(content=({"type": "text", "text": SUMMARY},), stop_reason="end_turn", usage=usage)
        if turn >= len(self.turns):
            return Reply(content=({"type": "text", "text": self.answer},), stop_reason=self.stop_reason, usage=usage)
        blocks = [
            {"type": "tool_use", "id": f"toolu_{turn}_{index}", "name": tool, "input": arguments}
            for index, (tool, arguments) in enumerate(self.turns[turn])
        ]
        texts = [{"type": "text", "text": LONG_ANSWER}] if self.chats else []
        return Reply(content=(*texts, *blocks), stop_reason="tool_use", usage=usage)

    def extract(self) -> Reply:
        """Return what the quarantined model reads in any text."""
        answer = {"type": "text", "text": '{"found": true, "value": {"amount": 12}}'}
        return Reply(content=(answer,), stop_reason="end_turn", usage=Usage(input_tokens=700, output_tokens=30))


def turn_of(prompt: Prompt) -> int:
    """Return the number of the turn that `prompt` asks for, from 0: results are no texts, and the question is the last one."""
    asks = [isinstance(message["content"], str) and message["role"] == "user" for message in prompt.messages]
    after = len(asks) - asks[::-1].index(True)
    return sum(message["role"] == "assistant" for message in prompt.messages[after:])


def read_call(what: str, host: str = PLAIN) -> Call:
    return "api_call", {"method": "GET", "url": f"https://{host}/{what}", "credential": KEY}


def save(kind: str, preference: str) -> Call:
    return "save_preference", {"kind": kind, "preference": preference}


def look_call(what: str) -> Call:
    return "http_get", {"url": f"https://{PLAIN}/{what}"}


def pay_call(what: str, host: str = PLAIN) -> Call:
    return "api_call", {
        "method": "POST",
        "url": f"https://{host}/{what}",
        "credential": KEY if host == PLAIN else "KEYED_KEY",
        "body": {"amount": 1},
    }


def post_call(what: str, host: str = PLAIN) -> Call:
    return "http_post", {"url": f"https://{host}/{what}", "body": {"amount": 1}}


def request_call(what: str, **arguments: Any) -> Call:
    """Return a call of the one tool for every request, with a credential."""
    return "http_request", {"url": f"https://{PLAIN}/{what}", "credential": KEY, **arguments}


def webhook_call(what: str) -> Call:
    return "webhook", {"url": f"https://{HOOK}/{what}", "body": {"text": "hello"}}


def pass_call(tool: str, **arguments: Any) -> Call:
    return "pass", {"tool": tool, "arguments": arguments}


def extract_call(call: int) -> Call:
    schema = {"type": "object", "properties": {"amount": {"type": "integer"}}}
    return "extract", {"from": {"$from": {"call": call}}, "schema": schema, "question": "The amount"}


def write_call(key: str, content: str) -> Call:
    return "file_write", {"key": key, "content": content}


def edit_call(key: str, old: str, new: str) -> Call:
    return "file_edit", {"key": key, "old_text": old, "new_text": new}


def schedule_call(name: str, **times: Any) -> Call:
    return "cron_add", {"name": name, "prompt": "Say hello.", **times}


def limit_calls(**most: int) -> Mapping[str, ToolSettings]:
    """Return settings of tools that let an execution make so many calls of each."""
    return {name: ToolSettings(calls_max=number) for name, number in most.items()}


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="get", turns=((read_call("r1"),),)),
    Scenario(name="requested", turns=((pay_call("q1"),),), requested=True),
    Scenario(name="keyed", turns=((pay_call("k1", KEYED),),)),
    Scenario(name="unkeyed", turns=((pay_call("u1"),),)),
    Scenario(name="webhook", turns=((webhook_call("h1"),),)),
    Scenario(name="model", turns=()),
    Scenario(
        name="refusal", turns=((read_call("x1", "api.other.test"), pay_call("x2", "api.other.test"), ("no_such_tool", {})),)
    ),
    Scenario(name="finish", stop_reason="max_tokens", status=Status.FAILED),
    Scenario(name="cancel", turns=((pay_call("c1"),), (pay_call("c2"), post_call("c3"))), cancelled_at=1, status=Status.KILLED),
    Scenario(
        name="hand-over",
        turns=((read_call("s1"),), (pay_call("s2"),), (post_call("s3", KEYED),)),
        thinks=timedelta(seconds=4),
        slice=timedelta(seconds=3),
    ),
    Scenario(name="opening", enabled=False, status=Status.FAILED),
    Scenario(
        name="pieces",
        turns=((read_call(PIECES[0]), post_call("p1")), (pay_call(PIECES[1]),), (read_call("p2"), post_call(PIECES[2]))),
    ),
    Scenario(
        name="pieces over slices",
        turns=((read_call(PIECES[0]),), (post_call(PIECES[2]),), (pay_call(PIECES[1]),)),
        thinks=timedelta(seconds=4),
        slice=timedelta(seconds=3),
    ),
    Scenario(
        name="keyless",
        turns=(
            (("web_search_tool", {"query": "night ferries"}), pay_call("n1")),
            (("wait_until", {"seconds": 60}), read_call("n2")),
        ),
    ),
    Scenario(
        name="pages",
        turns=(
            (("web_fetch", {"url": f"https://{PLAIN}/ferries"}), pay_call("w1")),
            (("web_fetch", {"url": "https://made.up.test/"}), ("web_fetch", {"url": f"https://{PLAIN}/more", "offset": 4})),
        ),
    ),
    Scenario(name="routed", turns=((request_call("i1"), request_call("i2", method="POST", body={"amount": 1})),)),
    Scenario(
        name="search",
        turns=((("find_tools", {"query": "delete a cluster of tools"}), pay_call("f1")), (read_call("f2"),)),
        tool_loading=ToolLoading.CONTEXT_AWARE,
    ),
    Scenario(
        name="kept",
        turns=(
            (save("taste", "tea"), pay_call("u1"), save("taste", "tea")),
            (save("taste", "rye bread"), save("dietary", "no nuts")),
        ),
    ),
    Scenario(
        name="files",
        turns=(
            (write_call("trip.md", "By night ferry."), pay_call("d1"), write_call("log.md", "one")),
            (edit_call("trip.md", "night", "day"), write_call("log.md", "one and two"), edit_call("log.md", "ten", "nine")),
        ),
        files={"trip.md": "By day ferry.", "log.md": "one and two"},
    ),
    Scenario(
        name="long results",
        turns=(
            (("web_fetch", {"url": f"https://{PLAIN}{LONG_PAGE}", "offset": 9}), pay_call("b1")),
            (write_call("trip.md", "By night ferry."),),
        ),
        files={"trip.md": "By night ferry."},
    ),
    Scenario(
        name="several",
        turns=((read_call("m1"), pay_call("m2"), post_call("m3", KEYED), webhook_call("m4")), (post_call("m5"),)),
    ),
    Scenario(
        name="limited calls",
        turns=(
            (request_call("l1"), pay_call("l2")),
            (request_call("l3"), read_call("l4"), post_call("l5")),
            (post_call("l6"),),
        ),
        thinks=timedelta(seconds=4),
        slice=timedelta(seconds=3),
        tool_settings=limit_calls(api_call=2, http_request=1, http_post=1),
    ),
    Scenario(
        name="limited keyless calls",
        turns=(
            (("calculator", {"expression": "6 * 7"}), ("wait_until", {"seconds": 60}), save("taste", "tea")),
            (("calculator", {"expression": "6 * 8"}), ("wait_until", {"seconds": 61}), save("taste", "rye bread")),
        ),
        tool_settings=limit_calls(calculator=1, wait_until=1, save_preference=1),
    ),
    Scenario(
        name="conversation",
        turns=((pay_call("v1"),),),
        conversation=Conversation(credits_max=Decimal(550), credits_used=Decimal(20), credits_reserved=Decimal(30)),
    ),
    Scenario(
        name="full conversation",
        turns=((pay_call("v2"),),),
        status=Status.FAILED,
        conversation=Conversation(credits_max=Decimal(549), credits_used=Decimal(20), credits_reserved=Decimal(30)),
    ),
    Scenario(
        name="approved call",
        turns=((read_call("a1"), pay_call("a2"), post_call("a3")), (webhook_call("a4"),)),
        decides=DecisionVerdict.APPROVE,
    ),
    Scenario(name="edited call", turns=((pay_call("e1"), read_call("e2")), (post_call("e3"),)), decides=DecisionVerdict.EDIT),
    Scenario(name="denied call", turns=((pay_call("o1"), read_call("o2")), (post_call("o3"),)), decides=DecisionVerdict.DENY),
    Scenario(
        name="call approved at once",
        turns=((pay_call("y1"), read_call("y2")), (post_call("y3"),)),
        decides=DecisionVerdict.APPROVE,
        hurried=True,
    ),
    Scenario(
        name="contested call",
        turns=((pay_call("y4"), read_call("y5")), (post_call("y6"),)),
        decides=DecisionVerdict.APPROVE,
        hurried=True,
        contested=True,
    ),
    Scenario(
        name="extracted value",
        turns=(
            (pass_call("http_get", url=f"https://{PLAIN}/z1"), extract_call(2)),
            (pass_call("http_post", url=f"https://{PLAIN}/z2", body={"total": {"$from": {"call": 1, "path": ["amount"]}}}),),
        ),
        decides=DecisionVerdict.APPROVE,
    ),
    Scenario(
        name="extracted value over slices",
        turns=((pass_call("http_get", url=f"https://{PLAIN}/z3"),), (extract_call(1),), (read_call("z4"),)),
        thinks=timedelta(seconds=4),
        slice=timedelta(seconds=3),
    ),
    Scenario(
        name="schedules",
        turns=(
            (schedule_call("weekly", cron="0 9 * * MON"), pay_call("sc1"), schedule_call("later", after_s=600)),
            (("cron_list", {}), schedule_call("weekly", cron="0 9 * * MON")),
        ),
        schedules=3,
    ),
    Scenario(name="direct call", turns=((pay_call("i3"),),), direct=True),
    Scenario(name="direct call with a key", turns=((pay_call("i4", KEYED),),), direct=True),
    Scenario(name="direct call that is refused", turns=((post_call("i5", "api.other.test"),),), direct=True),
    Scenario(name="direct call that is approved", turns=((pay_call("i6"),),), direct=True, decides=DecisionVerdict.APPROVE),
    Scenario(name="direct call that is edited", turns=((pay_call("i7"),),), direct=True, decides=DecisionVerdict.EDIT),
    Scenario(name="chat", turns=((look_call("g1"), look_call("g2"), pay_call("g3")),), chats=True),
    Scenario(name="titled chat", turns=((look_call("t1"),),), chats=True, is_titled=True),
    Scenario(name="long chat", turns=((look_call("n1"), pay_call("n2")),), chats=True, summarizes=True),
    Scenario(
        name="stopped chat",
        turns=((look_call("j1"), look_call("j2")), (pay_call("j3"),)),
        cancelled_at=1,
        status=Status.KILLED,
        chats=True,
    ),
)
