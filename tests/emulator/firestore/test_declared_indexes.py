"""The declared indexes: those that Ferryman's own queries need, none missing and none more."""

import ast
from pathlib import Path

import pytest

from ferryman.gcp.clients import GoogleClients
from ferryman.settings import Settings

from .conftest import Clock, serving
from .queries import QUERIES

ROOT = Path(__file__).parents[3]
INDEXES = ROOT / "infra/firestore.indexes.json"

QUERY_WORDS = {"stream", "where", "order_by", "collection_group", "count", "sum", "avg", "find_nearest", "read_all"}
HELPERS = {"filter_by", "read_page", "_read_slots", "_query_owned", "_query_ended"}


def querying() -> set[str]:
    """Return every method over Firestore that runs a query, as class and method."""
    methods = set()
    for path in sorted((ROOT / "lib/ferryman/gcp").glob("*.py")):
        for owner in (node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)):
            for method in (node for node in owner.body if isinstance(node, ast.AsyncFunctionDef)):
                attributes = {node.attr for node in ast.walk(method) if isinstance(node, ast.Attribute)}
                names = {node.id for node in ast.walk(method) if isinstance(node, ast.Name)}
                if attributes & (QUERY_WORDS | HELPERS) or names & HELPERS:
                    methods.add(f"{owner.name}.{method.name}")
    return methods


def test_every_query_of_the_library_is_run() -> None:
    assert querying() == set(QUERIES)


async def test_each_query_finds_its_index_and_each_index_has_its_query() -> None:
    async with serving(clock=Clock(), indexes=INDEXES) as served:
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("FIRESTORE_EMULATOR_HOST", served.address)
            clients = GoogleClients(Settings(project="p", firestore_host=served.address))
            clients.firestore()
        for runs in QUERIES.values():
            for run in runs:
                await run(clients)
        indexes = served.firestore.indexes
        await clients.firestore()._firestore_api.transport.close()
        assert indexes is not None
        assert indexes.used == indexes.declared
