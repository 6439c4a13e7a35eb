"""An API on doubles, what is typed beside it, and an OpenAPI document to import."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from ferryman.cli import main
from ferryman.inmemory.clock import ManualClock
from ferryman.serving import api
from tests.serve import serve_app
from tests.serving.conftest import TASK, Stage

HOST = "api.github.com"
STORE = """\
openapi: 3.0.3
info: {title: Store, version: "1"}
servers: [{url: https://api.github.com/store}]
paths:
  /pets:
    get: {operationId: listPets, summary: List all pets}
    post: {operationId: createPet, summary: Create a pet, requestBody: {content: {text/csv: {}}}}
  /pets/{petId}:
    get:
      operationId: getPet
      summary: Get pet by ID
      parameters: [{name: petId, in: path, required: true, schema: {$ref: "parts/pet.yaml#/Id"}}]
  /elsewhere:
    get: {operationId: far, summary: Far away, servers: [{url: https://evil.example}]}
"""
ENTRY = {"kind": "http", "name": "status", "url": f"https://{HOST}/status", "headers": {"X-A": "{{secrets.GITHUB_KEY}}"}}

Typed = Callable[..., Result]


@pytest.fixture(scope="session")
def clock() -> ManualClock:
    """The API's clock."""
    return ManualClock()


@pytest.fixture(scope="session")
def stage(clock: ManualClock) -> Stage:
    """The doubles of the API."""
    return Stage(clock=clock)


@pytest.fixture(scope="session")
def service(stage: Stage) -> Iterator[dict[str, str]]:
    """The variables that name an API on doubles."""
    key = stage.owner("ann")["Authorization"].removeprefix("Bearer ")
    with serve_app(api.create(stage.deps())) as url:
        yield {"FERRYMAN_URL": url, "FERRYMAN_KEY": key}


@pytest.fixture
def typed(service: dict[str, str], clock: ManualClock) -> Typed:
    def typed(*words: str, stdin: str | None = None, **variables: str) -> Result:
        clock.turn(60)  # what is typed comes a minute after the last, and so within every rate
        return CliRunner().invoke(main, words, input=stdin, env={**service, "COLUMNS": "160", **variables})

    return typed


@pytest.fixture(scope="session")
def http_client(service: dict[str, str]) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {service['FERRYMAN_KEY']}"}
    # the first request starts workers, which takes long on a busy machine
    with httpx.Client(base_url=service["FERRYMAN_URL"], headers=headers, timeout=60) as client:
        yield client


@pytest.fixture
def task(http_client: httpx.Client) -> str:
    """A new task's id."""
    return str(http_client.post("/v1/tasks", json=TASK).json()["task_id"])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "pet.yaml").write_text("Id: {type: integer, minimum: 1}\n")
    (folder / "store.yaml").write_text(STORE)
    return folder / "store.yaml"
