"""The import rule of libraries: one table says which packages of ours may import which library."""

from __future__ import annotations

import sys
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class TableField(fields.Field[dict[str, list[str]]]):
    """A table {library: packages}."""

    def parse(self, raw_data: Any) -> dict[str, list[str]]:
        if not isinstance(raw_data, dict):
            raise fields.ValidationError("must be a table of libraries")
        return raw_data


class LibrariesContract(Contract):
    """Hold every import of a library by `root` against `table`; a library that is not in the table may be imported nowhere.

    Packages are named as in the table's values, without `root`. A row that no import needs is a violation, too.
    """

    root = fields.StringField()
    table = TableField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        root, table = str(self.root), dict(self.table)
        imports: dict[tuple[str, str], list[str]] = {}
        for importer in graph.find_descendants(root):
            for imported in graph.find_modules_directly_imported_by(importer):
                library = imported.partition(".")[0]
                if library not in sys.stdlib_module_names | {root, "__future__"}:
                    package = importer.split(".")[1]
                    imports.setdefault((library, package), []).append(importer)
        listed = {(library, package) for library, packages in table.items() for package in packages}
        wrong = [
            f"{module} imports {library}"
            for library, package in imports.keys() - listed
            for module in imports[library, package]
        ]
        unused = [f"{package} does not import {library}, as the table says" for library, package in listed - imports.keys()]
        return ContractCheck(kept=not wrong and not unused, metadata={"violations": sorted([*wrong, *unused])})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for line in check.metadata["violations"]:
            output.print_error(line)
