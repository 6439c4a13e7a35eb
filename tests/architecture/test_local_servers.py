"""MCP servers that are processes of this machine: only who embeds the library can start one, never a function."""

from __future__ import annotations

import grimp

LOCAL = ("ferryman.tools.stdio", "ferryman.composition.embedded_servers")


def test_nothing_of_a_deployment_imports_what_starts_processes() -> None:
    graph = grimp.build_graph("ferryman")
    importers = set()
    for root in LOCAL:
        for module in {root, *graph.find_descendants(root)}:
            importers |= graph.find_modules_that_directly_import(module)
    assert {importer for importer in importers if not importer.startswith(LOCAL)} == set()
