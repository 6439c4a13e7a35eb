"""Queries over the wire: the calls that run, count and divide them."""

from collections.abc import AsyncGenerator
from typing import Any

from . import aggregate
from .databases import Databases
from .errors import unimplemented
from .fields import project
from .nearest import find_nearest
from .query import Query
from .wire import Document, message, stamp

RunQueryResponse = message("RunQueryResponse")
RunAggregationQueryResponse = message("RunAggregationQueryResponse")
PartitionQueryResponse = message("PartitionQueryResponse")


class Queries:
    """RunQuery, RunAggregationQuery, PartitionQuery."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases

    async def run(self, request: Any) -> AsyncGenerator[Any]:
        refuse_explaining(request)
        database, structured = self._databases.find_for(request.parent), request.structured_query
        query = database.query(request.parent, structured)
        view = await database.view(request)
        if view.opened:
            yield RunQueryResponse(transaction=view.opened)
        versions = view.run(query)
        documents: list[Document | None]
        if structured.HasField("find_nearest"):
            documents = [*find_nearest(structured.find_nearest, versions)]
        else:
            documents = [version.document for version in versions]
        mask = [field.field_path for field in structured.select.fields] if structured.HasField("select") else None
        for document in documents:
            assert document is not None
            response = RunQueryResponse(document=project(document, mask))
            stamp(response.read_time, view.at)
            yield response
        last = RunQueryResponse(skipped_results=0 if documents else query.offset)
        stamp(last.read_time, view.at)
        yield last

    async def aggregate(self, request: Any) -> AsyncGenerator[Any]:
        refuse_explaining(request)
        database, structured = self._databases.find_for(request.parent), request.structured_aggregation_query
        aggregations = structured.aggregations
        aggregate.check(aggregations)
        needs = [path for path in map(aggregate.find_field, aggregations) if path is not None]
        query = database.query(request.parent, structured.structured_query, needs=needs)
        view = await database.view(request)
        response = RunAggregationQueryResponse(transaction=view.opened)
        stamp(response.read_time, view.at)
        for alias, value in aggregate.aggregate(aggregations, view.run(query)).items():
            response.result.aggregate_fields[alias].CopyFrom(value)
        yield response

    async def partition(self, request: Any) -> Any:
        """Return cursors that cut the query's result into parts of about the same size, at least two documents each."""
        database = self._databases.find_for(request.parent)
        query = Query(database.history, request.parent, request.structured_query)
        versions = (await database.view(request)).run(query)
        response = PartitionQueryResponse()
        cuts = max(0, min(request.partition_count, len(versions) // 2))
        for number in range(1, cuts + 1):
            name = versions[number * len(versions) // (cuts + 1)].name
            response.partitions.add(values=[{"reference_value": name}])
        return response


def refuse_explaining(request: Any) -> None:
    if request.HasField("explain_options"):
        raise unimplemented("Queries are not explained here.")
