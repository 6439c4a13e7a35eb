"""`python -m bench.run NAME FILE`: append the rows of one bench to a file, each as JSON in a line as soon as it is known."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec

NO_BENCH = 3


def main() -> None:
    name, path = sys.argv[1:]
    module = import_module(f"bench.{name}") if find_spec(f"bench.{name}") else None
    if not hasattr(module, "rows"):
        sys.exit(NO_BENCH)
    with open(path, "a") as file:
        for row in module.rows():
            file.write(json.dumps(asdict(row)) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
