"""`python -m tests.imports`: write the tables again, from what the functions import now."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from tests.imports import table
from tests.stack import start_stack


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, start_stack(Path(folder) / "data") as stack:
        for function in table.FUNCTIONS:
            table.write_table(function, asyncio.run(table.measure(stack, function)))
            print(f"written to {table.find_file(function)}")


if __name__ == "__main__":
    main()
