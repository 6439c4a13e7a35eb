"""Differences: what production does otherwise is written down, and each line names a test that exists."""

import ast
import re
from pathlib import Path

import grpc
import pytest
from google.api_core import exceptions
from google.cloud.firestore import AsyncClient
from google.cloud.firestore_v1.services.firestore import FirestoreAsyncClient
from google.cloud.firestore_v1.types import Document

from .conftest import Served

ROOT = Path(__file__).parents[3]
ROWS = [
    line
    for line in (ROOT / "docs/local-cloud-differences.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| production |")
]
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
PARENT = "projects/p/databases/(default)/documents"


@pytest.mark.parametrize("row", ROWS)
def test_every_difference_names_the_tests_that_show_it(row: str) -> None:
    named = NAMED.findall(row)
    assert named
    for file, test in named:
        tree = ast.parse((ROOT / "tests/emulator" / file).read_text())
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


async def test_nobody_is_asked_for_credentials(stub: FirestoreAsyncClient) -> None:
    created = await stub.create_document({"parent": PARENT, "collection_id": "c", "document": Document()}, metadata=[])
    assert created.name


async def test_there_is_no_admin_api(served: Served) -> None:
    async with grpc.aio.insecure_channel(served.address) as channel:
        call = channel.unary_unary("/google.firestore.admin.v1.FirestoreAdmin/ListIndexes")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(b"")
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_query_is_not_explained(stub: FirestoreAsyncClient) -> None:
    request = {"parent": PARENT, "structured_query": {"from_": [{"collection_id": "c"}]}, "explain_options": {"analyze": True}}
    with pytest.raises(exceptions.MethodNotImplemented):
        async for _ in await stub.run_query(request):
            pass


async def test_documents_are_listed_by_name_alone(stub: FirestoreAsyncClient) -> None:
    with pytest.raises(exceptions.MethodNotImplemented):
        await stub.list_documents({"parent": PARENT, "collection_id": "c", "order_by": "n desc"})


async def test_a_document_of_more_than_forty_thousand_index_entries_is_stored(client: AsyncClient) -> None:
    await client.document("c/d").set({"a": list(range(40_001))})
    assert len((await client.document("c/d").get()).get("a")) == 40_001
