"""Serve the application on a port of 127.0.0.1 until the process ends."""

from __future__ import annotations

import argparse
from pathlib import Path

import uvicorn

from .serving import build_app


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where tasks are stored, for every instance")
    parser.add_argument("--key", required=True, help="with which every instance signs states and sessions")
    parser.add_argument(
        "--log", action="store_true", help="keep sessions of 2025 that may be ended, and streams that may be resumed"
    )
    known = parser.parse_args()
    uvicorn.run(
        build_app(known.folder, known.key.encode(), with_log=known.log), port=known.port, log_level="warning", access_log=False
    )


if __name__ == "__main__":
    main()
