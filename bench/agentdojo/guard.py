"""The flow policy at the place where the loop admits a call: what asks is shown to the approver before anything is sent.

The loop itself does not wait for a person yet; once it does, this file is what it replaces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bench.agentdojo.approver import Approver
from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.flow.judging import FlowContext, judge_flow, trusts_result
from ferryman.domain.flow.records import NamedRecord, index_records, list_records
from ferryman.domain.flow.signature import FlowSignature
from ferryman.domain.flow.trusted import TrustedText, index_text
from ferryman.domain.flow.verdict import FlowVerdict
from ferryman.domain.labels.label import FlowLabel, Source
from ferryman.domain.tools.tool import Tool

DECLINED = Refusal(reason="approval_declined", message="Error: a person was asked about this call, and declined it")


class FlowGuard:
    """The judge of one execution, with what it has read. `verdicts` are those of its calls, by their numbers."""

    def __init__(
        self, prompt: str, signatures: Mapping[str, FlowSignature], approver: Approver, *, names_records: bool = True
    ) -> None:
        self._signatures, self._approver, self._names_records = signatures, approver, names_records
        self._trusted: list[TrustedText] = [index_text("the prompt", prompt)]
        self._read: list[tuple[str, str]] = []
        self._records: list[NamedRecord] = []
        self.verdicts: dict[int, FlowVerdict] = {}

    def admit(self, ticket: Ticket, admit: Callable[[Tool], None], tool: Tool) -> None:
        """Allow a call as the loop does, then by the flow policy. Raise `CallRefusedError`."""
        admit(tool)
        arguments = ticket.display_arguments
        verdict = judge_flow(self._signatures[ticket.tool], arguments, self._build_context(ticket.label))
        self.verdicts[ticket.seq] = verdict
        if verdict.asks and not self._approver.decide(ticket.tool, arguments):
            raise CallRefusedError(DECLINED)

    def note(self, ticket: Ticket, result: Mapping[str, Any]) -> None:
        """Take in the result of a call."""
        source = f"the result of call {ticket.seq} ({ticket.tool})"
        signature = self._signatures[ticket.tool]
        if trusts_result(signature, ticket.display_arguments, self._build_context(ticket.label)):
            self._trusted.append(index_text(source, result["text"]))
        self._read.append((source, result["text"]))
        if self._names_records:
            self._records += list_records(result["value"], Source(tool=ticket.tool, call=ticket.seq))

    def _build_context(self, label: FlowLabel) -> FlowContext:
        return FlowContext(label=label, trusted=self._trusted, read=self._read, records=index_records(self._records))
