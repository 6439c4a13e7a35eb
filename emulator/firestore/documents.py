"""Documents: the calls that read them by name and list them."""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from typing import Any

from .databases import Databases
from .errors import not_found, unimplemented
from .fields import mask_of, project
from .limits import PAGE_SIZE
from .paths import check_document, check_parent, name_key
from .query import Query
from .wire import StructuredQuery, message, stamp

BatchGetDocumentsResponse = message("BatchGetDocumentsResponse")
ListDocumentsResponse = message("ListDocumentsResponse")
ListCollectionIdsResponse = message("ListCollectionIdsResponse")


class DocumentReads:
    """GetDocument, BatchGetDocuments, ListDocuments, ListCollectionIds."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases

    async def get(self, request: Any) -> Any:
        database = self._databases.find_for(request.name)
        check_document(database.history.database, request.name)
        version = (await database.view(request)).get(request.name)
        if version is None or version.document is None:
            raise not_found(f'Document "{request.name}" not found.')
        return project(version.document, mask_of(request))

    async def batch_get(self, request: Any) -> AsyncGenerator[Any]:
        database = self._databases.find(request.database)
        for name in request.documents:
            check_document(request.database, name)
        view = await database.view(request)
        if view.opened:
            yield BatchGetDocumentsResponse(transaction=view.opened)
        mask = mask_of(request)
        versions = {name: view.get(name) for name in request.documents}
        # The order is promised to nobody, but production names the missing ones last and clients rest on it.
        for name, version in sorted(versions.items(), key=lambda pair: pair[1] is None):
            response = BatchGetDocumentsResponse()
            stamp(response.read_time, view.at)
            if version is None or version.document is None:
                response.missing = name
            else:
                response.found.CopyFrom(project(version.document, mask))
            yield response

    async def list(self, request: Any) -> Any:
        if request.order_by not in {"", "__name__", "__name__ asc"}:
            raise unimplemented("Documents are listed by name only; a query sorts by anything.")
        database = self._databases.find_for(request.parent)
        history = database.history
        structured = StructuredQuery(from_=[{"collection_id": request.collection_id}])
        query = Query(history, request.parent, structured)
        view = await database.view(request)
        documents = {version.name: version for version in view.run(query)}
        names = set(documents)
        if request.show_missing:
            names = names.union(*(history.missing(collection, view.at) for collection in query.collections()))
        page, token = paginate(names, request, name_key)
        response, mask = ListDocumentsResponse(next_page_token=token), mask_of(request)
        for name in page:
            version = documents.get(name)
            if version is None or version.document is None:
                response.documents.add(name=name)
            else:
                response.documents.append(project(version.document, mask))
        return response

    async def collection_ids(self, request: Any) -> Any:
        database = self._databases.find_for(request.parent)
        history = database.history
        check_parent(history.database, request.parent)
        view = await database.view(request)
        page, token = paginate(history.collection_ids(request.parent, view.at), request, name_key)
        return ListCollectionIdsResponse(collection_ids=page, next_page_token=token)


def paginate(names: Iterable[str], request: Any, order: Callable[[str], Any]) -> tuple[Sequence[str], str]:
    """Return a page of names in order and the token of the next one, which is the page's last name."""
    token = request.page_token
    rest = sorted((name for name in names if not token or order(name) > order(token)), key=order)
    page = rest[: request.page_size if request.page_size > 0 else PAGE_SIZE]
    return page, page[-1] if len(page) < len(rest) else ""
