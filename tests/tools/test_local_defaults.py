"""The defaults and limits of the local tools are those of one table (S4-118, S4-119)."""

from __future__ import annotations

from ferryman.catalog.tools import TOOLS
from ferryman.domain.files.texts import TEXT_CHARACTERS_MAX
from ferryman.domain.search import RESULTS_MAX
from ferryman.pages.reading import EXCERPT_CHARACTERS_MAX
from ferryman.settings import Settings
from ferryman.tools.web.arguments import SECONDS_DEFAULT, SECONDS_MAX


def test_the_defaults_and_limits_of_the_local_tools_are_those_of_the_table() -> None:
    fetch, search = TOOLS["web_fetch"], TOOLS["web_search_tool"]
    properties = fetch.schema["properties"]
    assert (properties["timeout_seconds"]["default"], SECONDS_DEFAULT, SECONDS_MAX) == (10, 10, 60)
    assert (properties["max_bytes"]["default"], EXCERPT_CHARACTERS_MAX, TEXT_CHARACTERS_MAX) == (200 * 1024, 30_000, 30_000)
    assert (search.schema["properties"]["max_results"]["default"], RESULTS_MAX) == (5, 15)
    assert (search.policy.timeout_s, search.policy.response_bytes_max) == (10, 4 * 1024 * 1024)
    assert Settings().searxng_endpoint == "http://searxng.backend.svc.cluster.local:8080"
