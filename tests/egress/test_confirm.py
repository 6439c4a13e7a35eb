"""A call that a person is asked about: after every other check, before its host is looked up, and each time that it is sent."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from ferryman.domain.approvals.form import HttpForm
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import Method
from ferryman.ports.errors import NotSentError
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import GateHarness, reply
from tests.egress.plants import HOST, VALUES, credential, outbound, policy

KEYS = {"NEWS_KEY": credential(VALUES["prefixed"])}


@dataclass
class Person:
    """A person who is asked about every call, and answers with `error`, or agrees."""

    error: Exception | None = None
    is_needed: bool = True
    forms: list[HttpForm] = field(default_factory=list)

    def needs_form(self, *, host: str, method: str) -> bool:
        assert (host, method) in ((HOST, "GET"), (HOST, "POST"))
        return self.is_needed

    async def confirm(self, form: HttpForm, *, host: str, method: str) -> None:
        self.forms.append(form)
        if self.error is not None:
            raise self.error


def ask(person: Person, execution: str | None = None) -> CallPolicy:
    return CallPolicy(execution=policy(), credentials=KEYS, confirm=person, execution_id=execution)


async def test_nothing_is_looked_up_before_a_person_agreed(harness: GateHarness) -> None:
    with pytest.raises(NotSentError):
        await harness.gate().send(outbound(), ask(Person(NotSentError("waiting"))))
    assert (harness.names.lookups, harness.dialer.dialled) == ([], [])


async def test_what_a_person_denied_is_refused_and_not_sent(harness: GateHarness) -> None:
    result = await harness.gate().send(outbound(), ask(Person(CallRefusedError(refusal.refuse_denied("no")))))
    assert (result.code, result.blocked, harness.names.lookups) == ("denied", True, [])


async def test_a_call_that_another_check_refuses_is_asked_about_by_nobody(harness: GateHarness) -> None:
    person = Person()
    result = await harness.gate().send(outbound(url="https://elsewhere.test/"), ask(person))
    assert (result.code, person.forms) == ("url_blocked", [])


async def test_no_form_is_computed_where_nobody_has_to_be_asked(harness: GateHarness) -> None:
    person = Person(is_needed=False)
    async with harness.serve(HOST, reply()):
        assert (await harness.gate().send(outbound(), ask(person))).ok
    assert person.forms == []


async def test_a_person_is_asked_for_each_send_also_by_the_same_connection(harness: GateHarness) -> None:
    person, gate, request = Person(), harness.gate(), outbound(method=Method.GET, body=None)
    async with harness.serve(HOST, reply()):
        for _ in range(2):
            assert (await gate.send(request, ask(person, "e"))).ok
    assert len(person.forms) == 2
    assert person.forms[0] == person.forms[1]


async def test_what_is_confirmed_is_what_leaves(harness: GateHarness) -> None:
    person = Person()
    async with harness.serve(HOST, reply()):
        await harness.gate().send(outbound(), ask(person))
    ((_, sent),) = harness.requests
    (form,) = person.forms
    assert form.body is not None
    assert sent.endswith(form.body.encode())
    for name, value in form.headers:
        written = value.replace("{{secrets.NEWS_KEY}}", VALUES["prefixed"])
        assert f"{name}: {written}\r\n".lower().encode() in sent.lower()
