"""Commits: the calls that write, and those that open and end transactions."""

import secrets
import string
from typing import Any

from google.protobuf.empty_pb2 import Empty
from google.rpc.status_pb2 import Status

from .databases import Databases
from .errors import StatusError, invalid
from .fields import mask_of, project
from .paths import check_parent, check_segment, database_of
from .wire import Document, Write, WriteResult, message, stamp
from .writes import find_target

BeginTransactionResponse = message("BeginTransactionResponse")
CommitResponse = message("CommitResponse")
BatchWriteResponse = message("BatchWriteResponse")

LETTERS = string.ascii_letters + string.digits
ID_LENGTH = 20


class Commits:
    """BeginTransaction, Commit, Rollback, BatchWrite and the three calls that write one document."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases

    async def begin(self, request: Any) -> Any:
        transaction = await self._databases.find(request.database).transactions.begin(request.options)
        return BeginTransactionResponse(transaction=transaction.token)

    async def rollback(self, request: Any) -> Any:
        self._databases.find(request.database).transactions.rollback(request.transaction)
        return Empty()

    async def commit(self, request: Any) -> Any:
        transactions = self._databases.find(request.database).transactions
        at, results = await transactions.commit(request.transaction, request.writes)
        response = CommitResponse(write_results=results)
        stamp(response.commit_time, at)
        return response

    async def batch_write(self, request: Any) -> Any:
        """Apply each write by itself: one that fails does not stop the others."""
        transactions = self._databases.find(request.database).transactions
        names = [find_target(write) for write in request.writes]
        if len(set(names)) < len(names):
            raise invalid("A batch write cannot write the same document twice.")
        response = BatchWriteResponse()
        for write in request.writes:
            try:
                _, (result,) = await transactions.commit(b"", [write])
                status = Status()
            except StatusError as error:
                result, status = WriteResult(), Status(code=error.number, message=error.text)
            response.write_results.append(result)
            response.status.append(status)
        return response

    async def create(self, request: Any) -> Any:
        check_parent(database_of(request.parent), request.parent)
        check_segment(request.collection_id)
        last = request.document_id or "".join(secrets.choice(LETTERS) for _ in range(ID_LENGTH))
        write = Write(update=request.document, current_document={"exists": False})
        write.update.name = f"{request.parent}/{request.collection_id}/{last}"
        return project(await self._write(write), mask_of(request))

    async def update(self, request: Any) -> Any:
        write = Write(update=request.document)
        for field in ("update_mask", "current_document"):
            if request.HasField(field):
                getattr(write, field).CopyFrom(getattr(request, field))
        return project(await self._write(write), mask_of(request))

    async def delete(self, request: Any) -> Any:
        write = Write(delete=request.name)
        if request.HasField("current_document"):
            write.current_document.CopyFrom(request.current_document)
        await self._write(write)
        return Empty()

    async def _write(self, write: Write) -> Document:
        """Commit one write on its own; the document it leaves."""
        database = self._databases.find_for(find_target(write))
        await database.transactions.commit(b"", [write])
        # Nothing runs between the commit and this line, so what stands there is what was written.
        return database.history.current(find_target(write)) or Document()
