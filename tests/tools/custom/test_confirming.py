"""Custom tools that a person is asked about: by the name and the arguments of the tool that acts, and once for an import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from ferryman.domain.approvals.form import EffectForm, HttpForm
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.tools.declared import Parameter
from ferryman.ports.errors import NotSentError

from .harness import HOST, CustomToolHarness, document, tool

ID = {"id": Parameter(schema={"type": "string"})}
DOCUMENT = f"https://{HOST}/openapi.json"


@dataclass
class Person:
    """A person who is asked about every call, and answers with `error`, or agrees."""

    error: Exception | None = None
    known: list[tuple[str, Mapping[str, Any], str]] = field(default_factory=list)
    questions: list[Any] = field(default_factory=list)

    def know_tool(self, name: str, arguments: Mapping[str, Any], fingerprint: str) -> None:
        self.known.append((name, arguments, fingerprint))

    def needs_form(self, *, host: str | None = None, method: str | None = None) -> bool:
        self.questions.append((host, method))
        return True

    async def confirm(self, form: HttpForm | EffectForm, *, host: str | None = None, method: str | None = None) -> None:
        self.questions.append(form)
        if self.error is not None:
            raise self.error


@pytest.mark.parametrize("is_inner", [False, True])
async def test_a_declared_tool_is_known_by_its_name_arguments_and_declaration(
    harness: CustomToolHarness, is_inner: bool
) -> None:
    look = tool(path="/items/{id}", parameters=ID)
    await harness.store(look)
    harness.confirm = person = Person()
    if is_inner:
        await harness.call("call_custom_tool", toolName="look", arguments={"id": "7"})
    else:
        await harness.call("look", id="7")
    assert person.known == [("look", {"id": "7"}, look.fingerprint)]


async def test_a_person_is_asked_once_for_all_documents_of_an_import(harness: CustomToolHarness) -> None:
    harness.documents[DOCUMENT] = (200, document())
    harness.confirm = person = Person()
    await harness.call("import_openapi_tools", url=DOCUMENT)
    assert person.questions == [(HOST, "GET"), EffectForm(arguments={"url": DOCUMENT}, target=DOCUMENT)]


async def test_nothing_is_deleted_before_a_person_agreed(harness: CustomToolHarness) -> None:
    await harness.store(tool(), cluster="shop")
    harness.confirm = Person(NotSentError("waiting"))
    with pytest.raises(NotSentError):
        await harness.call("delete_tool_cluster", cluster="shop")
    assert await harness.names() == ["look"]


async def test_a_denied_deletion_is_refused(harness: CustomToolHarness) -> None:
    await harness.store(tool(), cluster="shop")
    harness.confirm = Person(CallRefusedError(refusal.refuse_denied("keep it")))
    result = await harness.call("delete_tool_cluster", cluster="shop")
    assert (result.code, await harness.names()) == ("denied", ["look"])
