"""The tool `extract`: a part of a result is read by a quarantined model, and its value stays hidden.

The value has the label of what it was read from, whatever it is: the loop says so, from the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket
from ferryman.domain.calls.hidden import read_value
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.calls.refusal import ERROR, INVALID_ARGUMENTS, CallRefusedError, Refusal
from ferryman.domain.executions.execution import Execution
from ferryman.domain.extraction.prompt import QUESTION_CHARACTERS_MAX, write_source
from ferryman.domain.extraction.schema import ExtractionSchemaError, check_schema
from ferryman.domain.flow.values import FlowValue, ValueReference, read_reference, resolve_reference
from ferryman.domain.labels.label import READ
from ferryman.ports.clock import Clock
from ferryman.ports.executions import Executions
from ferryman.ports.model import ReplyScanner
from ferryman.ports.price import TokenPrice
from ferryman.ports.tickets import Tickets
from ferryman.tools.extracting.asking import ExtractionRequest, QuarantinedModel
from ferryman.tools.keyless.calling import KeylessCalls

EXTRACTION_S = 150
"""For how many seconds a call is under way at most: its answer is scanned and stored in it, too."""

ARGUMENTS = ("from", "schema", "question")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractions:
    """Executes the calls. `price` takes a model's name and returns None where it has no price."""

    tickets: Tickets
    scanner: ReplyScanner
    clock: Clock
    executions: Executions
    quarantined: QuarantinedModel
    price: Callable[[str], TokenPrice | None]

    async def execute(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        """Return the ticket as it settled. Raise `StaleError` or `UnavailableError`; then the call may be made again."""
        calls = KeylessCalls(tickets=self.tickets, scanner=self.scanner, clock=self.clock, ask=partial(self._ask, execution))
        return await calls.execute(ticket, execution=execution)

    async def _ask(self, execution: Execution, _: str, body: Mapping[str, Any]) -> KeylessAnswer:
        try:
            reference, schema, question = read_arguments(body["arguments"])
            value = await self._find(execution, reference)
        except CallRefusedError as refused:
            return KeylessAnswer(refused.refusal.message, refused.refusal.reason)
        opening = await self.executions.opening(execution.id)
        price = None if opening is None else self.price(opening.model)
        if opening is None or price is None:
            return KeylessAnswer(refusal.NOT_EXTRACTED.message, refusal.NOT_EXTRACTED.reason)
        request = ExtractionRequest(
            question=question, schema=schema, source=write_source(value), within_s=float(body["within_s"])
        )
        return await self.quarantined.ask(execution, opening, price, request)

    async def _find(self, execution: Execution, reference: ValueReference) -> Any:
        """Return what is read: of this execution alone. Raise `CallRefusedError`."""
        tickets = await self.executions.tickets(execution.id, first=max(0, reference.call), most=1)
        result = tickets[0].result if tickets and tickets[0].seq == reference.call else None
        if result is not None and result.ok:
            # its label is the loop's to say
            value = resolve_reference(reference, {reference.call: FlowValue(value=read_value(result), label=READ)})
            if value is not None:
                return value.value
        raise CallRefusedError(refusal.refuse_reference(reference.call))


def read_arguments(arguments: Mapping[str, Any]) -> tuple[ValueReference, Mapping[str, Any], str]:
    """Return what is read, the schema of the value and the question. Raise `CallRefusedError`."""
    for name in arguments.keys() - set(ARGUMENTS):
        raise CallRefusedError(refusal.refuse_unknown_argument("extract", name, ARGUMENTS))
    reference, question = read_reference(arguments.get("from")), arguments.get("question")
    if reference is None:
        form = '{"$from": {"call": 3, "path": ["body"]}}'
        raise CallRefusedError(refusal.refuse_wrong_argument("extract", "from", f"a reference like {form}"))
    if not isinstance(question, str) or not 0 < len(question) <= QUESTION_CHARACTERS_MAX:
        expected = f"a text of at most {QUESTION_CHARACTERS_MAX:,} characters"
        raise CallRefusedError(refusal.refuse_wrong_argument("extract", "question", expected))
    try:
        return reference, check_schema(arguments.get("schema")), question
    except ExtractionSchemaError as error:
        raise CallRefusedError(Refusal(reason=INVALID_ARGUMENTS, message=f"{ERROR}schema: {error}")) from None
