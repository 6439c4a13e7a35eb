"""Pieces of an import: one file of an archive in a request, read in a worker, of which nothing is believed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import ValidationError

from ferryman.declared import check
from ferryman.declared.fields import raise_problems
from ferryman.domain.approvals.archived_rules import distrust_rules, find_distrusted
from ferryman.domain.archives.file_lines import FILES
from ferryman.domain.archives.files import KINDS, ArchiveFile, check_names, measure_file
from ferryman.domain.archives.lines import ArchiveError, read_lines
from ferryman.domain.problem import InvalidInputError, Problem, build_input_error
from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.workspaces.agent import Agent
from ferryman.offload import PackedSequence
from ferryman.serving.api.shapes.fault import describe_first_fault
from ferryman.serving.api.shapes.imports import ImportFile
from ferryman.serving.api.shapes.rule import build_rules
from ferryman.serving.archived_people import read_people_line
from ferryman.serving.importing.conversations import CONVERSATIONS, MESSAGES, ReadConversations, read_conversations
from ferryman.serving.importing.definitions import (
    ReadTask,
    WorkspaceLine,
    read_agent,
    read_server,
    read_shape,
    read_task,
    read_tool,
)
from ferryman.serving.importing.files import ReadFiles, read_files
from ferryman.serving.importing.history import ReadHistory, read_history
from ferryman.serving.importing.target import ArchiveTarget
from ferryman.tools.declared.importing import neutralize_tool

IMPORTED_LINE_BYTES_MAX = 1_000_000
"""Of one line in UTF-8: what is stored of it is one document, of a mebibyte at most."""

TOLD_AGAIN = ("workspace", "agents", "tasks")
"""The kinds of files of which it is told again what a person has to enter or to decide here."""

Neutralize = Callable[[str], str]
Lines = list[tuple[str, dict[str, Any]]]


@dataclass(slots=True)
class Piece:
    """What a file tells. `count` is the number of things in it, `sizes` are the bytes of its lines in UTF-8; each kind of file
    fills its own field. `rules` are those that are imported as others: of what kind, its id there, its name, and the number of
    the rule."""

    file: ArchiveFile
    count: int = 0
    sizes: list[int] = field(default_factory=list)
    settings: dict[str, Any] | None = None
    rules: list[tuple[str, str, str, int]] = field(default_factory=list)
    agents: list[tuple[str, Agent, bool]] = field(default_factory=list)
    servers: list[tuple[str, RemoteServer]] = field(default_factory=list)
    tasks: list[tuple[str, ReadTask]] = field(default_factory=list)
    tools: dict[str, tuple[str, PackedSequence[DeclaredTool]]] = field(default_factory=dict)
    history: ReadHistory = field(default_factory=ReadHistory)
    files: ReadFiles = field(default_factory=ReadFiles)
    conversations: ReadConversations = field(default_factory=ReadConversations)


def read_piece(body: bytes, target: ArchiveTarget, number: int, neutralize: Neutralize) -> Piece:
    """Return what a request tells; a function of a module, for workers. Raise `InvalidInputError` with file, line and field."""
    try:
        request = ImportFile.model_validate(json.loads(body))
    except ValidationError as error:
        raise build_input_error("body", describe_first_fault(error)) from None
    except (ValueError, RecursionError):
        raise build_input_error("body", "is no JSON") from None
    try:
        data = request.content.encode("ascii")
    except UnicodeEncodeError:
        raise build_input_error("content", f"{request.name}: has a character that is not ASCII") from None
    try:
        file = measure_file(request.name, data)
        _check_place(file, target, number)
        if file.sha256 != request.sha256:
            raise ArchiveError(file.name, "does not have the SHA-256 that is told")
        piece = Piece(file)
        if target.run.awaits(number) or file.kind in TOLD_AGAIN:
            lines = list(read_lines(file.name, data))
            # a part of a file is stored in the bucket, and no document
            piece.sizes = [] if file.kind == FILES else _measure(lines)
            READERS.get(file.kind, _count)(piece, lines, target, neutralize)
        return piece
    except ArchiveError as error:
        raise build_input_error("content", str(error)) from None


def _check_place(file: ArchiveFile, target: ArchiveTarget, number: int) -> None:
    """Raise `ArchiveError` where a file of this name is none, or cannot follow the last one.

    What is sent again is compared with the last one as a whole.
    """
    if number != target.run.following:
        return
    for _ in check_names(iter([file.name]), before=target.run.name):
        pass
    if number == 0 and file.kind != KINDS[0]:
        raise ArchiveError(file.name, "is not where it must be: an archive begins with the workspace's file")


def _measure(lines: Lines) -> list[int]:
    """Return the bytes of each line in UTF-8. Raise `ArchiveError` for one that is too long to be stored."""
    sizes = []
    for place, line in lines:
        size = len(json.dumps(line, ensure_ascii=False).encode())
        if size > IMPORTED_LINE_BYTES_MAX:
            raise ArchiveError(place, f"has {size} bytes in UTF-8, and at most {IMPORTED_LINE_BYTES_MAX} may be imported")
        sizes.append(size)
    return sizes


def _count(piece: Piece, lines: Lines, _: ArchiveTarget, __: Neutralize) -> None:
    """Count lines of a kind that stays in the archive: nothing in it gives anybody a right."""
    for place, line in lines:
        read_people_line(place, piece.file.kind, line)
    piece.count = len(lines)


def _read_conversations(piece: Piece, lines: Lines, target: ArchiveTarget, _: Neutralize) -> None:
    piece.conversations = read_conversations(piece.file.kind, lines, target)
    piece.count = len(lines)


def _note_rules(piece: Piece, kind: str, line: Mapping[str, Any]) -> None:
    piece.rules += [(kind, line["id"], line["name"], number) for number in find_distrusted(line)]


def _read_workspace(piece: Piece, lines: Lines, target: ArchiveTarget, _: Neutralize) -> None:
    ((place, line), *others) = lines
    shape = read_shape(place, WorkspaceLine, line)
    if others or shape.id != target.run.source:
        raise ArchiveError(place, "id: is not the workspace that the manifest names, or there is another line")
    settings = shape.model_dump(exclude={"id", "created_at", "updated_at"})
    piece.settings, piece.count = {**settings, "approvals": distrust_rules(build_rules(settings["approvals"]))}, 1
    _note_rules(piece, "workspace", line)


def _read_agents(piece: Piece, lines: Lines, target: ArchiveTarget, _: Neutralize) -> None:
    for place, line in lines:
        shape, agent = read_agent(place, line, until=target.began_at)
        piece.agents.append((place, agent, shape.is_default))
        piece.servers.extend((place, read_server(server, agent)) for server in shape.mcp_servers)
        _note_rules(piece, "agent", line)
    piece.count = len(lines)


def _read_tasks(piece: Piece, lines: Lines, target: ArchiveTarget, _: Neutralize) -> None:
    for place, line in lines:
        piece.tasks.append((place, read_task(place, line, until=target.began_at)))
        _note_rules(piece, "task", line)
    piece.count = len(lines)


def _read_tools(piece: Piece, lines: Lines, _: ArchiveTarget, neutralize: Neutralize) -> None:
    tools: dict[str, tuple[str, list[DeclaredTool]]] = {}
    for place, line in lines:
        task, tool = read_tool(place, line)
        try:
            raise_problems(check.find_problems(tool, where="tool") if tool.enabled else _find_disabled_problems(tool))
        except InvalidInputError as invalid:
            raise ArchiveError(place, str(invalid)[:500]) from None
        tools.setdefault(task, (place, []))[1].append(neutralize_tool(tool, neutralize) if tool.cluster else tool)
    piece.tools = {task: (place, PackedSequence(declared)) for task, (place, declared) in tools.items()}
    piece.count = len(lines)


def _read_executions(piece: Piece, lines: Lines, target: ArchiveTarget, _: Neutralize) -> None:
    piece.history = read_history(lines, piece.sizes, target)
    piece.count = piece.history.begun


def _read_files(piece: Piece, lines: Lines, target: ArchiveTarget, _: Neutralize) -> None:
    piece.files = read_files(lines, target.run.file)
    piece.count = piece.files.count


def _find_disabled_problems(tool: DeclaredTool) -> list[Problem]:
    """Return the problems of a tool that is not offered: where its document was imported, that said why it cannot be."""
    return [*check.find_text_problems(tool, "tool"), *check.find_size_problems(asdict(tool), "tool")]


READERS: Mapping[str, Callable[[Piece, Lines, ArchiveTarget, Neutralize], None]] = {
    "workspace": _read_workspace,
    "agents": _read_agents,
    "tasks": _read_tasks,
    "tools": _read_tools,
    "files": _read_files,
    CONVERSATIONS: _read_conversations,
    MESSAGES: _read_conversations,
    "executions": _read_executions,
}
"""What reads the files of each kind that is imported."""
