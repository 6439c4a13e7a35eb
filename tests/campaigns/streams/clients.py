"""Strict clients of the four formats: what each one has in the end, and what no client can make sense of."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from ferryman.serving.streams.frame import Frame


class ViolationError(Exception):
    """A frame that does not fit what came before."""


def require(fits: object, why: str) -> None:
    """Raise `ViolationError` where something does not fit."""
    if not fits:
        raise ViolationError(why)


class StrictClient(ABC):
    """A client that reads frames in order. No id may come twice."""

    def __init__(self) -> None:
        self.is_over = False
        self._ids: set[str] = set()

    def read(self, frame: Frame) -> None:
        """Take one frame."""
        require(not self.is_over, "a frame after the end")
        if frame.id:
            require(frame.id not in self._ids, f"the id {frame.id} came before")
            self._ids.add(frame.id)
        self.take(frame.event, frame.data)

    @abstractmethod
    def take(self, event: str, data: str) -> None:
        """Take the content of a frame."""

    @abstractmethod
    def summarize(self) -> Any:
        """Return what the client has: the same for everyone who has read everything."""


class AskedCalls:
    """What a client was told of calls that a person is asked about, by the approval."""

    def __init__(self) -> None:
        self.verdicts: dict[str, Any] = {}

    def ask(self, approval: str) -> None:
        """Take that a call waits."""
        require(approval not in self.verdicts, "a question about what was decided")

    def decide(self, approval: str, verdict: Any) -> None:
        """Take what came of one, which may be all that a client who came later is told of it."""
        require(self.verdicts.setdefault(approval, verdict) == verdict, "another decision")


class NumberedClient(StrictClient):
    """A client of the numbered events: turns as they were committed."""

    def __init__(self) -> None:
        super().__init__()
        self._questions = AskedCalls()
        self._events: list[Any] = []
        self._deltas = ""

    def take(self, event: str, data: str) -> None:
        """Take the content of a frame."""
        body = json.loads(data)
        if event == "delta":
            self._deltas += body.get("text", "")
        elif event == "replaced":
            self._deltas = ""
        elif event == "waiting":
            self._questions.ask(body["approval"])
        elif event == "decided":
            self._questions.decide(body["approval"], body["verdict"])
        elif event != "progress":
            if event == "turn":
                require(self._deltas.replace("\n", "") in body["text"].replace("\n", ""), "a text that no turn has")
                self._deltas = ""
            self._events.append((event, body))
            self.is_over = event == "finished"

    def summarize(self) -> Any:
        """Return the events, and what people decided."""
        return [self._events, self._questions.verdicts]


class MessageClient(StrictClient):
    """A client of the default format of chats."""

    def __init__(self) -> None:
        super().__init__()
        self._turns: dict[int, str] = {}
        self._calls: list[dict[str, Any]] = []
        self._others: list[Any] = []
        self._questions = AskedCalls()

    def take(self, event: str, data: str) -> None:
        """Take the content of a frame."""
        require(event == "message", "an event of another type")
        body: dict[str, Any] = json.loads(data)
        kind = body["type"]
        if kind == "content":
            self._turns[body["iteration"]] = self._turns.get(body["iteration"], "") + body["content"]
        elif kind == "replace":
            self._turns.pop(body["iteration"], None)
        elif kind == "tool_call":
            self._calls.append({"call": body, "result": None})
        elif kind == "tool_result":
            waiting = [call for call in self._calls if call["call"]["id"] == body["toolCallId"] and call["result"] is None]
            require(waiting, "a result of no call")
            waiting[0]["result"] = body
        elif kind.startswith("approval_"):
            require(any(call["call"]["id"] == body["toolCallId"] for call in self._calls), "a question about no call")
            if kind == "approval_required":
                self._questions.ask(body["approvalId"])
            else:
                self._questions.decide(body["approvalId"], body["verdict"])
        elif kind not in ("thinking", "tool_call_delta", "tool_progress"):
            self._others.append(body)
            self.is_over = kind in ("done", "error")

    def summarize(self) -> Any:
        """Return the texts, the calls with their results, what else was said, and what people decided."""
        require(all(call["result"] is not None for call in self._calls) or not self.is_over, "a call without a result")
        return [self._turns, self._calls, self._others, self._questions.verdicts]


class AguiClient(StrictClient):
    """A client of AG-UI: its messages, as the reducer of the protocol's own client keeps them."""

    def __init__(self, messages: list[dict[str, Any]] | None = None) -> None:
        super().__init__()
        self.messages: list[dict[str, Any]] = [dict(message) for message in messages or ()]
        self._open: set[str] = set()
        self._ending: Any = None
        self._has_begun = False
        self._questions = AskedCalls()

    def take(self, event: str, data: str) -> None:
        """Take the content of a frame."""
        body: dict[str, Any] = json.loads(data)
        kind = body["type"]
        require(self._has_begun != (kind == "RUN_STARTED"), "a run begins once, with its first event")
        self._has_begun = True
        if kind == "MESSAGES_SNAPSHOT":
            require(not self._open, "a snapshot amid a message")
            self.messages = body["messages"]
        elif kind == "CUSTOM":
            self._take_question(body["name"], body["value"])
        elif kind.startswith("TEXT_MESSAGE"):
            self._take_text(kind, body)
        elif kind == "TOOL_CALL_RESULT":
            require(self._find_call(body["toolCallId"]), "a result of no call")
            require(all(message["id"] != body["messageId"] for message in self.messages), "a result that came before")
            self._insert_result(body)
        elif kind.startswith("TOOL_CALL"):
            self._take_call(kind, body)
        elif kind in ("RUN_FINISHED", "RUN_ERROR"):
            require(kind == "RUN_ERROR" or not self._open, "the run ends amid a message")
            self._ending, self.is_over = body, True

    def _take_text(self, kind: str, body: Mapping[str, Any]) -> None:
        name = body["messageId"]
        if kind == "TEXT_MESSAGE_START":
            require(name not in self._open, "the message is open")
            self._open.add(name)
            if not any(message["id"] == name for message in self.messages):
                self.messages.append({"id": name, "role": "assistant", "content": ""})
            return
        require(name in self._open, "a message that is not open")
        if kind == "TEXT_MESSAGE_END":
            self._open.remove(name)
            return
        message = next(message for message in self.messages if message["id"] == name)
        message["content"] = message.get("content", "") + body["delta"]

    def _take_call(self, kind: str, body: Mapping[str, Any]) -> None:
        name = body["toolCallId"]
        if kind == "TOOL_CALL_START":
            require(not self._find_call(name), "the call came before")
            self._open.add(name)
            parent = next((message for message in self.messages if message["id"] == body["parentMessageId"]), None)
            if parent is None:
                parent = {"id": body["parentMessageId"], "role": "assistant"}
                self.messages.append(parent)
            function = {"name": body["toolCallName"], "arguments": ""}
            parent.setdefault("toolCalls", []).append({"id": name, "type": "function", "function": function})
            return
        require(name in self._open, "a call that is not open")
        if kind == "TOOL_CALL_END":
            self._open.remove(name)
        else:
            call = self._find_call(name)
            require(call, "a call that no message has")
            call["function"]["arguments"] += body["delta"]

    def _take_question(self, name: str, value: Mapping[str, Any]) -> None:
        require(self._find_call(value["toolCallId"]), "a question about no call")
        if name == "approval_required":
            self._questions.ask(value["approvalId"])
        else:
            self._questions.decide(value["approvalId"], value["verdict"])

    def _find_call(self, name: str) -> Any:
        calls = [call for message in self.messages for call in message.get("toolCalls", ())]
        return next((call for call in calls if call["id"] == name), None)

    def _insert_result(self, body: Mapping[str, Any]) -> None:
        owners = [
            number
            for number, message in enumerate(self.messages)
            if any(call["id"] == body["toolCallId"] for call in message.get("toolCalls", ()))
        ]
        place = owners[0] + 1
        while place < len(self.messages) and self.messages[place]["role"] == "tool":
            place += 1
        result = {"id": body["messageId"], **{key: body[key] for key in ("role", "toolCallId", "content")}}
        self.messages.insert(place, result)

    def summarize(self) -> Any:
        """Return the messages, with the arguments of calls as what they mean, and how the run ended."""
        results = {message["toolCallId"] for message in self.messages if message["role"] == "tool"}
        for message in self.messages:
            for call in message.get("toolCalls", ()):
                require(call["id"] in results or not self.is_over, "a call without a result")
                arguments = call["function"]["arguments"]
                call["function"]["arguments"] = json.loads(arguments) if isinstance(arguments, str) else arguments
        names = [message["id"] for message in self.messages]
        require(len(names) == len(set(names)), "two messages of one id")
        return [self.messages, self._ending]


class VercelClient(StrictClient):
    """A client of the UI message stream: the parts of one message, as the AI SDK keeps them."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[dict[str, Any]] = []
        self._texts: dict[str, dict[str, Any]] = {}
        self._others: list[Any] = []

    def take(self, event: str, data: str) -> None:
        """Take the content of a frame."""
        if data == "[DONE]":
            self.is_over = True
            return
        chunk: dict[str, Any] = json.loads(data)
        kind = chunk["type"]
        require(self._others or kind == "start", "the first chunk is the start")
        if kind == "start-step":
            self._parts.append({"type": "step-start"})
        elif kind == "reset-step":
            self._reset()
        elif kind.startswith("text-"):
            self._take_text(kind, chunk)
        elif kind.startswith("tool-"):
            self._take_tool(kind, chunk)
        elif kind != "finish-step":
            self._others.append(chunk)

    def _reset(self) -> None:
        while self._parts and self._parts[-1]["type"] != "step-start":
            self._parts.pop()
        self._texts = {}

    def _take_text(self, kind: str, chunk: Mapping[str, Any]) -> None:
        name = chunk["id"]
        require((name in self._texts) == (kind != "text-start"), f"{kind} of {name}")
        if kind == "text-start":
            self._texts[name] = {"type": "text", "text": ""}
            self._parts.append(self._texts[name])
        elif kind == "text-delta":
            self._texts[name]["text"] += chunk["delta"]
        else:
            del self._texts[name]

    def _take_tool(self, kind: str, chunk: Mapping[str, Any]) -> None:
        if kind == "tool-approval-response":
            part = next((part for part in self._parts if part.get("approval", {}).get("id") == chunk["approvalId"]), None)
            require(part, "a decision about nothing that waits")
            assert part is not None, "as above"
            part["approval"] |= {key: chunk[key] for key in ("approved", "reason") if key in chunk}
            return
        name = chunk["toolCallId"]
        part = next((part for part in self._parts if part.get("call") == name), None)
        if kind == "tool-input-start":
            require(part is None, "the call came before")
            self._parts.append({"type": "tool", "call": name, "name": chunk["toolName"], "state": kind})
            return
        require(part, "a call that did not begin")
        assert part is not None, "as above"
        if kind == "tool-approval-request":
            require(part["state"] == "tool-input-available", f"{kind} after {part['state']}")
            part["approval"] = {"id": chunk["approvalId"]}
            return
        allowed = {"tool-input-delta": "tool-input-start", "tool-input-available": "tool-input-start"}
        require(part["state"] == allowed.get(kind, "tool-input-available"), f"{kind} after {part['state']}")
        if kind != "tool-input-delta":
            part |= {"state": kind, **{key: chunk[key] for key in ("input", "output", "errorText") if key in chunk}}

    def summarize(self) -> Any:
        """Return the parts without the beginnings of steps, of which one may hold nothing, and what else was said."""
        require(not self.is_over or not self._texts, "a text is open")
        tools = [part for part in self._parts if part["type"] == "tool"]
        require(not self.is_over or all("output" in part["state"] for part in tools), "a call without a result")
        return [[part for part in self._parts if part["type"] != "step-start"], self._others]
