"""A table of two small functions, a folder with their sources, and the cloud that runs them."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from emulator.cloud import CloudPlan, EmulatedCloud

ECHO = """
import os
import functions_framework.aio as ff

@ff.http
async def main(request):
    return {"env": dict(os.environ), "pid": os.getpid(), "parent": os.getppid(), "body": (await request.body()).decode()}
"""
SEEN = """
import os, pathlib
import functions_framework.aio as ff

@ff.cloud_event
async def main(event):
    with open(os.environ["SEEN"], "a") as file:
        file.write(event["type"] + " " + event["document"] + "\\n")
"""
ROWS = [
    {"name": "echo", "trigger": {"type": "http"}, "callers": ["anyone"], "identity": "an-echo", "timeout_s": 77},
    {"name": "broken", "trigger": {"type": "http"}, "callers": ["anyone"], "identity": "a-wreck", "timeout_s": 60},
    {
        "name": "seen",
        "trigger": {
            "type": "firestore",
            "event": "google.cloud.firestore.document.v1.created",
            "document": "executions/{execution}",
        },
        "callers": ["a-trigger"],
        "identity": "a-witness",
        "timeout_s": 60,
    },
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "functions.json"
    path.write_text(json.dumps({"environment": ["GIVEN", "KEPT", "SEEN"], "functions": ROWS}))
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for name, text in (("echo", ECHO), ("broken", "raise RuntimeError('no such luck')"), ("seen", SEEN)):
        (tmp_path / "source" / name).mkdir(parents=True)
        (tmp_path / "source" / name / "main.py").write_text(text)
    return tmp_path / "source"


@pytest.fixture
def plan(table: Path, source: Path, tmp_path: Path) -> CloudPlan:
    return CloudPlan(folder=tmp_path / "data", durable=True, project="a-project", table=table, source=source)


@pytest.fixture
async def cloud(plan: CloudPlan) -> AsyncIterator[EmulatedCloud]:
    async with EmulatedCloud(plan) as running:
        yield running
