"""A call of a tool of files: whose files they are, and the name of the write that it may make."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ferryman.domain.calls.refusal import INVALID_ARGUMENTS
from ferryman.domain.files.keys import clean_key
from ferryman.domain.files.object import Object, ObjectMissingError
from ferryman.domain.files.texts import encode_text
from ferryman.domain.files.writes import FileWrite, read_integrity
from ferryman.domain.labels.label import Integrity, join_integrity
from ferryman.domain.problem import InvalidInputError
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.tools.files.workspace_files import MakeContent, WorkspaceFiles
from ferryman.tools.local_function.execute import LocalFunctionError

Value = TypeVar("Value")


@dataclass(slots=True, kw_only=True)
class FileCall:
    """What a tool of files is given beside the model's arguments. Nothing of it comes from the model (S4-65).

    `write` names the write that the call may make, `is_done` tells that it was made and settled by an earlier delivery, and
    `done` is what it did: who asked settles its bytes. `is_open` tells that a write was begun and nobody knows its outcome.
    `integrity` is that of the arguments, and `read` that of all that the answer is made of beside them: untrusted for a list,
    since anybody who may write into the workspace may have named a file.
    """

    files: WorkspaceFiles
    workspace: str
    write: str
    is_done: bool = False
    done: FileWrite | None = None
    is_open: bool = False
    integrity: Integrity = Integrity.UNTRUSTED
    read: Integrity = Integrity.UNTRUSTED

    def label_content(self, stored: Object | None) -> Integrity:
        """Return the label of what the call makes of a file: the join of that of its arguments and of what is there."""
        return self.integrity if stored is None else join_integrity((self.integrity, read_integrity(stored)))

    async def change(self, key: str, make: MakeContent) -> FileWrite:
        """Store what `make` makes of the file `key`, once for each name of a write, and return what that did.

        Raise `LocalFunctionError` for a file that cannot be stored, and what `WorkspaceFiles.change` raises.

        The write stays open where something may have been stored: the bucket's answer was lost, or did not come in time.
        """
        self.is_open = True
        try:
            change = self.files.change(self.workspace, key, make, write=self.write, is_done=self.is_done)
            self.done = await explain(change, key)
        except (LocalFunctionError, RejectedError):
            self.is_open = False
            raise
        except UnavailableError as error:
            self.is_open = error.lost
            raise
        self.is_open = False
        return self.done


async def explain(awaited: Awaitable[Value], key: str = "") -> Value:
    """Return what is awaited; raise `LocalFunctionError`, with a sentence for the model, for a file that is not there."""
    try:
        return await awaited
    except ObjectMissingError:
        raise report_missing(key) from None
    except InvalidInputError as invalid:
        raise LocalFunctionError(str(invalid), code=INVALID_ARGUMENTS) from None


def report_missing(key: str) -> LocalFunctionError:
    """Return the error for a file that is not there (S4-60)."""
    return LocalFunctionError(f"no file at key {quote(key)} in this workspace", code="not_found")


def read_key(key: str) -> str:
    """Return the cleaned key; raise `LocalFunctionError` for one that names no file."""
    try:
        return clean_key(key)
    except InvalidInputError as invalid:
        raise LocalFunctionError(str(invalid), code=INVALID_ARGUMENTS) from None


def read_text(name: str, text: str) -> bytes:
    """Return an argument in UTF-8; raise `LocalFunctionError` for what is no text."""
    encoded = encode_text(text)
    if encoded is None:
        raise LocalFunctionError(f"{name}: must be Unicode text, without halves of surrogate pairs", code=INVALID_ARGUMENTS)
    return encoded


def refuse(name: str, rule: str) -> LocalFunctionError:
    """Return the error for an argument that breaks a rule."""
    return LocalFunctionError(f"{name}: {rule}", code=INVALID_ARGUMENTS)


def quote(text: str) -> str:
    """Return a text as JSON writes it."""
    return json.dumps(text, ensure_ascii=False)


def write_answer(answer: Mapping[str, Any]) -> str:
    """Return what a tool answers, as the model reads it."""
    return json.dumps(answer, ensure_ascii=False)
