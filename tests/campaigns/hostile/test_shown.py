"""The judge of pages and of files: what the model was shown, the headers of downloads, and what is kept."""

from __future__ import annotations

from typing import Any

import pytest

from tests.campaigns.hostile.downloads import find_download_faults
from tests.campaigns.hostile.scenario import Act, Scenario
from tests.campaigns.hostile.scenario_run import ScenarioRun, prepare_run
from tests.campaigns.hostile.shown import find_unshown, find_whispers

SAFE = [
    ("content-type", "image/svg+xml"),
    ("content-disposition", "attachment; filename=\"a_b.svg\"; filename*=UTF-8''a%22b.svg"),
    ("x-content-type-options", "nosniff"),
    ("content-security-policy", "sandbox; default-src 'none'"),
    ("cache-control", "private, no-store"),
    ("etag", '"1"'),
]


def build_prompt(content: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": content}]}]}


@pytest.fixture
def run() -> ScenarioRun:
    return prepare_run(Scenario(name="a: scenario", expected=("{marker}",), room=10))


def test_hidden_words_that_were_read_are_seen(run: ScenarioRun) -> None:
    assert [*find_whispers(run, build_prompt(f"a {run.words['whisper'].upper()} b"))] != []
    assert [*find_whispers(run, build_prompt(run.words["marker"]))] == []


def test_what_was_to_be_read_and_was_not_is_seen(run: ScenarioRun) -> None:
    assert [*find_unshown(run, build_prompt("Error: blocked"))] != []
    assert [*find_unshown(run, build_prompt(f"a {run.words['marker']} b"))] == []


def test_a_download_that_no_browser_shows_is_nothing(run: ScenarioRun) -> None:
    run.downloads = [("/v1/files/a.svg", SAFE)]
    assert [*find_download_faults(run)] == []


@pytest.mark.parametrize("name", [name for name, _ in SAFE if name != "etag"])
def test_a_header_that_a_download_lacks_is_seen(run: ScenarioRun, name: str) -> None:
    run.downloads = [("/v1/files/a.svg", [pair for pair in SAFE if pair[0] != name])]
    assert len([*find_download_faults(run)]) == 1


@pytest.mark.parametrize(
    "header",
    [
        ("set-cookie", "a=b"),
        ("content-type", "text/html"),
        ("location", "/"),
        ("access-control-allow-origin", "*"),
    ],
)
def test_a_header_that_a_file_adds_is_seen(run: ScenarioRun, header: tuple[str, str]) -> None:
    run.downloads = [("/v1/files/a.svg", [*SAFE, header])]
    assert len([*find_download_faults(run)]) == 1


@pytest.mark.parametrize(
    "disposition",
    [
        "inline",
        'attachment; filename="a"; filename="b"; filename*=UTF-8\'\'a',
        'attachment; filename="a"; filename*=UTF-8\'\'a"b',
    ],
)
def test_a_name_that_leaves_its_place_is_seen(run: ScenarioRun, disposition: str) -> None:
    run.downloads = [("/v1/files/a.svg", [*SAFE[:1], ("content-disposition", disposition), *SAFE[2:]])]
    assert len([*find_download_faults(run)]) == 1


@pytest.mark.parametrize(("size", "used", "faults"), [(10, 100, 0), (11, 100, 1), (10, 101, 1)])
def test_files_beyond_their_room_are_seen(run: ScenarioRun, size: int, used: int, faults: int) -> None:
    run.files = {"files": [{"size_bytes": size}], "used_bytes": used, "limit_bytes": 100}
    assert len([*find_download_faults(run)]) == faults


def test_a_request_for_files_that_fails_is_seen(run: ScenarioRun) -> None:
    run.acts = [(Act(to="api", method="GET", path="/v1/files"), 500, b"")]
    assert len([*find_download_faults(run)]) == 1
