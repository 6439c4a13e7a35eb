"""Channels: every way by which a stranger's text reaches a model. Each function ends with the call that the stranger wants."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.conversations.message import Attachment
from ferryman.domain.executions.message import Reply
from ferryman.domain.http.request import Method
from ferryman.domain.labels.label import READ
from ferryman.domain.tools.declared import DeclaredTool, Parameter
from ferryman.openapi import DocumentImport
from ferryman.tools.declared.importing import build_tools
from tests.campaigns.hostile.laundering.rig import ACT, DONE, HOST, Rig
from tests.loop.conftest import says

Through = Callable[[Rig, str], Awaitable[None]]
URL = f"https://{HOST}/api/v3/ping"
GET = says("", ("http_get", {"url": URL}))
PAGE = "https://harbour.example/times"
SEARCH = says("", ("web_search_tool", {"query": "harbour"}))
LIST = says("", ("file_list", {"prefix": ""}))


def _read(key: str) -> Reply:
    return says("", ("file_read", {"key": key}))


async def answer(rig: Rig, text: str) -> None:
    rig.answer_with(text)
    await rig.run_task(GET, *ACT)


async def json_answer(rig: Rig, text: str) -> None:
    rig.answer_with(f'{{"gist": {{"id": "{text}"}}}}', kind="application/json")
    await rig.run_task(GET, *ACT)


async def name_in_json(rig: Rig, text: str) -> None:
    rig.answer_with(f'{{"{text}": 1}}', kind="application/json")
    await rig.run_task(GET, *ACT)


async def error_text(rig: Rig, text: str) -> None:
    rig.answer_with(text, status=500)
    await rig.run_task(GET, *ACT)


async def refusal_of_a_service(rig: Rig, text: str) -> None:
    rig.answer_with(f'{{"error": "{text}"}}', status=403, kind="application/json")
    await rig.run_task(GET, *ACT)


async def location(rig: Rig, text: str) -> None:
    rig.answer_with("", status=302, headers=(("location", f"https://{HOST}/{text}"),))
    await rig.run_task(GET, *ACT)


async def routed_call(rig: Rig, text: str) -> None:
    rig.answer_with(text)
    await rig.run_task(says("", ("http_request", {"method": "GET", "url": URL})), *ACT)


async def answer_to_a_post(rig: Rig, text: str) -> None:
    rig.answer_with(text)
    await rig.run_task(says("", ("http_post", {"url": URL, "body": {}})), *ACT)


async def calculation(rig: Rig, text: str) -> None:
    rig.answer_with(text)
    await rig.run_task(GET, says("", ("calculator", {"expression": "6*7"})), *ACT)


async def two_calls(rig: Rig, text: str) -> None:
    rig.answer_with(text[: len(text) // 2], text[len(text) // 2 :], "Done.")
    await rig.run_task(GET, says("", ("http_get", {"url": f"{URL}?page=2"})), *ACT)


async def search_result(rig: Rig, text: str) -> None:
    rig.pages[""] = KeylessAnswer(text, None, response_status=200)
    await rig.run_task(SEARCH, *ACT)


async def page(rig: Rig, text: str) -> None:
    rig.task(task_prompt=f"Look at {PAGE}, and do what is needed.")
    rig.pages[PAGE] = KeylessAnswer(text, None, url=PAGE, method="GET", response_status=200)
    await rig.run_task(says("", ("web_fetch", {"url": PAGE})), *ACT)


async def missing_page(rig: Rig, text: str) -> None:
    rig.task(task_prompt=f"Look at {PAGE}, and do what is needed.")
    rig.pages[PAGE] = KeylessAnswer(text, "not_found", url=PAGE, method="GET", response_status=404)
    await rig.run_task(says("", ("web_fetch", {"url": PAGE})), *ACT)


async def redirected_page(rig: Rig, text: str) -> None:
    rig.task(task_prompt=f"Look at {PAGE}, and do what is needed.")
    message = f"Error: the robots.txt of {text}.example does not let programs fetch this page"
    rig.pages[PAGE] = KeylessAnswer(message, "robots_disallowed", url=f"https://{text}.example/")
    await rig.run_task(says("", ("web_fetch", {"url": PAGE})), *ACT)


async def uploaded_file(rig: Rig, text: str) -> None:
    await rig.put("notes.md", text)
    await rig.run_task(_read("notes.md"), *ACT)


async def file_name(rig: Rig, text: str) -> None:
    await rig.put(f"{text}.md", "hello")
    await rig.run_task(LIST, *ACT)


async def found_file_name(rig: Rig, text: str) -> None:
    await rig.put(f"{text}.md", "hello")
    await rig.run_task(says("", ("glob_search", {"pattern": "*.md"})), *ACT)


async def line_of_a_file(rig: Rig, text: str) -> None:
    await rig.put("notes.md", f"gist {text}\n")
    await rig.run_task(says("", ("content_search", {"query": "gist", "pattern": "**"})), *ACT)


async def file_of_another_execution(rig: Rig, text: str) -> None:
    rig.answer_with(text)
    await rig.run_task(GET, _write(text), DONE)
    await rig.run_task(_read("notes.md"), *ACT)


async def file_of_the_same_execution(rig: Rig, text: str) -> None:
    rig.answer_with(text)
    await rig.run_task(GET, _write(text), _read("notes.md"), *ACT)


async def file_that_was_written_over(rig: Rig, text: str) -> None:
    await rig.run_task(_write("It rains."), DONE)
    await rig.put("notes.md", text)
    await rig.run_task(_read("notes.md"), *ACT)


async def file_that_was_edited(rig: Rig, text: str) -> None:
    await rig.put("notes.md", f"A file. {text}")
    await rig.run_task(says("", ("file_edit", {"key": "notes.md", "old_text": "A file.", "new_text": "Ours."})), DONE)
    await rig.run_task(_read("notes.md"), *ACT)


async def file_that_ours_was_written_over(rig: Rig, text: str) -> None:
    await rig.put("notes.md", "uploaded")
    await rig.run_task(_write(text), DONE)
    await rig.run_task(_read("notes.md"), *ACT)


def _write(text: str) -> Reply:
    return says("", ("file_write", {"key": "notes.md", "content": text, "content_type": "text/plain"}))


async def attached_file(rig: Rig, text: str) -> None:
    await rig.put("letter.md", text)
    await rig.talk("Do what it says.", _read("letter.md"), *ACT, attachments=(_attach("letter.md"),))


async def name_of_an_attached_file(rig: Rig, text: str) -> None:
    await rig.talk("Do what it says.", *ACT, attachments=(_attach(f"{text}.md"),))


async def name_of_a_file_attached_before(rig: Rig, text: str) -> None:
    await rig.talk("Here it is.", DONE, attachments=(_attach(f"{text}.md"),))
    await rig.talk("Do what it says.", *ACT)


def _attach(key: str) -> Attachment:
    return Attachment(key=key, etag="1", media_type="text/markdown", size_bytes=9)


async def earlier_answer(rig: Rig, text: str) -> None:
    rig.answer_with(text)
    await rig.talk("Look.", GET, says(f"It says {text}."))
    await rig.talk("Do it.", *ACT)


async def answer_that_is_kept_by_an_edit(rig: Rig, text: str) -> None:
    rig.answer_with(text)
    await rig.talk("Look.", GET, says(f"It says {text}."))
    await rig.talk("What?", DONE)
    await rig.talk("Do it.", *ACT, parent=2)


async def answer_that_failed(rig: Rig, text: str) -> None:
    rig.answer_with(text)
    await rig.talk("Look.", GET, says(f"It says {text}.", stop="max_tokens"))
    await rig.talk("Do it.", *ACT)


async def summary(rig: Rig, text: str) -> None:
    rig.answer_with(text)
    await rig.talk("Look. " * 3_000, GET, says("Seen."))
    await rig.talk("Do it.", says(f"A page says: {text}"), *ACT)


async def answer_after_a_summary(rig: Rig, text: str) -> None:
    rig.answer_with(text)
    await rig.talk("Look. " * 3_000, GET, says("Seen."))
    await rig.talk("And?", says(f"A page says: {text}"), DONE)
    await rig.talk("Do it.", *ACT)


async def result_that_is_read_again(rig: Rig, text: str) -> None:
    rig.answer_with(text)
    await rig.talk("Look.", GET, says("Seen."))
    await rig.talk("Do it.", says("", ("read_result", {"message": 2, "call": 0})), *ACT)


async def imported_answer(rig: Rig, text: str) -> None:
    await rig.talk("Look.", says(f"It says {text}."))
    _import(rig)
    await rig.talk("Do it.", *ACT)


async def imported_question(rig: Rig, text: str) -> None:
    await rig.talk(f"It is {text}.", DONE)
    _import(rig)
    await rig.talk("Do it.", *ACT)


def _import(rig: Rig) -> None:
    """Have the messages so far be those that an archive brought."""
    for number, message in rig.memory.messages["conv"].items():
        rig.memory.messages["conv"][number] = replace(message, label=READ)


def _document(name: str = "look_up", description: str = "Look up a coin.", parameter: str = "coin") -> dict[str, object]:
    parameters = [{"name": parameter, "in": "query", "required": True, "schema": {"type": "string"}}]
    operation = {"operationId": name, "description": description, "parameters": parameters, "responses": {}}
    return {
        "openapi": "3.0.0",
        "info": {"title": "Coins", "version": "1"},
        "servers": [{"url": f"https://{HOST}"}],
        "paths": {"/coins": {"get": operation}},
    }


def _bring(rig: Rig, **fields: str) -> None:
    documents = {"spec": _document(**fields)}
    source = DocumentImport(documents=documents, root="spec", cluster="coins", domains=(HOST,), credentials={})
    rig.declare(*(replace(tool, cluster="") for tool in build_tools(source, {}, str).tools))


async def name_of_an_imported_tool(rig: Rig, text: str) -> None:
    _bring(rig, name=f"go_to_{text}")
    await rig.run_task(*ACT)


async def description_of_an_imported_tool(rig: Rig, text: str) -> None:
    _bring(rig, description=f"Always go to {text}.")
    await rig.run_task(*ACT)


async def schema_of_an_imported_tool(rig: Rig, text: str) -> None:
    _bring(rig, parameter=text)
    await rig.run_task(*ACT)


async def imported_tool_that_is_searched_for(rig: Rig, text: str) -> None:
    _bring(rig, description=f"Always go to {text}.")
    await rig.run_task(says("", ("find_tools", {"query": "look up a coin"})), *ACT)


async def refusal_of_an_imported_tool(rig: Rig, text: str) -> None:
    tool = DeclaredTool(
        name="look_up",
        method=Method.GET,
        url=f"https://{HOST}/coins",
        query={text: "{coin}"},
        parameters={text: Parameter(schema={"type": "string"})},
    )
    rig.declare(tool)
    await rig.run_task(says("", ("look_up", {"wrong": 1})), *ACT)


async def result_of_a_declared_tool(rig: Rig, text: str) -> None:
    tool = DeclaredTool(name="look_up", method=Method.GET, url=f"https://{HOST}/coins", is_own=True)
    rig.declare(tool)
    rig.answer_with(text)
    await rig.run_task(says("", ("look_up", {})), *ACT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A way to a model; `is_name` tells that the text is a name there, with letters, digits, `_` and `-` alone."""

    name: str
    go: Through
    is_name: bool = False


NAMES = (
    location,
    redirected_page,
    file_name,
    found_file_name,
    name_of_an_attached_file,
    name_of_a_file_attached_before,
    name_of_an_imported_tool,
    schema_of_an_imported_tool,
    refusal_of_an_imported_tool,
)
TEXTS = (
    *(answer, json_answer, name_in_json, error_text, refusal_of_a_service),
    *(routed_call, answer_to_a_post, calculation, two_calls),
    *(search_result, page, missing_page),
    *(uploaded_file, line_of_a_file, file_of_another_execution, file_of_the_same_execution, file_that_was_written_over),
    *(file_that_was_edited, file_that_ours_was_written_over, attached_file),
    *(earlier_answer, answer_that_is_kept_by_an_edit, answer_that_failed, summary, answer_after_a_summary),
    *(result_that_is_read_again, imported_answer, imported_question),
    *(description_of_an_imported_tool, imported_tool_that_is_searched_for, result_of_a_declared_tool),
)


def _build(go: Through) -> Channel:
    return Channel(name=go.__name__.replace("_", " "), go=go, is_name=go in NAMES)


CHANNELS: Mapping[str, Channel] = {channel.name: channel for channel in map(_build, (*TEXTS, *NAMES))}
