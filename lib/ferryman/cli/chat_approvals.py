"""A call that waits for a person, decided about where one talks: shown in full, and `y`, `n`, `e`, `d` or a reason is typed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ferryman.cli.answering import ask_answers, is_question
from ferryman.cli.approval_screen import OtherFormError, describe_decision, print_approval
from ferryman.cli.commands import ApiSession
from ferryman.client import PAGE_MAX, ApiRefusedError
from ferryman.domain.approvals.approval import ApprovalState

PROMPT = "approve? y, n, e to change it, d to declassify a value, or a reason to deny it; Enter leaves it waiting> "
QUESTION = "answer the server? y, n, or a reason to decline; Enter leaves it waiting> "
ARGUMENTS = "all arguments of the call that is made instead, as JSON> "
VALUE = "approve, and which untrusted value counts as yours in this answer, exactly as it is shown> "
APPROVE = "approve"
UNPROCESSABLE = 422

ReadAnswer = Callable[[str], str | None]
"""What asks for a line with a prompt; None where nothing was typed."""


class ChatApprovals:
    """The calls of one conversation that wait. Without `read`, as in a pipe, nobody is asked: it is said what to type."""

    def __init__(self, session: ApiSession, read: ReadAnswer | None) -> None:
        self._session, self._read = session, read

    async def ask(self, name: str) -> bool:
        """Show an approval and decide about it as the person says; return whether it was decided."""
        client, screen = self._session.client, self._session.screen
        if self._read is None:
            screen.print_error(f"a call waits for a person: ferryman approvals show {name}")
            return False
        approval = await client.get_approval(name)
        if approval["state"] != ApprovalState.PENDING.value or approval["expired"]:
            screen.print_line(f"{name}  {describe_decision(approval) or approval['state']}", "dim")
            return True
        if APPROVE not in (await client.get_me())["rights"]:
            await self._print_approvers(name)
            return False
        try:
            print_approval(screen, approval)
        except OtherFormError as error:
            screen.print_error(error.message)
            return False
        while True:
            decision = self._read_answer(approval) if is_question(approval) else self._read_decision()
            if decision is None:
                screen.print_line(f"it waits until {str(approval['expires_at'])[:10]}: /approvals, ferryman approvals", "dim")
                return False
            try:
                decided = await client.decide_approval(name, digest=approval["digest"], **decision)
            except ApiRefusedError as refused:
                screen.print_error(refused.detail, errors=refused.errors)
                if refused.status != UNPROCESSABLE:
                    return False
            else:
                screen.print_line(describe_decision(decided), "green")
                return True

    async def list_waiting(self, conversation: str) -> Sequence[Mapping[str, Any]]:
        """Return what waits in a conversation, the oldest first."""
        pending = self._session.client.iterate_approvals(state=ApprovalState.PENDING.value, limit=PAGE_MAX)
        waiting = [item async for item in pending if item["conversation_id"] == conversation and not item["expired"]]
        return waiting[::-1]

    def _read_decision(self) -> dict[str, Any] | None:
        """Return what is typed as a decision; None to leave it."""
        assert self._read is not None, "somebody is asked"
        text = (self._read(PROMPT) or "").strip()
        while text.lower().startswith(("y ", "yes ")):
            self._session.screen.print_error("type y alone to approve: nothing else can be said with it")
            text = (self._read(PROMPT) or "").strip()
        match text.lower():
            case "":
                return None
            case "y" | "yes":
                return {"verdict": "approve"}
            case "n" | "no":
                return {"verdict": "deny"}
            case "e" | "edit":
                return self._read_edit()
            case "d" | "declassify":
                value = (self._read(VALUE) or "").strip()
                return {"verdict": "approve", "declassify": value} if value else None
        return {"verdict": "deny", "reason": text.removeprefix("n ").strip()}

    def _read_answer(self, approval: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what is typed as an answer to a server, or as a reason to decline; None to leave it."""
        assert self._read is not None, "somebody is asked"
        text = (self._read(QUESTION) or "").strip()
        match text.lower():
            case "":
                return None
            case "y" | "yes":
                return {"verdict": "answer", "arguments": ask_answers(approval, self._read)}
            case "n" | "no":
                return {"verdict": "deny"}
        return {"verdict": "deny", "reason": text.removeprefix("n ").strip()}

    def _read_edit(self) -> dict[str, Any] | None:
        assert self._read is not None, "somebody is asked"
        while text := self._read(ARGUMENTS):
            try:
                arguments = json.loads(text)
            except (ValueError, RecursionError):
                arguments = None
            if isinstance(arguments, dict):
                return {"verdict": "edit", "arguments": arguments}
            self._session.screen.print_error("that is no JSON object")
        return None

    async def _print_approvers(self, name: str) -> None:
        screen = self._session.screen
        screen.print_line(f"{name} waits for a person, and your key may not decide.", "yellow")
        members = [item async for item in self._session.client.iterate_members(limit=PAGE_MAX) if item["approves"]]
        who = ", ".join(f"{item['name']} ({item['person_id']})" for item in members)
        screen.print_line(f"The owner may, and {who}." if who else "The owner may.", "yellow")
